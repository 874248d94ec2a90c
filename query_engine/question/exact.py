"""Find the leaves that name a question's identifiers letter by letter.

Flow: `identifiers.py` -> **here** -> `retrieval/hybrid.py` puts them first, `answerability/` asks which are absent. The
word index brings leaves that hold the pieces of an identifier, the text decides.
"""

from collections.abc import Collection, Mapping, Sequence

from index.corpus import Corpus
from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from query_engine.question.identifiers import Identifier

# More leaves than these may hold the pieces of a number or a year: it is not what tells passages apart.
MOST_LEAVES = 300


def leaves_naming(one: Identifier, corpus: Corpus, versions: Collection[str] | None = None) -> frozenset[str] | None:
    """Return the leaves whose text names an identifier; None where too many hold its pieces to look at each.

    Args:
        one: that is looked for.
        corpus: where.
        versions: only leaves of these document versions, None meaning all.
    """
    words, held = corpus.lexical_index, set[str]()
    for spelling in one.spellings:
        terms = words.terms(spelling)
        if min((words.containing("text", term) for term in terms), default=0) > MOST_LEAVES:
            return None
        held.update(words.holding(spelling, versions))
    documents = corpus.documents.get_versions({split_node_id(name)[0] for name in held})
    leaves = {name: _leaf(name, documents) for name in held}
    texts = {name: leaf[0].text[leaf[1] : leaf[2]] for name, leaf in leaves.items() if leaf}
    return frozenset(name for name, text in texts.items() if one.pattern.search(text))


def is_absent(one: Identifier, corpus: Corpus) -> bool:
    """Whether neither a leaf nor a document's title or file name holds an identifier."""
    words = corpus.lexical_index
    in_names = any(all(words.containing("names", term) for term in words.terms(each)) for each in one.spellings)
    return not in_names and leaves_naming(one, corpus) == frozenset()


def named_shares(
    names: Collection[str], codes: Sequence[Identifier], documents: Mapping[str, StoredDocument]
) -> dict[str, float]:
    """Return leaf -> share of these identifiers that it names, with its headings and its document's names; above 0.

    Args:
        names: of leaves.
        codes: looked for.
        documents: of the leaves, by version.
    """
    found = {}
    for name in names:
        if (leaf := _leaf(name, documents)) is None:
            continue
        document, start, end = leaf
        structure = document.structure
        headings = structure.heading_path(structure.place(start), document.text) if structure else ()
        text = "\n".join((document.title, document.doc_id, *headings, document.text[start:end]))
        if named := sum(code.pattern.search(text) is not None for code in codes):
            found[name] = named / len(codes)
    return found


def _leaf(name: str, documents: Mapping[str, StoredDocument]) -> tuple[StoredDocument, int, int] | None:
    """Return a leaf's document, and where the leaf begins and ends in it; None if the document is being replaced.

    One that begins within a heading ("25. | Loading") begins with it.
    """
    version, position = split_node_id(name)
    document = documents.get(version)
    if document is None or position >= len(document.tree):
        return None
    span, structure = document.tree[position], document.structure
    block = structure.blocks[structure.place(span.start)] if structure else None
    return document, block.start if block and block.kind == "heading" else span.start, span.end
