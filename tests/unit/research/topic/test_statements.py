from dataclasses import replace

from query_engine.schema.events import Done
from research.topic.statements import joined, statements_of, words_of
from tests.fakes.answers import quoted
from tests.fakes.engines import a_done

WIND, SUN = ("wind.md", "Wind turns blades."), ("sun.md", "Sun warms cells.")


def texts(done: Done) -> list[tuple[str, list[int]]]:
    return [(one.text, [citation.number for citation in one.citations]) for one in statements_of(done)]


def test_each_piece_before_a_mark_is_a_statement_with_its_citations() -> None:
    assert texts(quoted(WIND, SUN)) == [("Wind turns blades.", [1]), ("Sun warms cells.", [2])]
    assert texts(quoted(WIND, SUN, text="Both work. [1][2]")) == [("Both work.", [1, 2])]


def test_a_mark_inside_a_sentence_does_not_part_it() -> None:
    assert texts(quoted(WIND, SUN, text="Wind turns [1], and sun warms [2].")) == [
        ("Wind turns, and sun warms.", [1, 2])
    ]


def test_a_declined_question_says_nothing() -> None:
    assert statements_of(a_done(None)) == []


def test_what_leads_in_nothing_is_left_out() -> None:
    assert texts(quoted(WIND, SUN, text="In detail: [1] Sun warms cells. [2]")) == [("Sun warms cells.", [2])]
    assert texts(quoted(WIND, text="In detail:\n- Wind turns.\n- Sun warms. [1]")) == [
        ("- Wind turns.\n- Sun warms.", [1])
    ]


def test_brackets_of_a_document_are_no_marks() -> None:
    assert texts(quoted(WIND, text="As others [7] say, wind turns. [1]")) == [("As others [7] say, wind turns.", [1])]


def test_quotes_of_one_address_share_their_number_and_stay() -> None:
    done = quoted(WIND, SUN, text="Both work. [1]")
    shared = replace(done, citations=tuple(replace(one, number=1) for one in done.citations))

    assert [len(one.citations) for one in statements_of(shared)] == [2]


def test_sentences_that_were_said_are_taken_out() -> None:
    (one,) = statements_of(quoted(WIND, text="Wind turns blades. Sun warms cells. [1]"))

    left = one.without({words_of("wind turns BLADES")})

    assert left is not None
    assert left.text == "Sun warms cells."
    assert one.without({words_of(sentence) for sentence in one.sentences()}) is None
    assert one.without(set()) is one


def test_lists_stand_apart_from_prose() -> None:
    prose, block = statements_of(quoted(WIND, SUN, text="Wind turns blades. [1] - Sun warms.\n- Sun cools. [2]"))

    assert joined([prose, block, prose]) == (
        "Wind turns blades. [1]\n\n- Sun warms.\n- Sun cools. [2]\n\nWind turns blades. [1]"
    )
