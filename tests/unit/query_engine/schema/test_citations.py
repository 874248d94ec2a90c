"""Citation numbers: given at first use, one a document."""

from query_engine.schema.citations import Citations
from tests.fakes.engines import a_passage


def test_numbers_rise_with_first_use_and_are_kept() -> None:
    citations = Citations()
    wind, water = a_passage("wind.md"), a_passage("water.md")

    numbers = [citations.cite(passage, 10, 14) for passage in (water, wind, water)]

    assert numbers == [1, 2, 1]
    assert [citation.doc_id for citation in citations.all()] == ["water.md", "wind.md"]


def test_the_quote_is_the_text_at_its_place() -> None:
    citations = Citations()
    citations.cite(a_passage(text="Wind turns blades."), 15, 20)

    assert citations.all()[0].quote == "turns"


def test_two_quotes_of_one_document_share_its_number() -> None:
    citations = Citations()
    for start in (15, 10):
        citations.cite(a_passage(), start, start + 4)

    assert [(citation.number, citation.start) for citation in citations.all()] == [(1, 10), (1, 15)]


def test_documents_at_one_address_share_a_number() -> None:
    citations = Citations()
    numbers = [citations.cite(a_passage(name, url="https://example.org/a"), 10, 14) for name in ("a", "b")]

    assert numbers == [1, 1]


def test_only_the_first_quotes_are_told_where_that_is_wanted() -> None:
    citations = Citations()
    for name in ("wind.md", "water.md"):
        citations.cite(a_passage(name), 10, 14)

    assert [citation.doc_id for citation in citations.all(1)] == ["wind.md"]
    assert citations.all(0) == ()
