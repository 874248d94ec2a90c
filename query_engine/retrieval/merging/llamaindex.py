"""Passages in LlamaIndex's forms: as nodes for its users, and merged by its own `AutoMergingRetriever` code.

Flow: `retriever.py` -> **here**. Nothing else in Treeline reads these nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from index.documents.docstore import make_node, relationships_of, source_of
from index.documents.span_tree import node_id, split_node_id
from query_engine.retrieval.merging.group import Group

# What a language model is shown of a passage in addition to its text.
SHOWN_TO_MODELS = ("title", "url")


@dataclass
class FoundLeaves(QueryBundle):
    """A question, and the leaves that were found for it: what the inherited merging begins with."""

    leaves: list[NodeWithScore] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, question: str, leaves: Sequence[Group]) -> "FoundLeaves":
        """Return leaves as nodes."""
        nodes = [NodeWithScore(node=make_node(leaf.document, leaf.node), score=leaf.score) for leaf in leaves]
        return cls(question, leaves=nodes)


class LeafSource(BaseRetriever):
    """Hands the inherited code the leaves of its `FoundLeaves`; the search is over by then."""

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        assert isinstance(query_bundle, FoundLeaves)
        return query_bundle.leaves


def groups_of(merged: Sequence[NodeWithScore], leaves: Sequence[Group]) -> list[Group]:
    """Return what the inherited code made of leaves, each with the leaves that are in it, in the same order."""
    inside: dict[str, list[Group]] = {}
    for leaf in leaves:
        for position in (leaf.node, *leaf.document.tree.ancestors(leaf.node)):
            inside.setdefault(node_id(leaf.document.version, position), []).append(leaf)
    groups = []
    for found in merged:
        own = inside[found.node_id]
        document, position = own[0].document, split_node_id(found.node_id)[1]
        span = document.tree[position]
        hits, ranks = [leaf.hits[0] for leaf in own], [leaf.ranks[0] for leaf in own]
        reason = "" if position in document.tree.leaves else f"more than half of it matched ({len(own)} leaves)"
        groups.append(Group(document, position, span.start, span.end, hits, ranks, found.get_score(), reason))
    return groups


def to_node(group: Group) -> NodeWithScore:
    """Return a passage as a node; its metadata is hidden from models but for title and address."""
    passage = group.passage()
    own = ("node_id", "text", "start", "end", "score", "metadata")
    metadata = passage.metadata | {
        item.name: getattr(passage, item.name) for item in fields(passage) if item.name not in own
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
