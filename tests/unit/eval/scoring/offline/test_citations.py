"""A quote stands where it says or it does not; a sentence has a quote that supports it or it has not."""

import pytest

from eval.cells import failed, not_applicable, scored
from eval.rows import Quote, Row, Seen
from eval.scoring.offline.citations import marked_sentences, score_citations
from eval.scoring.stage import Cells
from tests.fakes.eval_rows import answered, case, declined, quote, seen, unreplied

TEXT = "Vindeby stood in Denmark. It had eleven turbines."
PASSAGE = seen(TEXT, "vindeby.txt", start=100, end=100 + len(TEXT))
FIRST = quote(1, "Vindeby stood in Denmark.", doc_id="vindeby.txt", start=100, end=125, title="Vindeby")
SECOND = quote(1, "It had eleven turbines.", doc_id="vindeby.txt", start=126, end=149, title="Vindeby")


def cells_of(row: Row) -> Cells:
    return score_citations(case(answer="Denmark"), row)


def told(answer: str, *citations: Quote) -> Row:
    return answered(answer, citations=citations, passages=[PASSAGE])


@pytest.mark.parametrize(
    "wrong",
    [
        {"start": 101, "end": 126},
        {"doc_id": "other.txt"},
        {"quote": "Vindeby stood in Sweden."},
        {"start": None, "end": None},
        {"start": 0, "end": 25},
        {"quote": None},
    ],
    ids=["one beside", "another document", "another text", "no place", "before the passage", "no quote"],
)
def test_a_quote_that_does_not_stand_at_its_place_costs_precision(wrong: dict[str, object]) -> None:
    row = told("Vindeby stood in Denmark. [1]", FIRST, SECOND.model_copy(update=wrong))

    assert cells_of(row)["citation_precision"] == scored(0.5)


def test_quotes_at_their_place_are_right() -> None:
    assert cells_of(told("Vindeby stood in Denmark. [1]", FIRST, SECOND))["citation_precision"] == scored(1)


def leaves(text: str, size: int) -> list[Seen]:
    """Cut a document into passages of this many characters, without the blanks between them."""
    parts = [(start, text[start : start + size].strip()) for start in range(0, len(text), size)]
    places = [(start + text[start:].index(part), part) for start, part in parts if part]
    return [seen(part, "vindeby.txt", start=start, end=start + len(part)) for start, part in places]


@pytest.mark.parametrize("size", [7, 20, 33, 1_000])
def test_the_same_answer_scores_the_same_whatever_the_size_of_leaves(size: int) -> None:
    text = "Vindeby stood in Denmark. It had eleven turbines.\n\nThey were taken down in 2017."
    right = quote(1, text[5:60], doc_id="vindeby.txt", start=5, end=60)
    invented = quote(2, text[5:60].replace("eleven", "twelve"), doc_id="vindeby.txt", start=5, end=60)

    row = answered("So. [1]", citations=[right, invented], passages=[*reversed(leaves(text, size))])

    assert cells_of(row)["citation_precision"] == scored(0.5)


def test_a_quote_beyond_the_passages_is_right_where_its_document_holds_it() -> None:
    beyond = quote(1, "They were taken down in 2017.", doc_id="vindeby.txt", start=300, end=329)
    row = told("They were taken down in 2017. [1]", FIRST, beyond)

    assert cells_of(row)["citation_precision"] == scored(0.5)
    assert cells_of(row.model_copy(update={"confirmed": (1,)}))["citation_precision"] == scored(1)


def test_what_stands_between_two_passages_is_not_taken_on_trust() -> None:
    text = "Vindeby stood in Denmark. It had eleven turbines. They were small."
    first, last = text[:25], text[50:]
    ends = [seen(first, "v", start=0, end=25), seen(last, "v", start=50, end=50 + len(last))]

    row = answered("So. [1]", citations=[quote(1, text, doc_id="v", start=0, end=len(text))], passages=ends)

    assert cells_of(row)["citation_precision"] == scored(0)


@pytest.mark.parametrize(
    ("answer", "recall"),
    [
        ("Vindeby stood in Denmark. [1] It had eleven turbines. [1]", 1),
        ("Vindeby stood in **Denmark** [1]. It had eleven turbines.", 0.5),
        ("Vindeby had eleven turbines [1]. It had twelve turbines [1].", 0.5),
        ("Vindeby stood in Denmark. [2]", 0),
        ("Vindeby stood in Denmark.", 0),
        ("# Wind farms\n\nVindeby stood in Denmark. [1]", 1),
    ],
    ids=["both", "a sentence without mark", "a number that no quote has", "a mark of nothing", "no marks", "a heading"],
)
def test_a_sentence_counts_where_its_mark_leads_to_its_support(answer: str, recall: float) -> None:
    assert cells_of(told(answer, FIRST, SECOND))["citation_recall"] == scored(recall)


def test_a_quoted_row_of_a_table_is_a_sentence_of_its_own() -> None:
    row = quote(2, "| Vindeby | 1991 | 11 |", doc_id="vindeby.txt", start=0, end=23)

    cells = cells_of(
        told("Vindeby stood in Denmark. [1] | Vindeby | 1991 | 11 | [2] It had many turbines.", FIRST, row)
    )

    assert cells["citation_recall"].score == pytest.approx(2 / 3)


def test_an_answer_without_citations_has_no_recall_where_citations_are_told() -> None:
    cells = cells_of(answered("Denmark.", fingerprint="f0", passages=[PASSAGE]))

    assert cells["citation_recall"] == scored(0)
    assert cells["citation_precision"] == not_applicable("the answer has no citations")


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (answered("Denmark."), "the service reports no citations"),
        (
            answered("Denmark. [1]", citations=[quote(1, None, url="https://example.org")]),
            "the service reports no quotes",
        ),
        (declined(), "the service declined"),
    ],
)
def test_what_is_not_told_is_not_scored(row: Row, why: str) -> None:
    assert set(cells_of(row).values()) == {not_applicable(why)}


def test_without_places_of_passages_only_support_is_scored() -> None:
    row = answered("Vindeby stood in Denmark. [1]", citations=[FIRST], passages=[seen(TEXT, "vindeby.txt")])

    assert cells_of(row) == {
        "citation_precision": not_applicable("the service does not tell where passages stand"),
        "citation_recall": scored(1),
    }


def test_an_answer_of_marks_alone_has_quotes_all_the_same() -> None:
    assert cells_of(told("[1]", FIRST)) == {
        "citation_precision": scored(1),
        "citation_recall": not_applicable("the answer has no sentence"),
    }


def test_a_row_without_reply_has_failed_unless_there_is_nothing_to_cite() -> None:
    assert set(cells_of(unreplied()).values()) == {failed("no reply: the service took more than 5 s")}
    assert score_citations(case(answer=None), unreplied())["citation_recall"].not_applicable


def test_a_very_long_answer_is_not_cut_into_sentences() -> None:
    cells = cells_of(told("." * 1_000_000, FIRST))

    assert cells["citation_recall"] == failed("answer and quotes have 1000025 characters; up to 20000 are compared")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns [2].", [("It turns.", (2,))]),
        ("It turns [1][3].", [("It turns.", (1, 3))]),
        ("It turns. [1] It stops.[2]", [("It turns.", (1,)), ("It stops.", (2,))]),
        ("It turns [1], then stops [2]. So it is.", [("It turns, then stops.", (1, 2)), ("So it is.", ())]),
        ("[3] It turns. It stops.", [("It turns.", (3,)), ("It stops.", ())]),
        ("- It turns [1]\n- It stops [2]\n", [("It turns", (1,)), ("It stops", (2,))]),
    ],
)
def test_a_mark_belongs_to_the_sentence_it_stands_in_or_behind(
    text: str, expected: list[tuple[str, tuple[int, ...]]]
) -> None:
    assert [(each.text, each.numbers) for each in marked_sentences(text)] == expected
