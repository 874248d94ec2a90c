import re
import threading
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import LLMError
from query_engine.llms.reply import Thought
from query_engine.prompting.builder import PromptBuilder
from query_engine.schema.citations import Citations, Shown
from query_engine.schema.events import Step, Token
from query_engine.schema.passage import Passage
from query_engine.synthesis.citation_marks import MarkedSentences
from query_engine.synthesis.draft import Draft, Rules
from query_engine.synthesis.generative import GenerativeSynthesizer
from query_engine.synthesis.grounding import Evidence
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.llm import FakeLLM, passage
from tests.fakes.synthesizers import text_of, texts_of

BETZ = "Albert Betz published the limit in 1919: at best 59.3 per cent of the energy can be captured."
WIND = passage(f"Wind is moving air. {BETZ} Three blades won for practical reasons.", "wind.md", start=100)
SUN = passage("A cell turns light into electricity. It has no moving parts.", "sun.md", title="Sun")
PASSAGES = (SUN, WIND)


def synthesizer(llm: FakeLLM, rules: Rules | None = None) -> GenerativeSynthesizer:
    prompts = PromptBuilder(max_context_chars=6000, max_prompt_tokens=3000, count_tokens=len)
    return GenerativeSynthesizer("openai", "fake", llm, prompts, embedder=WordHashEmbedding(), rules=rules)


def write(*says: Any, passages: Sequence[Passage] = PASSAGES) -> tuple[str, Citations]:
    citations = Citations()
    llm = FakeLLM(says=list(says))
    pieces = synthesizer(llm).write("What is the Betz limit?", passages, citations, threading.Event())
    return text_of(pieces), citations


def test_ranks_become_numbers_in_order_of_use_with_the_supporting_sentence() -> None:
    answer, citations = write("At best 59.3 per cent ", "can be captured [", "2]. A cell has", " no moving parts [1].")

    assert answer == "At best 59.3 per cent can be captured [1]. A cell has no moving parts [2]."
    assert [(each.number, each.doc_id, each.quote) for each in citations.all()] == [
        (1, "wind.md", BETZ),
        (2, "sun.md", SUN.text),
    ]
    first = citations.all()[0]
    assert WIND.text[first.start - WIND.start : first.end - WIND.start] == BETZ


def test_which_passages_were_not_read_is_left_with_the_citations() -> None:
    _, all_read = write("Wind is moving air [2].")
    _, some_read = write("A cell has no moving parts [1].", passages=[SUN, WIND, passage("word " * 2000)])

    assert all_read.shown == Shown()
    assert some_read.shown.left_out.startswith("The model was shown 2 of 3 passages whole")
    assert some_read.shown.out_of_context


def test_a_mark_after_the_full_stop_cites_the_sentence_before_it() -> None:
    _, citations = write("Wind is moving air. At best 59.3 per cent can be captured. [2]")

    assert [each.quote for each in citations.all()] == ["Wind is moving air.", BETZ]


def test_a_mark_of_a_document_that_was_not_given_is_dropped() -> None:
    answer, citations = write("It is 59.3 per cent of the energy [7] [2].")

    assert answer == "It is 59.3 per cent of the energy [1]."
    assert len(citations.all()) == 1


def test_an_answer_without_marks_gets_those_of_the_sentences_that_plainly_support_it() -> None:
    answer, citations = write("At best 59.3 per cent of the energy can be captured.")

    assert answer == "At best 59.3 per cent of the energy can be captured. [1]"
    assert citations.all()[0].quote == BETZ


def test_an_answer_without_any_support_is_a_failure_and_nothing_of_it_is_shown() -> None:
    llm = FakeLLM(says=["The capital of Peru ", "is Lima. It has many ", "parks [1]."])
    pieces = synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event())

    with pytest.raises(LLMError, match="Nothing that the language model wrote has support") as failure:
        next(texts_of(pieces))
    assert failure.value.code == "llm_unsupported"


def test_a_sentence_is_yielded_as_soon_as_the_next_one_begins() -> None:
    says = ["Wind is", " moving air [2].", " A", " cell turns light into", " electricity [1]."]
    llm = FakeLLM(says=says)
    pieces = texts_of(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert next(pieces) == "Wind is moving air [1]."
    assert llm.given == 3
    assert list(pieces) == [" A cell turns light into electricity [2]."]


def test_a_made_up_number_gives_way_to_the_quote_that_holds_the_true_one() -> None:
    answer, citations = write("At best 73 per cent of the energy can be captured [2]. Wind is moving air [2].")

    assert answer == f"{BETZ} [1] Wind is moving air [2]."
    assert (citations.checked.supported, citations.checked.replaced, citations.checked.dropped) == (1, 1, 0)


def test_arithmetic_that_no_passage_holds_is_not_shown() -> None:
    answer, _ = write("At best 59.3 per cent can be captured, so 40.7 per cent is lost [2]. Wind is moving air [2].")

    assert "40.7" not in answer


def test_a_sentence_from_elsewhere_is_left_out_and_counted() -> None:
    answer, citations = write("Wind is moving air [2]. Lima has many parks [1]. It has no moving parts [1].")

    assert answer == "Wind is moving air [1]. It has no moving parts [2]."
    assert str(citations.checked.warning()) == (
        "unsupported_sentences: 1 of 3 generated sentences had no support in the passages: 0 replaced by a quote, "
        "1 left out."
    )


def test_a_sentence_that_names_the_wrong_source_gets_the_right_one() -> None:
    answer, citations = write("Albert Betz published the limit in 1919 [1].")

    assert answer == "Albert Betz published the limit in 1919 [1]."
    assert [each.doc_id for each in citations.all()] == ["wind.md"]


def test_unchecked_sentences_are_all_shown_with_the_nearest_quote() -> None:
    llm = FakeLLM(says=["La limite de Betz est 16/27 [2]. Voilà."])
    citations = Citations()

    answer = text_of(synthesizer(llm, Rules(checked=False)).write("?", PASSAGES, citations, threading.Event()))

    assert answer == "La limite de Betz est 16/27 [1]. Voilà."
    assert citations.all()[0].quote == BETZ


def test_an_answer_ends_before_the_sentence_that_makes_it_too_long() -> None:
    llm = FakeLLM(says=["Wind is moving air [2]. Three blades won for practical reasons [2]. It has no moving parts."])

    answer = text_of(synthesizer(llm, Rules(max_words=12)).write("?", PASSAGES, Citations(), threading.Event()))

    assert answer == "Wind is moving air [1]. Three blades won for practical reasons [2]."


def test_an_abstention_yields_nothing_and_ends_the_model() -> None:
    llm = FakeLLM(says=["I don't", " know.", " But", " perhaps"])

    assert list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event())) == []
    assert (llm.given, llm.closed) == (2, 1)


def test_without_passages_the_model_is_told_that_there_is_no_reference_and_may_only_decline() -> None:
    llm = FakeLLM(says=["I don't know."])

    assert list(synthesizer(llm).write("?", (), Citations(), threading.Event())) == []
    assert "Documents:\nNo Reference\n" in str(llm.asked[0][-1].content)
    for checked in (True, False):
        from_memory = synthesizer(FakeLLM(says=["Lima is the capital."]), Rules(checked=checked))
        with pytest.raises(LLMError, match="has support"):
            list(texts_of(from_memory.write("?", (), Citations(), threading.Event())))


LONG_FIRST = "Albert Betz " + "published " * 70 + "the limit in 1919 [2]. Wind is moving air [2]."


@pytest.mark.parametrize("checked", [True, False])
@pytest.mark.parametrize("lead", ["", "# A heading\n\n", "# " + "Very " * 60 + "long\n\n"])
@pytest.mark.parametrize("said", [LONG_FIRST, LONG_FIRST.replace("1919", "1920")])
def test_a_first_sentence_that_is_too_long_is_cut_and_keeps_its_mark(said: str, lead: str, checked: bool) -> None:
    llm = FakeLLM(says=re.findall(r"\S+\s*", lead + said))
    long = passage(LONG_FIRST.replace(" [2]", ""))
    citations = Citations()

    rules = Rules(checked=checked, max_words=50)
    answer = text_of(synthesizer(llm, rules).write("?", (SUN, long), citations, threading.Event()))

    assert len(answer.split()) <= 50
    assert re.search(r"Albert Betz (published )+published… \[1\]$", answer)
    (citation,) = citations.all()
    assert citation.quote in long.text


def test_a_quote_in_place_of_a_later_sentence_ends_an_answer_that_it_makes_too_long() -> None:
    replaced = "At best 73 per cent of the energy can be captured [2]."
    llm = FakeLLM(says=[f"Wind is moving air [2]. {replaced} It has no moving parts [1]."])

    answer = text_of(synthesizer(llm, Rules(max_words=18)).write("?", PASSAGES, Citations(), threading.Event()))

    assert answer == "Wind is moving air [1]."


def test_a_stop_closes_the_model_within_one_token() -> None:
    stop = threading.Event()
    llm = FakeLLM(says=["Wind is moving air. ", "It", stop.set, " has", " no parts."])

    assert list(texts_of(synthesizer(llm).write("?", PASSAGES, Citations(), stop))) == ["Wind is moving air. [1]"]
    assert (llm.given, llm.closed) == (3, 1)


def test_leaving_the_answer_closes_the_model() -> None:
    llm = FakeLLM(says=["Wind is moving air. It", " has", " no parts."])
    pieces = synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event())

    next(iter(pieces))
    pieces.close()  # type: ignore[attr-defined]  # it is a generator

    assert (llm.given, llm.closed) == (1, 1)


def test_a_model_in_a_loop_is_stopped() -> None:
    llm = FakeLLM(says=["Wind is moving air. "] * 50)

    answer = text_of(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert answer == "Wind is moving air. [1]"
    assert llm.given <= 3


@pytest.mark.parametrize(
    ("says", "fact"),
    [
        ([], "wrote nothing"),
        (["", " ", "\n"], "wrote nothing"),
        (["[9]"], "wrote nothing"),
        (["<think>", "Hm.", "</think>"], "on reasoning"),
        (["<think>", "Hm."], "on reasoning"),
    ],
)
def test_an_empty_answer_is_a_failure_not_an_abstention(says: list[str], fact: str) -> None:
    with pytest.raises(LLMError, match=fact):
        write(*says)


def test_a_failing_model_fails_the_answer() -> None:
    llm = FakeLLM(says=["Wind", LLMError("It broke.", "Mend it.")])
    pieces = synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event())

    with pytest.raises(LLMError, match=r"It broke\."):
        list(pieces)
    assert llm.closed == 1


def test_headings_and_empty_phrases_are_shown_with_the_sentence_they_lead() -> None:
    answer, citations = write(
        "## Wind\n\nYes. Wind is moving air [2].\n\n## Peru\n\nLima has many parks [1].\n\n"
        "## Sun\n\nIt has no moving parts [1]."
    )

    assert answer == "## Wind\n\nYes. Wind is moving air [1].\n\n## Sun\n\nIt has no moving parts [2]."
    assert citations.checked.dropped == 1


def test_list_items_keep_their_form_when_one_of_them_is_left_out() -> None:
    answer, _ = write("1. Wind is moving air [2].\n2. Lima has many parks [1].\n3. It has no moving parts [1].")

    assert answer == "1. Wind is moving air [1].\n3. It has no moving parts [2]."


def test_links_and_images_of_a_model_are_shown_as_text() -> None:
    answer, _ = write("Wind is ![moving](javascript:air) <b>air</b> [2].")

    assert answer == "Wind is [moving] (air) < b>air< /b> [1]."


def test_what_is_not_checked_yet_is_shown_word_by_word_and_replaced_by_what_stands() -> None:
    llm = FakeLLM(says=["Wind is mov", "ing air [2].", " Lima has", " many", " parks [1].", " It"])
    pieces = list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert pieces == [
        Token("", "Wind is"),
        Token("", "Wind is moving air"),
        Token("Wind is moving air [1].", " Lima"),
        Token("", " Lima has"),
        Token("", " Lima has many parks"),
        Token("", ""),
    ]


def test_unchecked_text_holds_no_mark_and_no_link_before_they_are_settled() -> None:
    llm = FakeLLM(says=["Wind [2] is moving ![air](javascript:air) ", "here [2]. It has no moving parts ", "[1]."])
    pieces = list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert [piece.unchecked for piece in pieces if isinstance(piece, Token)] == ["Wind", " It has no moving parts"]


def test_without_checks_words_stand_as_they_come_and_the_mark_when_the_sentence_ends() -> None:
    llm = FakeLLM(says=["La limite ", "de Betz est ", "16/27 [2", "]. Voi", "là."])
    pieces = synthesizer(llm, Rules(checked=False)).write("?", PASSAGES, Citations(), threading.Event())

    assert list(pieces) == ["La limite", " de Betz est", " 16/27", " [1].", " Voilà."]


@given(
    st.lists(
        st.sampled_from(
            ["Wind", " moves", " air", " 3.5", ".", ". ", " [2]", " [7]", "\n", "\n- ", "\n## ", " 2. ", "<b"]
        )
    ),
    st.integers(1, 9),
    st.sampled_from([None, 6]),
)
def test_without_checks_the_words_that_went_ahead_begin_the_same_sentences(
    words: list[str], size: int, most: int | None
) -> None:
    said = f"Air moves {''.join(words)} blades."
    parts = [said[start : start + size] for start in range(0, len(said), size)]
    rules = Rules(checked=False, max_words=most)
    reading, citations = MarkedSentences(), Citations()
    whole = Draft(PASSAGES, Evidence(PASSAGES, WordHashEmbedding()), citations, rules)
    finished = [sentence for part in parts for sentence in reading.feed(part)]
    expected = "".join(map(whole.add, [*finished, *reading.finish()]))

    llm = FakeLLM(says=parts)

    assert text_of(synthesizer(llm, rules).write("?", PASSAGES, Citations(), threading.Event())) == expected


def test_thoughts_become_steps_paragraph_by_paragraph_and_never_text() -> None:
    llm = FakeLLM(says=["<think>Which wind", "?\n\nThe <b>one", " that moves.</think>", "Wind is moving air [2]."])
    pieces = list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert [piece.text for piece in pieces if isinstance(piece, Step)] == [
        "**Thinking**: Which wind?",
        "**Thinking**: The < b>one that moves.",
    ]
    assert text_of(pieces) == "Wind is moving air [1]."


def test_reasoning_that_comes_beside_the_text_becomes_steps_too() -> None:
    llm = FakeLLM(says=[Thought("Let me "), Thought("see."), "Wind is moving air [2]."])
    pieces = list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert pieces[0] == Step("think", "**Thinking**: Let me see.")
    assert text_of(pieces) == "Wind is moving air [1]."


def test_only_the_beginning_of_long_thoughts_is_told() -> None:
    llm = FakeLLM(says=["<think>", *["Hm, what is wind? "] * 1000, "</think>", "Wind is moving air [2]."])
    pieces = list(synthesizer(llm).write("?", PASSAGES, Citations(), threading.Event()))

    assert 4000 <= sum(len(piece.text) for piece in pieces if isinstance(piece, Step)) < 5000
