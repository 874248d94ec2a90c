"""The main path over real stores with a fake embedder: events, gate, synthesizers, failures."""

from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings as LlamaSettings
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import ResponseMode
from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.event_handlers import BaseEventHandler
from pydantic import Field

from errors import LLMError, QuestionError
from index.corpus import Corpus
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done, Event, Restarted, Retrieved, Step, Token
from query_engine.schema.turn import Turn
from query_engine.synthesis.base import Piece, Writer
from settings import AnswerSettings, LLMSettings, RetrievalSettings, Settings
from tests.fakes.corpora import fill, make_corpus, put, stored
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader
from tests.fakes.synthesizers import ScriptedSynthesizer, on_screen

TEXTS = {
    "wind.md": "Turbines turn wind into power. Albert Betz published the rotor limit in 1919. Gearboxes wear out.",
    "water.md": "Dams hold water back. Rivers run turbines too. Fish need ladders.",
}
QUESTION = "Who published the rotor limit in 1919?"

MakeEngine = Callable[..., Engine]
DEFAULTS = Settings()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[MakeEngine]:
    opened: list[Corpus] = []

    def make_engine(*synthesizers: Writer, texts: dict[str, str] = TEXTS, settings: Settings = DEFAULTS) -> Engine:
        embedder = WordHashEmbedding()
        corpus = make_corpus(tmp_path / f"books{len(opened)}", texts, embedder)
        opened.append(corpus)
        return Engine(corpus, embedder, a_leaf_reader(corpus), synthesizers, settings=settings)

    yield make_engine
    for corpus in opened:
        corpus.close()


async def answer(engine: Engine, question: str = QUESTION) -> tuple[list[Event], Done]:
    events = [event async for event in engine.stream(Inquiry(question))]
    done = events[-1]
    assert isinstance(done, Done)
    return events, done


async def test_an_answer_is_quoted_cited_and_explained(make: MakeEngine) -> None:
    engine = make()
    _, done = await answer(engine)

    assert done.answer is not None
    assert "Albert Betz published the rotor limit in 1919." in done.answer
    assert done.answer.endswith(" [1]")
    assert done.synthesizer == "extractive"
    assert done.gate_reason == "generated_answer"
    for citation in done.citations:
        assert TEXTS[citation.doc_id][citation.start : citation.end] == citation.quote
    assert done.timings_ms.keys() == {"retrieve", "write", "total"}
    assert {one.doc_id for one in done.nearest} == {"water.md"}


async def test_events_keep_their_order_and_tokens_are_the_answer(make: MakeEngine) -> None:
    events, done = await answer(make())
    kinds = [type(event) for event in events]

    assert kinds[0] is Step
    assert kinds.index(Retrieved) < kinds.index(Token)
    assert kinds.count(Done) == 1
    assert on_screen(events) == done.answer == done.message


async def test_steps_say_what_was_searched_found_and_decided(make: MakeEngine) -> None:
    events, _ = await answer(make())
    steps = [(event.kind, event.text) for event in events if isinstance(event, Step)]

    assert [kind for kind, _ in steps][:2] == ["search", "found"]
    assert QUESTION in steps[0][1]
    assert "*wind.md*: " in steps[1][1]
    assert steps[-1][0] == "write"


async def test_a_foreign_question_is_declined_before_anyone_writes(make: MakeEngine) -> None:
    events, done = await answer(make(), "Which colour has the zebra mussel?")

    assert done.answer is None
    assert done.message == "I don't know. The passages found do not answer this."
    assert done.citations == ()
    assert {one.doc_id for one in done.nearest} == {"wind.md", "water.md"}
    assert all(TEXTS[one.doc_id][one.start : one.end] == one.quote for one in done.nearest)
    assert done.gate_reason == "generated_no_answer_low_confidence"
    assert done.synthesizer is None
    assert not any(isinstance(event, Token) for event in events)


@pytest.mark.promise("B16")
async def test_a_declined_question_is_answered_by_one_sentence_where_that_is_set(make: MakeEngine) -> None:
    engine = make(settings=Settings(answer=AnswerSettings(decline="exact")))

    done = (await answer(engine, "Which colour has the zebra mussel?"))[1]
    assert (done.answer, done.message, done.nearest) == (None, "I don't know.", ())
    assert (await answer(engine))[1].answer is not None


@pytest.mark.promise("B18")
async def test_a_question_with_a_refused_word_is_declined_and_nothing_is_searched(make: MakeEngine) -> None:
    engine = make(settings=Settings(answer=AnswerSettings(refuse_words="mean, limit")))

    events, done = await answer(engine)
    assert done.answer is None
    assert done.message.startswith("I don't know.")
    assert "limit" in done.message
    assert [type(event) for event in events] == [Step, Done]
    assert (await answer(engine, "What does water that is limitless meander through?"))[1].passages
    follow_up = Inquiry("When?", turns=(Turn("user", "Who published the rotor limit?"), Turn("assistant", "Betz.")))
    *_, last = [event async for event in engine.stream(follow_up)]
    assert isinstance(last, Done)
    assert "limit" in last.message


@pytest.mark.promise("B14")
async def test_a_quoted_answer_keeps_within_the_words_that_the_prompt_promises(make: MakeEngine) -> None:
    long = f"Albert Betz published the rotor limit {'in a book ' * 20}of 1919."
    settings = Settings(llm=LLMSettings(prompt="short"), answer=AnswerSettings(min_confidence=0))
    engine = make(ScriptedSynthesizer(LLMError("It broke.", "Mend it.")), texts={"long.md": long}, settings=settings)

    done = (await answer(engine))[1]
    assert done.answer is not None
    assert len(done.answer.split()) <= 50
    assert done.answer.endswith("… [1]")
    assert len(done.citations) == 1


@pytest.mark.parametrize(
    ("question", "language", "told"),
    [
        ("Wer hat die Grenze für den rotor im Jahr 1919 published?", "en", True),
        (QUESTION, "en", False),
        ("Wer hat die Grenze für den rotor im Jahr 1919 published?", "de", False),
    ],
)
async def test_a_question_in_another_language_than_the_documents_is_told_if_the_model_reads_one(
    make: MakeEngine, question: str, language: str, told: bool
) -> None:
    engine = make(texts={})
    put(engine.corpus, [stored("wind.md", TEXTS["wind.md"], language=language)], WordHashEmbedding())

    done = (await answer(engine, question))[1]
    warned = [warning.text for warning in done.warnings if warning.code == "other_language"]
    assert [("English" in text, "reembed" in text) for text in warned] == [(True, True)] * told


async def test_a_doubtful_answer_is_given_and_said_to_be_doubtful(make: MakeEngine) -> None:
    certain = (await answer(make()))[1]
    events, doubtful = await answer(make(settings=Settings(answer=AnswerSettings(low_confidence=1.0))))

    assert doubtful.answer == certain.answer
    assert doubtful.gate_reason == "generated_answer"
    assert [warning.code for warning in doubtful.warnings] == ["low_confidence"]
    assert certain.warnings == ()
    assert any(isinstance(event, Step) and event.text.startswith("**Low confidence**") for event in events)


async def test_an_author_that_finds_nothing_makes_a_declined_answer(make: MakeEngine) -> None:
    _, done = await answer(make(ScriptedSynthesizer()))

    assert (done.answer, done.gate_reason) == (None, "generated_no_answer_but_confident")
    assert done.message == "I don't know. The passages found do not answer this."
    assert "Albert Betz published the rotor limit in 1919." in done.nearest[0].quote


async def test_an_empty_corpus_says_so(make: MakeEngine) -> None:
    events, done = await answer(make(texts={}))

    assert done.answer is None
    assert done.gate_reason == "no_retrieval"
    assert "holds no documents yet" in done.message
    assert len([event for event in events if isinstance(event, Step)]) >= 2


async def test_a_model_that_writes_is_named_and_its_citations_kept(make: MakeEngine) -> None:
    _, done = await answer(make(ScriptedSynthesizer("Betz did. ", "[cite]")))

    assert done.answer == "Betz did. [1]"
    assert done.synthesizer == "openai"
    assert [citation.doc_id for citation in done.citations] == ["wind.md"]


async def test_a_dead_model_is_replaced_by_quotes_and_named(make: MakeEngine) -> None:
    events, done = await answer(make(ScriptedSynthesizer(LLMError("The server refused.", "Start it."))))

    assert done.synthesizer == "extractive"
    assert done.warnings == (AnswerWarning("llm_failed", "The server refused."),)
    assert not any(isinstance(event, Restarted) for event in events)
    assert any(isinstance(event, Step) and event.kind == "warning" for event in events)


async def test_a_model_cut_mid_answer_leaves_no_trace_in_the_answer(make: MakeEngine) -> None:
    synthesizer = ScriptedSynthesizer("Half an ", "[cite]", LLMError("The answer was cut.", "Try again."))
    events, done = await answer(make(synthesizer))

    assert any(isinstance(event, Restarted) for event in events)
    assert "Half an" not in (done.answer or "")
    assert on_screen(events) == done.answer
    assert done.synthesizer == "extractive"
    numbers = {citation.number for citation in done.citations}
    assert numbers == set(range(1, len(numbers) + 1))


DOUBTING = Settings(answer=AnswerSettings(min_confidence=1.0))


async def test_a_language_model_judges_itself_whether_the_passages_answer(make: MakeEngine) -> None:
    _, asked = await answer(make(ScriptedSynthesizer("Betz published it. ", "[cite]"), settings=DOUBTING))
    _, not_asked = await answer(make(settings=DOUBTING))

    assert asked.answer == "Betz published it. [1]"
    assert asked.warnings == (), "it decided by itself"
    assert not_asked.answer is None
    assert not_asked.gate_reason == "generated_no_answer_low_confidence"


async def test_a_model_that_writes_nothing_where_none_was_expected_declines_for_low_confidence(
    make: MakeEngine,
) -> None:
    _, done = await answer(make(ScriptedSynthesizer(""), settings=DOUBTING))

    assert done.answer is None
    assert done.gate_reason == "generated_no_answer_low_confidence"


async def test_no_quote_takes_over_for_a_model_that_failed_where_no_answer_is_expected(make: MakeEngine) -> None:
    _, done = await answer(make(ScriptedSynthesizer(LLMError("down", "Start it.", code="llm_down")), settings=DOUBTING))

    assert done.answer is None
    assert done.message.startswith("I don't know.")
    assert [warning.code for warning in done.warnings] == ["llm_down"], "doubt belongs to quotes"


async def test_leaving_stops_the_model(make: MakeEngine) -> None:
    synthesizer = ScriptedSynthesizer("One ", endless=True)
    async with aclosing(make(synthesizer).stream(Inquiry(QUESTION))) as events:
        async for event in events:
            if isinstance(event, Token):
                break

    assert synthesizer.stopped.is_set()


async def test_what_is_no_question_fails_before_the_first_event(make: MakeEngine) -> None:
    with pytest.raises(QuestionError, match="blank"):
        await anext(make().stream(Inquiry("  ")))


async def test_the_fingerprint_follows_the_documents(make: MakeEngine) -> None:
    engine = make()
    before = (await answer(engine))[1].fingerprint
    again = (await answer(engine))[1].fingerprint
    fill(engine.corpus, {"new.md": "Waves carry energy."}, WordHashEmbedding())

    assert before == again
    assert (await answer(engine))[1].fingerprint != before


@pytest.mark.promise("G09")
@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
def test_each_mode_finds_the_sentence(make: MakeEngine, mode: Any) -> None:
    found = make().retrieve(Inquiry(QUESTION), RetrievalSettings(mode=mode, merge=False)).passages

    assert found[0].text == "Albert Betz published the rotor limit in 1919."
    by_meaning, by_words = {"dense", "neighbours", "parent"}, {"lexical", "family", "names"}
    expected = {"hybrid": by_meaning | by_words, "dense": by_meaning, "lexical": by_words}
    assert found[0].scores.keys() == expected[mode] | {"fused"}


def test_passages_are_slices_of_their_documents(make: MakeEngine) -> None:
    for passage in make().retrieve(Inquiry("turbines")).passages:
        assert TEXTS[passage.doc_id][passage.start : passage.end] == passage.text


def test_retrieval_serves_any_llamaindex_query_engine(make: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without an explicit model LlamaIndex would look for a key of a paid service.
    monkeypatch.setattr(LlamaSettings, "_llm", MockLLM())
    query_engine = RetrieverQueryEngine.from_args(
        make().search.retriever(), llm=MockLLM(), response_mode=ResponseMode.NO_TEXT
    )

    sources = query_engine.query(QUESTION).source_nodes

    assert any("Albert Betz" in source.node.get_content() for source in sources)


async def test_a_question_that_points_back_is_answered_with_the_words_of_the_one_before(make: MakeEngine) -> None:
    turns = (Turn("user", "What is the rotor limit?"), Turn("assistant", "I don't know."))
    events = [event async for event in make().stream(Inquiry("Who published it?", turns=turns))]
    done = events[-1]

    assert isinstance(done, Done)
    assert "Albert Betz" in (done.answer or "")
    assert [event.text for event in events if isinstance(event, Step) and event.kind == "conversation"] == [
        "**Reading** the question with the 2 messages before it.",
        "**The question points back**, so it takes along the words of the one before: "
        "“Who published it (rotor limit)?”",
    ]


@pytest.mark.promise("B09")
async def test_an_answer_is_written_from_no_more_passages_than_wanted_and_judged_by_all(make: MakeEngine) -> None:
    engine = make()
    streams = [[event async for event in engine.stream(Inquiry(QUESTION, top_k=top_k))] for top_k in (1, None)]
    few, all_of_them = (events[-1] for events in streams)

    assert isinstance(few, Done)
    assert isinstance(all_of_them, Done)
    assert few.passages == all_of_them.passages[:1]
    assert len(all_of_them.passages) == 2
    judged = [
        [event.text for event in events if isinstance(event, Step) and event.kind == "gate"] for events in streams
    ]
    assert judged[0] == judged[1]


class Recorder(BaseEventHandler):
    """Keeps the names of LlamaIndex's events."""

    names: list[str] = Field(default_factory=list)

    def handle(self, event: Any, **_: Any) -> None:
        self.names.append(event.class_name())


async def test_retrieval_and_synthesis_emit_llamaindex_events(make: MakeEngine) -> None:
    recorder = Recorder()
    root = get_dispatcher()
    root.add_event_handler(recorder)
    try:
        await answer(make())
    finally:
        root.event_handlers.remove(recorder)

    for name in ("RetrievalStartEvent", "RetrievalEndEvent", "SynthesizeStartEvent", "SynthesizeEndEvent"):
        assert name in recorder.names


BOTH = "Who published the rotor limit in 1919, and which rivers run turbines too?"


async def test_planning_can_be_switched_off_and_simple_questions_never_plan(make: MakeEngine) -> None:
    simple, _ = await answer(make())
    off, _ = await answer(make(settings=Settings(answer=AnswerSettings(plan=False))), BOTH)

    for events in (simple, off):
        assert not [event for event in events if isinstance(event, Step) and event.kind == "plan"]


LEASE = "Lease of Unit 6, Mill Lane\n\nProperty: Unit 6, Mill Lane, Brixby\n\n" + "\n\n".join(
    [
        "The rent is nine hundred pounds a month. It is paid on the first day of each month by bank transfer. " * 6,
        "The landlord repairs the roof and the walls.",
        "No machine may run after ten in the evening. Vehicles may not be left overnight on the paved ground. " * 6,
        "Three months of notice are needed. The keys are given back on the last day, and the rooms are clean. " * 6,
    ]
)


async def test_a_language_model_is_told_the_question_as_it_was_typed_after_its_conversation(make: MakeEngine) -> None:
    told = []

    class Model(ScriptedSynthesizer):
        def write(self, question: str, *rest: Any) -> Iterator[Piece]:
            told.append((question, rest[-2]))
            return super().write(question, *rest)

    engine = make(Model("The landlord repairs the roof.", "[cite]"), texts={"lease.md": LEASE})
    typed = "Who repairs the roof and the wals at Mill Lane?"
    _, done = await answer(engine, typed)
    assert (told, done.synthesizer) == ([(typed, ())], "openai")

    turns = (Turn("user", "What does the landlord repair?"), Turn("assistant", "The **roof** and the walls. [1]"))
    async for _ in engine.stream(Inquiry("And who repairs it?", turns=turns)):
        pass
    assert told[1] == ("And who repairs it?", turns)


async def test_what_was_said_before_is_not_marked_as_held_by_no_source(make: MakeEngine) -> None:
    engine = make(ScriptedSynthesizer("Unit 4711 has a roof and Unit 4712.", "[cite]"), texts={"lease.md": LEASE})
    turns = (Turn("user", "I rent Unit 4711."), Turn("assistant", "Good."))

    *_, done = [event async for event in engine.stream(Inquiry("Who repairs its roof?", turns=turns))]

    assert isinstance(done, Done)
    assert [one.text for one in done.unsupported] == ["4712"]


async def test_a_question_that_is_declined_is_told_so_in_its_language(make: MakeEngine) -> None:
    _, done = await answer(make(), "Wie viele Leute dürfen bei einer Führung mitgehen?")

    assert done.message.startswith("I don't know. Die gefundenen Stellen beantworten diese Frage nicht.")
