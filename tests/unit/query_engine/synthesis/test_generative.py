"""What a reader sees of a language model's reply, by the shape of the reply: scripted replies, piece by piece."""

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from errors import LLMError
from query_engine.llms.reply import Thought
from query_engine.prompting.builder import PromptBuilder
from query_engine.schema.citations import Citations
from query_engine.schema.events import Restarted, Step
from query_engine.schema.source import Source
from query_engine.synthesis.base import Declined
from query_engine.synthesis.generative import GenerativeSynthesizer
from tests.fakes.llm import FakeLLM, passage
from tests.fakes.synthesizers import text_of

BETZ = "Albert Betz published the limit in 1919: at best 59.3 per cent of the energy can be captured."
WIND = passage(
    f"Wind is moving air. {BETZ} See https://wind.example/betz for more: javascript:x /react.", "wind.md", start=100
)
SUN = passage("A cell turns light into electricity. It has no moving parts.", "sun.md", title="Sun")
SOURCES = (Source(SUN), Source(WIND, ("Physics", "Limits")))
TABLE = "| name | share |\n|---|---|\n| Betz | 59.3 % |\n"
FENCE = "```sh\nrun --name <value> --from https://host.example/a[0] # [2]\n```\n"


def writer_of(llm: FakeLLM, max_words: int | None = None) -> GenerativeSynthesizer:
    prompts = PromptBuilder(max_context_chars=6000, max_prompt_tokens=lambda: 3000, count_tokens=len)
    return GenerativeSynthesizer("openai", llm, prompts, max_words=max_words)


class Shown:
    """What came of a reply."""

    def __init__(self, says: Sequence[Any], sources: Sequence[Source] = SOURCES, max_words: int | None = None) -> None:
        self.citations = Citations()
        self.llm = FakeLLM(says=list(says))
        writer = writer_of(self.llm, max_words)
        self.text, self.declined = "", ""
        self.steps: list[str] = []
        self.restarts = 0
        for piece in writer.write("What is it?", sources, self.citations, threading.Event()):
            match piece:
                case Step():
                    self.steps.append(piece.text)
                case Restarted():
                    self.text, self.restarts = "", self.restarts + 1
                case Declined(text):
                    self.declined = text
                case str():
                    self.text += piece

    @property
    def cited(self) -> list[tuple[int, str]]:
        return [(each.number, each.doc_id) for each in self.citations.all()]


def by_letter(text: str) -> list[str]:
    return list(text)


SHAPES = {
    "marks become numbers in order of use": (
        "At best 59.3 per cent [2]. No parts [1].",
        "At best 59.3 per cent [1]. No parts [2].",
    ),
    "after the full stop": ("Wind is moving air. [2] A cell. [1]", "Wind is moving air. [1] A cell. [2]"),
    "several in one": ("Both [1, 2].", "Both [1][2]."),
    "side by side": ("Both [1][2].", "Both [1][2]."),
    "a range": ("Both [1-2].", "Both [1][2]."),
    "labels": ("Both [DOC 2] and [source 1].", "Both [1] and [2]."),
    "a footnote": ("Wind[^2] blows.", "Wind[1] blows."),
    "wide brackets": ("Wind blows【2】.", "Wind blows[1]."),
    "wide brackets with a place": ("Wind blows 【2†L3-L9】.", "Wind blows [1]."),
    "a source that was not given": ("It is 59.3 [7] per cent [2].", "It is 59.3 per cent [1]."),
    "a table": (f"Shares:\n\n{TABLE}\nSo it is [2].", f"Shares:\n\n{TABLE}\nSo it is [1]."),
    "a mark within a table": ("| a | b [2] |\n|---|---|\n", "| a | b [1] |\n|---|---|\n"),
    "a fence": (f"Run this [2]:\n\n{FENCE}\nDone.", f"Run this [1]:\n\n{FENCE}\nDone."),
    "a fence that is never closed": ("Run [2]:\n```\na[1] <img src=x>", "Run [1]:\n```\na[1] <img src=x>"),
    "a fence of tildes": ("[2]\n~~~\nx[1]\n~~~\nend", "[1]\n~~~\nx[1]\n~~~\nend"),
    "code within a line": ("Use `a[1]` and ``b`[2]`` [2].", "Use `a[1]` and ``b`[2]`` [1]."),
    "a lone backtick": ("It costs 5` [2].\n\nNext [1].", "It costs 5` [1].\n\nNext [2]."),
    "an index": ("Take argv[0] and v[1-3]+ [2].", "Take argv[0] and v[1-3]+ [1]."),
    "a placeholder": ("Write <name> and <your-key> [2].", "Write <name> and <your-key> [1]."),
    "a man page": ("See crontab (5) [2].", "See crontab (5) [1]."),
    "a task list": ("- [ ] open\n- [x] done [2]", "- [ ] open\n- [x] done [1]"),
    "headings and lists": ("## Why\n\n1. Wind [2]\n2. Sun [1]\n", "## Why\n\n1. Wind [1]\n2. Sun [2]\n"),
    "an address of a source": ("See https://wind.example/betz [2].", "See https://wind.example/betz [1]."),
    "a link of a source": ("[more](https://wind.example/betz) [2].", "[more](https://wind.example/betz) [1]."),
    "a link that no source holds": ("[click](https://evil.example/x) [2].", "click (`https://evil.example/x`) [1]."),
    "a link that acts": ("[go](javascript:x) [2].", "go (`javascript:x`) [1]."),
    "a link into the service": ("[go](/react) [2].", "go (`/react`) [1]."),
    "a definition of links": ("[go][a] [2].\n\n[a]: https://evil.example/x", "[go][a] [1].\n\n\\[a]: https://evil.example/x"),
    "an image": ("![logo](https://evil.example/p.png) Wind [2].", "logo Wind [1]."),
    "a script": ("<script>x()</script> [2]", "< script>x()< /script> [1]"),
    "an exclamation": ("Really! Yes [2]!", "Really! Yes [1]!"),
    "a comparison": ("5 < 6 and a<b [2].", "5 < 6 and a<b [1]."),
    "a list of sources": ("Wind [2].\n\nSources:\n[2] Wind — wind.md\n[1] Sun\n", "Wind [1].\n\n"),
    "a list of sources without a title": ("Wind [2].\n\n[2] Wind\n", "Wind [1].\n\n"),
    "a line that begins with a mark": ("[2] says that wind moves.", "[1] says that wind moves."),
    "sources as a word": ("Sources of energy are many [2].", "Sources of energy are many [1]."),
    "another language": ("La limite est de 59,3 % [2]. Voilà.", "La limite est de 59,3 % [1]. Voilà."),
    "reasoning before": ("<think>hm [1]</think>Wind [2].", "Wind [1]."),
    "a link as a mark": ("Wind [2](https://wind.example/betz).", "Wind [1]."),
    "an open bracket at the end": ("Wind [2]. And [", "Wind [1]. And ["),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "shown"), SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("cut", [by_letter, lambda text: [text]], ids=["letters", "whole"])
def test_a_reply_is_shown_as_it_was_written_but_for_its_marks(reply: str, shown: str, cut: Any) -> None:
    assert Shown(cut(reply)).text == shown


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("I don't know.", "I don't know."),
        ("I don't know. The sources only cover wind.", "I don't know. The sources only cover wind."),
        ("I do not know, as it is silent.\n\nAsk a roofer.", "I do not know, as it is silent.\n\nAsk a roofer."),
        ("<think>nothing there</think>I don't know.", "I don't know."),
    ],
)  # fmt: skip
def test_a_decline_is_handed_over_in_the_models_words(reply: str, said: str) -> None:
    declined = Shown(by_letter(reply))

    assert (declined.text, declined.declined) == ("", said)


def test_not_knowing_one_thing_is_not_a_decline() -> None:
    reply = "I don't know about Mars, but wind is moving air [2]."

    assert Shown(by_letter(reply)).text == "I don't know about Mars, but wind is moving air [1]."


def test_a_lone_end_of_reasoning_starts_the_answer_over() -> None:
    shown = Shown(["The user asks [1] about ", "wind.</think>", "Wind is moving air [2]."])

    assert (shown.text, shown.restarts) == ("Wind is moving air [1].", 1)
    assert shown.cited == [(1, "wind.md")]


def test_text_comes_with_the_model() -> None:
    citations = Citations()
    llm = FakeLLM(says=["Wind", " is moving", " air", " [2", "]."])
    pieces = writer_of(llm).write("?", SOURCES, citations, threading.Event())

    seen = [(piece, llm.given) for piece in pieces]
    assert seen == [("Wind", 1), (" is moving", 2), (" air", 3), (" [1].", 5)]


@pytest.mark.promise("E16")
def test_the_place_that_a_sentence_cites_is_the_nearest_one() -> None:
    shown = Shown(by_letter("At best 59.3 per cent can be captured [2]. Wind is air that moves [2]."))

    quotes = [each.quote for each in shown.citations.all()]
    assert quotes == ["Wind is moving air.", BETZ]
    assert {each.number for each in shown.citations.all()} == {1}


def test_a_mark_below_code_or_a_table_cites_what_it_says() -> None:
    shown = Shown(by_letter("```\nlimit 59.3 1919\n```\n[2]"))

    assert [each.quote for each in shown.citations.all()] == [BETZ]


@pytest.mark.promise("E16")
def test_an_answer_without_marks_lists_the_nearest_sources_and_says_so() -> None:
    shown = Shown(["At best 59.3 per cent of the energy can be captured."])

    assert shown.text == "At best 59.3 per cent of the energy can be captured."
    assert [each.doc_id for each in shown.citations.all()] == ["wind.md"]
    assert [warning.code for warning in shown.citations.warnings()] == ["citations_added"]


def test_an_answer_is_cut_after_its_most_words() -> None:
    shown = Shown(by_letter("Wind is moving air that drives a rotor [2]."), max_words=4)

    assert shown.text == "Wind is moving air…"


def test_thoughts_are_steps() -> None:
    shown = Shown([Thought("It is about wind."), "Wind [2]."])

    assert shown.text == "Wind [1]."
    assert len(shown.steps) == 1
    assert "It is about wind." in shown.steps[0]


@pytest.mark.parametrize("reply", ["", "<think>forever", "  \n"])
def test_nothing_written_is_a_failure(reply: str) -> None:
    with pytest.raises(LLMError):
        Shown(by_letter(reply))


def test_what_the_model_has_no_room_for_is_told() -> None:
    many = [Source(passage("Wind blows. " * 200, f"{n}.md")) for n in range(3)]

    codes = [warning.code for warning in Shown(["Wind [1]."], many).citations.warnings()]

    assert codes == ["passages_left_out"]


def test_the_state_follows_the_last_answer() -> None:
    llm = FakeLLM(says=["Wind [1]."])
    writer = writer_of(llm)
    assert (writer.ready, writer.reason) == (True, "Loaded, not used yet.")

    for failure, reason in [
        (LLMError("The server hung up.", "Start it again."), "The last answer failed: The server hung up."),
        (RecursionError("inside"), "The last answer failed in an unforeseen way: RecursionError."),
    ]:
        llm.says = ["Wind ", failure]
        with pytest.raises(type(failure)):
            text_of(writer.write("?", SOURCES, Citations(), threading.Event()))
        assert (writer.ready, writer.reason) == (False, reason)

    llm.says = ["Wind [1]."]
    assert text_of(writer.write("?", SOURCES, Citations(), threading.Event())) == "Wind [1]."
    assert (writer.ready, writer.reason) == (True, "The last answer succeeded.")


def test_an_answer_given_up_by_its_reader_changes_no_state() -> None:
    writer = writer_of(FakeLLM(says=["Wind ", "blows."]))
    pieces = iter(writer.write("?", SOURCES, Citations(), threading.Event()))
    next(pieces)
    del pieces

    assert writer.ready
