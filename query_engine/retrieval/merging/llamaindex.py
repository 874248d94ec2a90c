"""Passages as LlamaIndex's nodes, for its users.

Flow: `retriever.py` -> **here**. Nothing else in Treeline reads these nodes.
"""

from dataclasses import fields

from llama_index.core.schema import NodeWithScore, TextNode

from index.llamaindex import relationships_of, source_of
from query_engine.retrieval.merging.group import Group

# What a language model is shown of a passage in addition to its text.
SHOWN_TO_MODELS = ("title", "url")


def to_node(group: Group) -> NodeWithScore:
    """Return a passage as a node; its metadata is hidden from models but for title and address."""
    passage = group.passage()
    own = ("node_id", "text", "start", "end", "score", "metadata")
    metadata = passage.metadata | {
        item.name: getattr(passage, item.name)
        for item in fields(passage)
        if item.name not in own and (item.name != "corpus" or passage.corpus)
    }
    node = TextNode(
        id_=passage.node_id,
        text=passage.text,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        metadata=metadata,
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[name for name in metadata if name not in SHOWN_TO_MODELS or not metadata[name]],
        relationships=relationships_of(group.document, group.node) if group.whole else source_of(group.document),
    )
    return NodeWithScore(node=node, score=passage.score)
