"""Citation numbers: given at first use, one a link."""

import pytest

from query_engine.schema.citations import Citations
from tests.fakes.engines import a_passage


def test_numbers_rise_with_first_use_and_are_kept() -> None:
    citations = Citations()
    wind, water = a_passage("wind.md"), a_passage("water.md")

    numbers = [citations.cite(passage, 10, 14) for passage in (water, wind, water)]

    assert numbers == [1, 2, 1]
    assert [citation.doc_id for citation in citations.all()] == ["water.md", "wind.md"]


@pytest.mark.promise("G11")
def test_the_quote_is_the_text_at_its_place() -> None:
    citations = Citations()
    citations.cite(a_passage(text="Wind turns blades."), 15, 20)

    assert citations.all()[0].quote == "turns"


def test_each_quote_of_a_document_without_an_address_has_its_number() -> None:
    citations = Citations()
    for start in (15, 10, 15):
        citations.cite(a_passage(), start, start + 4)

    assert [(citation.number, citation.start) for citation in citations.all()] == [(1, 15), (2, 10)]


def test_quotes_are_told_as_they_were_recorded() -> None:
    citations = Citations()
    for start in (15, 10, 12):
        citations.cite(a_passage(url="https://example.org/a"), start, start + 4)

    assert [citation.start for citation in citations.between(0, 2)] == [15, 10]
    assert [citation.start for citation in citations.between(2, 3)] == [12]


def test_documents_at_one_address_share_a_number() -> None:
    citations = Citations()
    numbers = [citations.cite(a_passage(name, url="https://example.org/a"), 10, 14) for name in ("a", "b")]

    assert numbers == [1, 1]


def test_quotes_of_a_passage_that_was_cited_as_a_whole_share_its_number() -> None:
    citations = Citations()
    wind, water = a_passage("wind.md"), a_passage("water.md")
    numbers = [citations.number(passage) for passage in (water, wind, water)]
    for start in (10, 15):
        citations.cite(wind, start, start + 4, number=citations.number(wind))

    assert numbers == [1, 2, 1]
    assert [(each.number, each.start) for each in citations.all()] == [(2, 10), (2, 15)]


def test_what_a_withdrawn_text_cited_is_forgotten() -> None:
    citations = Citations()
    citations.cite(a_passage(), 10, 14, number=citations.number(a_passage()))
    citations.clear()

    assert citations.all() == ()
    assert citations.number(a_passage("water.md")) == 1


def test_only_the_first_quotes_are_told_where_that_is_wanted() -> None:
    citations = Citations()
    for name in ("wind.md", "water.md"):
        citations.cite(a_passage(name), 10, 14)

    assert [citation.doc_id for citation in citations.all(1)] == ["wind.md"]
    assert citations.all(0) == ()
