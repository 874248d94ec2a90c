import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.views.run import SEPARATOR, RunView
from query_engine.schema.events import Citation, Event, Nearest, Restarted, Retrieved, Step, Token
from tests.fakes.engines import a_citation, a_done, a_nearest

STEPS = (Step("search", "**Searching** the guide."), Step("found", "**Found** 3 passages."))


def one_url_each(citations: Sequence[Citation]) -> list[str]:
    return [f"http://here/{citation.doc_id}" for citation in citations]


def quoted(nearest: Sequence[Nearest]) -> str:
    return "".join(f"\n\nClose: {one.quote}" for one in nearest)


def view_of(*events: Event) -> RunView:
    view = RunView(one_url_each, quoted)
    for event in events:
        view.take(event)
    return view


def lines_of(view: RunView) -> list[str]:
    """What the view sends now, without the ends of the messages."""
    return [message.decode("ascii").removesuffix("\n\n") for message in view.messages()]


def records_of(view: RunView) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in lines_of(view)]


def sent(*events: Event) -> list[str]:
    """All lines when each event is shown as soon as it asks for it."""
    view = RunView(one_url_each, quoted)
    lines = []
    for event in events:
        view.take(event)
        if view.unsent:
            lines += lines_of(view)
    return lines


def played(*events: Event) -> list[dict[str, Any]]:
    return [json.loads(line.removeprefix("data: ")) for line in sent(*events)]


def report_of(record: dict[str, Any]) -> str:
    assert isinstance(record["final_report"], str)
    return record["final_report"]


@pytest.mark.promise("A18", "A19", "A20", "A21")
def test_records_think_then_answer_then_complete() -> None:
    records = played(*STEPS, Retrieved(()), Token("Wind turns"), Token(" blades. [1]"), a_done())

    assert [(r["is_intermediate"], r["complete"], r["final_report"]) for r in records] == [
        (True, False, None),
        (True, False, None),
        (False, False, "Wind turns"),
        (False, False, "Wind turns blades. [1]"),
        (False, True, "Wind turns blades. [1]"),
    ]


@pytest.mark.promise("A19", "A30")
def test_each_record_carries_all_steps_so_far() -> None:
    records = played(*STEPS, Token("Wind."), a_done())

    assert records[0]["intermediate_steps"] == STEPS[0].text
    for record in records[1:]:
        assert [step.strip() for step in record["intermediate_steps"].split(SEPARATOR)] == [s.text for s in STEPS]


@pytest.mark.promise("A15", "A16")
def test_citations_are_addresses_in_the_order_of_their_numbers_and_stand_in_the_last_record() -> None:
    citations = (a_citation(1, "b.md"), a_citation(2, "a.md"))

    records = played(*STEPS, Token("Text [1] [2]"), a_done("Text [1] [2]", citations=citations))

    assert records[-1]["citations"] == ["http://here/b.md", "http://here/a.md"]
    assert not any("citations" in record for record in records[:-1])


@pytest.mark.promise("A31")
def test_no_record_of_an_answer_has_the_key_error() -> None:
    assert not any("error" in record for record in played(*STEPS, Token("Wind."), a_done()))


def test_a_declined_answer_is_shown_once_as_answer_and_once_as_complete() -> None:
    records = played(*STEPS, a_done(answer=None))

    assert [(r["is_intermediate"], r["complete"]) for r in records[-2:]] == [(False, False), (False, True)]
    assert {r["final_report"] for r in records[-2:]} == {"I don't know. The passages found do not answer this."}
    assert records[-1]["citations"] == []


@pytest.mark.parametrize("pieces", [(), (Token(""),)])
def test_a_model_s_own_decline_is_the_report(pieces: tuple[Token, ...]) -> None:
    said = "I don't know: the guide names no price."

    records = played(*STEPS, *pieces, replace(a_done(None, message=said), decline_text=said))

    assert [r["final_report"] for r in records if not r["is_intermediate"]] == [said, said]
    assert "error" not in records[-1]


def test_the_report_of_a_declined_answer_ends_with_what_is_closest_and_cites_nothing() -> None:
    last = played(*STEPS, a_done(answer=None, nearest=(a_nearest(),)))[-1]

    assert report_of(last) == "I don't know. The passages found do not answer this.\n\nClose: Wind turns blades."
    assert last["citations"] == []


def test_other_places_are_no_part_of_an_answer_s_report() -> None:
    assert report_of(played(*STEPS, a_done(nearest=(a_nearest(),)))[-1]) == report_of(played(*STEPS, a_done())[-1])


def test_a_restarted_answer_replaces_the_withdrawn_text() -> None:
    records = played(*STEPS, Token("Half a"), Restarted("The model broke."), Token("Wind."), a_done("Wind."))

    assert [r["final_report"] for r in records if not r["is_intermediate"]] == ["Half a", "Wind.", "Wind."]


def test_steps_after_a_restart_wait_for_the_new_text() -> None:
    view = view_of(*STEPS, Token("Half a"))
    records_of(view)

    view.take(Restarted("The model broke."))
    view.take(Step("warning", "**The model failed.**"))
    assert not view.unsent

    view.take(Token("Wind."))
    assert view.urgent
    (record,) = records_of(view)
    assert record["final_report"] == "Wind."
    assert record["intermediate_steps"].endswith("**The model failed.**")


def test_blank_pieces_at_the_beginning_do_not_begin_the_answer() -> None:
    records = played(*STEPS, Token("\n "), Token(" Wind"), a_done("Wind"))

    assert [r["final_report"] for r in records] == [None, None, "Wind", "Wind"]


def test_a_blank_piece_leaves_a_step_to_be_sent() -> None:
    view = view_of(*STEPS, Token(""))

    assert (view.urgent, view.unsent) == (True, True)


def test_a_blank_message_still_gives_a_report() -> None:
    last = played(*STEPS, a_done(answer=None, message=" "))[-1]

    assert report_of(last).startswith("I don't know")


@pytest.mark.promise("A37")
def test_there_are_at_least_two_steps_even_when_the_engine_names_none() -> None:
    last = played(Token("Wind."), a_done("Wind."))[-1]
    lonely = played(STEPS[0], a_done("Wind."))[-1]

    assert SEPARATOR in lonely["intermediate_steps"]
    assert SEPARATOR in last["intermediate_steps"]


@pytest.mark.promise("A37")
def test_no_step_says_that_a_declined_answer_is_written() -> None:
    *_, lonely = played(STEPS[0], a_done(answer=None))

    assert SEPARATOR in lonely["intermediate_steps"]
    assert "**Writing**" not in lonely["intermediate_steps"]


@pytest.mark.promise("A14")
def test_a_step_that_holds_the_separator_stays_one_step() -> None:
    last = played(Step("search", f"For: a {SEPARATOR} b"), *STEPS, a_done())[-1]

    assert len(last["intermediate_steps"].split(SEPARATOR)) == 3


@pytest.mark.promise("A17")
def test_a_failure_before_the_answer_ends_with_an_error_that_is_also_the_report() -> None:
    view = view_of(*STEPS)
    view.fail("The index is damaged. Rebuild it.")

    (record,) = records_of(view)
    assert record["error"] == record["final_report"] == "The index is damaged. Rebuild it."
    assert (record["is_intermediate"], record["complete"]) == (False, True)
    assert view.complete


@pytest.mark.promise("A34")
def test_a_failure_within_the_answer_keeps_what_is_written() -> None:
    view = view_of(*STEPS, Token("Wind turns"))
    records_of(view)
    view.fail("The model broke.")

    (record,) = records_of(view)
    assert record["final_report"] == "Wind turns\n\n*The answer breaks off here. The model broke.*"
    assert record["complete"]
    assert "error" not in record


@pytest.mark.promise("A45")
@pytest.mark.parametrize("character", ["a", "é", "漢", "🌬", "\x00", '"', "\n"], ids=ascii)
def test_no_line_is_longer_than_64_kib(character: str) -> None:
    citations = tuple(a_citation(n, f"{n}/" + character * 300) for n in range(1, 200))
    steps = [Step("found", character * 3000) for _ in range(30)]
    text = character * 90_000 + "."

    lines = sent(*steps, Token(text), a_done(text, citations=citations))

    assert max(len(f"{line}\n") for line in lines) <= 64 * 1024


def test_an_over_long_answer_is_cut_at_a_sentence_with_a_note() -> None:
    text = "Wind turns the blades of a turbine. " * 3000

    last = played(*STEPS, Token(text), a_done(text))[-1]

    kept, _, note = report_of(last).rpartition("\n\n")
    assert text.startswith(kept)
    assert kept.endswith("turbine.")
    assert "/evaluate" in note


def test_left_out_steps_and_citations_are_mentioned() -> None:
    citations = tuple(a_citation(n, f"{n}/" + "x" * 1000) for n in range(1, 40))
    steps = [Step("found", f"{n} " + "x" * 2000) for n in range(20)]

    last = played(*steps, Token("Text."), a_done("Text.", citations=citations))[-1]

    assert last["intermediate_steps"].endswith("Further steps are left out.")
    assert f"Only the first {len(last['citations'])} of 39 sources" in report_of(last)


@pytest.mark.promise("A12")
@pytest.mark.fault("B12")
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=30), max_size=8))
def test_any_text_survives_the_line(pieces: list[str]) -> None:
    text = "".join(pieces)
    lines = sent(*STEPS, *map(Token, pieces), a_done(text or None, message=text or "none"))

    assert all(line.isascii() and "\n" not in line and "\r" not in line for line in lines)
    last = json.loads(lines[-1].removeprefix("data: "))
    assert last["final_report"] == (text.strip() or last["final_report"])
