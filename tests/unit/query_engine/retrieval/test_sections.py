"""What a language model reads around the leaves that were found."""

from collections.abc import Callable

import pytest

from index.documents.span_tree import LEAF, NO_PARENT, Span, SpanTree
from index.documents.store import Document, StoredDocument
from query_engine.retrieval.sections import SECTION_CHARS, sections
from query_engine.schema.hit import LeafHit
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source

TEXT = (
    "# Guide\n\n## Install\n\nRun the installer. It takes a minute.\n\n- first step\n- second step\n\n"
    "## Use\n\nCall it:\n\n```\nrun --now\n```\n\nThat is all.\n\n"
    "## Prices\n\n| item | price |\n|---|---|\n| bolt | 2.50 |\n| nut | 1.20 |\n"
)


def stored(text: str, doc_id: str = "guide.md", *, leaf_chars: int = 40, parent_chars: int = 10_000) -> StoredDocument:
    """Return a document whose leaves are pieces of equal length."""
    parents = [(start, min(len(text), start + parent_chars)) for start in range(0, len(text), parent_chars)]
    spans = [Span(0, 0, len(text), NO_PARENT)]
    spans += [Span(1, start, end, 0) for start, end in parents]
    for number, (start, end) in enumerate(parents, 1):
        spans += [Span(LEAF, at, min(end, at + leaf_chars), number) for at in range(start, end, leaf_chars)]
    spans.sort(key=lambda span: span.level)
    return StoredDocument.of(Document(doc_id, "Guide", text, metadata={"date": "2024-05-01"}), doc_id, SpanTree(spans))


def leaf(document: StoredDocument, words: str, score: float = 1.0) -> Passage:
    """Return the leaf that holds the first of these words, as a search finds it."""
    at = document.text.index(words)
    place = next(one for one in document.tree.leaves if document.tree[one].end > at)
    span = document.tree[place]
    hit = LeafHit(f"{document.version}.{place}", score, start=span.start, end=span.end)
    text = document.text[span.start : span.end]
    return Passage(
        node_id=hit.node_id,
        chunk_id=f"{document.doc_id}#0",
        doc_id=document.doc_id,
        title=document.title,
        url=None,
        level="leaf",
        start=span.start,
        end=span.end,
        pages=(),
        score=score,
        scores={},
        text=text,
        hits=(hit,),
    )


def found(*leaves: tuple[StoredDocument, str], budget: int = 16_000) -> tuple[Source, ...]:
    known = {document.doc_id: document for document, _ in leaves}
    document_of: Callable[[Passage], StoredDocument | None] = lambda passage: known.get(passage.doc_id)  # noqa: E731
    return sections([leaf(document, words) for document, words in leaves], document_of, budget)


def test_a_short_parent_is_read_whole_and_once() -> None:
    guide = stored(TEXT)

    (only,) = found((guide, "installer"), (guide, "run --now"))

    assert only.passage.text == TEXT.strip()
    assert len(only.passage.hits) == 2


def test_of_a_long_parent_the_blocks_around_the_leaf_are_read() -> None:
    guide = stored("\n\n".join(f"Paragraph {n} says {'much ' * 30}." for n in range(60)))

    (only,) = found((guide, "Paragraph 30 "))

    assert "Paragraph 30 " in only.passage.text
    assert len(only.passage.text) <= SECTION_CHARS
    assert only.passage.text.startswith("Paragraph ")
    assert only.passage.text.endswith(".")


@pytest.mark.parametrize("words", ["second step", "run --now", "bolt"])
def test_no_block_is_cut(words: str) -> None:
    guide = stored(TEXT, leaf_chars=7, parent_chars=60)

    text = found((guide, words))[0].passage.text

    for block in ("- second step", "```\nrun --now\n```", "| bolt | 2.50 |"):
        assert block in text or not any(line in text for line in block.splitlines() if line != "```")


def test_a_lead_in_comes_with_what_it_announces() -> None:
    guide = stored("Intro.\n\nCall it:\n\n```\nrun --now\n```\n\nEnd.", parent_chars=18, leaf_chars=18)

    assert "run --now" in found((guide, "Call it"))[0].passage.text


def test_the_header_names_headings_place_and_date() -> None:
    guide = stored(TEXT, parent_chars=30, leaf_chars=30)

    (only,) = found((guide, "second step"))

    assert only.header.startswith("Guide")
    assert "Install" in only.header
    assert only.header.endswith("guide.md, 2024-05-01")


def test_rows_without_their_header_have_the_names_of_the_columns() -> None:
    rows = "\n".join(f"| bolt {n} | {n}.50 |" for n in range(300))
    table = stored(f"# List\n\n| item | price |\n|---|---|\n{rows}\n", leaf_chars=100)

    (only,) = found((table, "bolt 200 "))

    assert only.columns == ("item", "price")
    assert only.text.startswith("item | price\n")


def test_the_best_document_comes_first_and_its_sections_in_order() -> None:
    one = stored("\n\n".join(f"Alpha {n} {'x' * 900}." for n in range(9)), "a.md", parent_chars=1000, leaf_chars=500)
    other = stored("Beta is short.", "b.md")

    sources = found((one, "Alpha 5 "), (other, "Beta"), (one, "Alpha 1 "))

    assert [source.passage.doc_id for source in sources] == ["a.md", "a.md", "b.md"]
    assert sources[0].passage.start < sources[1].passage.start


def test_the_budget_holds_and_the_best_leaf_is_always_read() -> None:
    texts = [stored(f"Number {n}. " + f"word{n} " * 150, f"{n}.md") for n in range(20)]

    sources = found(*[(document, "Number") for document in texts], budget=3000)

    assert sum(len(source.passage.text) for source in sources) <= 3000
    assert sources[0].passage.doc_id == "0.md"
    assert found((texts[0], "Number"), budget=10)


def test_the_same_text_in_two_documents_is_read_once() -> None:
    one, copy = stored("The same words.", "a.md"), stored("The same words.", "b.md")

    assert [source.passage.doc_id for source in found((one, "same"), (copy, "same"))] == ["a.md"]


def test_a_document_that_has_gone_is_read_as_it_was_found() -> None:
    gone = leaf(stored(TEXT), "installer")

    (only,) = sections([gone], lambda _: None, 16_000)

    assert only.passage.text == gone.text.strip()
