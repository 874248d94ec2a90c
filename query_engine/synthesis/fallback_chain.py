"""Let the synthesizers write, one after the other until one succeeds, each within its time.

Flow: engine (passages that passed the gate) -> **here** runs a `Synthesizer` in a thread -> tokens, steps, withdrawals
-> engine. A language model has to leave time for the quotes that take over where it fails. When its time is over, what
it wrote stands if a sentence of it is whole; otherwise the next synthesizer begins at once, while the model is stopped.
"""

import logging
import re
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, wait
from typing import Any

from llama_index.core.base.response.schema import Response
from llama_index.core.instrumentation.events.synthesis import SynthesizeEndEvent, SynthesizeStartEvent
from llama_index_instrumentation import get_dispatcher

from errors import LLMError, OutOfTimeError, RagError
from index.lexical.language import question_language
from query_engine import steps
from query_engine.reader.nearest import first_words
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import BackgroundIterator
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.citations import Citations
from query_engine.schema.events import Citation, Done, Event, Nearest, Restarted, Step, Token, Unsupported
from query_engine.schema.manner import AS_SET
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import ms_since
from query_engine.schema.source import Source
from query_engine.schema.turn import Turn
from query_engine.synthesis.base import Declined, Piece, Synthesizer, Writer
from query_engine.synthesis.places import best_place
from query_engine.synthesis.quoting import within
from query_engine.synthesis.unsupported import Held, unsupported
from query_engine.text.words import MARK
from query_engine.translations import in_language

# Kept free for quoting, which takes a tenth of a second on an idle machine.
QUOTING_S = 5.0
CUT = " …"
TOO_SLOW = "The {synthesizer} synthesizer had not finished when the time for it was over."
_WHOLE_SENTENCE = re.compile(r"\w[.!?][\"'”’)]*(?:\s|\Z)")

logger = logging.getLogger(__name__)
dispatcher = get_dispatcher(__name__)


class Answer:
    """An answer while it grows.

    Attributes:
        question: as it is searched for.
        asked: as it was typed; for language models.
        turns: the conversation before it, oldest first; for language models.
        query_time: when it was asked, in the client's words; for language models.
        manner: how they write.
        explains: a declined answer says why; otherwise it is "I don't know." alone.
        passages, warnings, timings_ms, fingerprint: of the last event, see `events.Done`.
        sources: what language models read.
        decline_text: how a language model declined; empty if it did not.
        nearest: of the last event; while it is empty, a declined answer takes the first words of the passages.
        synthesizer: who writes; None before anyone did.
        text: what it wrote.
        citations: what it cited.
        cited: how many quotes `citations` had recorded when the last piece of `text` was written.
        threads: those that work for it beside its stages: language models, rounds of research and their searches.
    """

    def __init__(self, question: str, query_time: str | None = None, *, explains: bool = True) -> None:
        self.question = self.asked = question
        self.turns: tuple[Turn, ...] = ()
        self.query_time = query_time
        self.manner = AS_SET
        self.explains = explains
        self.passages: tuple[Passage, ...] = ()
        self.sources: tuple[Source, ...] = ()
        self.nearest: tuple[Nearest, ...] = ()
        self.warnings: list[AnswerWarning] = []
        self.timings_ms: dict[str, float] = {}
        self.fingerprint = ""
        self._started = time.perf_counter()
        self.threads: list[Future[Any]] = []
        self.begin(None)

    def begin(self, synthesizer: str | None) -> None:
        """Start over with a new synthesizer."""
        self.synthesizer = synthesizer
        self.text = self.decline_text = ""
        self.unsupported: tuple[Unsupported, ...] = ()
        self.citations = Citations()
        self.cited = 0

    def done(self, gate_reason: str, message: str = steps.NO_ANSWER, **values: str) -> Done:
        """Close the answer; without text by a message of `steps.py`, `values` standing in its braces."""
        text = self.text.strip() or None
        nearest = self.nearest if text or self.explains else ()
        if text is None and self.explains:
            nearest = nearest or first_words(self.passages)
            message = self.decline_text or in_language(message, question_language(self.question), **values)
        self.timings_ms["total"] = ms_since(self._started)
        return Done(
            answer=text,
            message=text or (message if self.explains else steps.DONT_KNOW),
            citations=self._cited(text) if text else (),
            passages=self.passages,
            gate_reason=gate_reason,
            synthesizer=self.synthesizer if text else None,
            warnings=tuple(self.warnings),
            timings_ms=self.timings_ms,
            fingerprint=self.fingerprint,
            nearest=nearest,
            decline_text="" if text else self.decline_text,
            unsupported=self.unsupported if text else (),
        )

    def _cited(self, text: str) -> tuple[Citation, ...]:
        """Return what the text cites; marks whose sentence time cut short cite the place nearest to all of it."""
        cited, cut_short = self.citations.all(self.cited), Citations()
        for number in {int(mark) for mark in MARK.findall(text)} - {citation.number for citation in cited}:
            if passage := self.citations.passage(number):
                cut_short.cite(passage, *best_place(passage, text), number=number)
        return tuple(sorted((*cited, *cut_short.all()), key=lambda citation: (citation.number, citation.start)))

    def add(self, piece: Piece, cited: int) -> Event:
        """Append a piece, with the number of quotes recorded by its end, and return its event."""
        match piece:
            case Step():
                return piece
            case Restarted():
                self.text, self.cited = "", 0
                return piece
            case Declined(text):
                self.decline_text = text
                return Token("")
        token = Token(piece, self.citations.between(self.cited, cited))
        self.cited = cited
        self.text += token.text
        return token

    def read(self, model: Writer, question: str) -> BackgroundIterator[tuple[Piece, int]]:
        """Begin to read a language model in a thread that belongs to this answer: pieces with the quotes recorded then.

        A model that is being given up goes on citing for a moment. So the citations are bound now and counted with each
        piece: a late piece cannot cite into the next model's answer.
        """
        sources, citations = self.sources, self.citations

        def pieces(stop: threading.Event) -> Iterator[tuple[Piece, int]]:
            for piece in model.write(question, sources, citations, stop, self.turns, self.manner):
                yield piece, citations.recorded
            # What ends with the text is cited after it.
            yield "", citations.recorded

        reading = BackgroundIterator(pieces)
        self.threads.append(reading.thread)
        return reading

    def join(self) -> None:
        """Wait until `threads` have ended, and those that they add meanwhile; blocks."""
        for thread in self.threads:
            wait([thread])

    def out_of_time(self, reason: str) -> Iterator[Event]:
        """Close the answer with what was written."""
        self.warnings.append(AnswerWarning(OutOfTimeError.code, reason))
        yield steps.out_of_time(reason)
        if self.text.strip():
            yield self.done("generated_answer")
        else:
            yield self.done("generated_no_answer_but_confident" if self.passages else "no_retrieval", steps.TOO_LATE)


def write(
    models: Sequence[Writer],
    quoting: Synthesizer,
    answer: Answer,
    deadline: Deadline,
    max_words: int | None = None,
) -> Generator[Event, None, None]:
    """Yield what is written, `answer` growing with it, until a synthesizer has finished.

    Args:
        models: in order. They run in threads, which `answer.join` waits for.
        quoting: writes if they fail; it needs no model and never fails.
        answer: with its passages and sources.
        deadline: of the whole answer.
        max_words: of quotes; language models have their own limit. None sets none.

    Raises:
        OutOfTimeError: nobody waits for the answer.
    """
    started = time.perf_counter()
    try:
        for model in models:
            yield from _begun(model, answer)
            failure = yield from _by_model(model, answer, deadline.sparing(QUOTING_S))
            if failure is None:
                told = [answer.asked, *(turn.text for turn in answer.turns)]
                told += [f"{one.header}\n{one.text}" for one in answer.sources]
                # Places count from the first character that is shown.
                answer.unsupported = unsupported(answer.text.strip(), Held(told))
                break
            yield from _given_up(answer, model.name, failure)
            if answer.text:
                break
        else:
            yield from _begun(quoting, answer)
            quotes = quoting.write(answer.question, answer.passages, answer.citations, deadline.stop)
            for piece in within(quotes, max_words):
                yield answer.add(piece, answer.citations.recorded)
        dispatcher.event(SynthesizeEndEvent(query=answer.question, response=Response(answer.text)))
    finally:
        answer.timings_ms["write"] = ms_since(started)
    for warning in answer.citations.warnings():
        answer.warnings.append(warning)
        yield steps.warned(warning)
    if answer.unsupported:
        yield steps.unsupported([one.text for one in answer.unsupported])


def _begun(synthesizer: Synthesizer | Writer, answer: Answer) -> Iterator[Event]:
    answer.begin(synthesizer.name)
    yield steps.writing(synthesizer.name)
    dispatcher.event(SynthesizeStartEvent(query=answer.question))


def _by_model(model: Writer, answer: Answer, limit: Deadline) -> Generator[Event, None, RagError | None]:
    """Yield what the model writes; return why it failed, None if it did not."""
    question = answer.asked
    if answer.query_time:
        question = f"{question} (asked on {' '.join(answer.query_time.split())})"
    pieces = answer.read(model, question)
    try:
        for piece, cited in pieces.read(limit):
            yield answer.add(piece, cited)
    except OutOfTimeError:
        raise  # nobody waits for the answer
    except RagError as error:
        return error
    except TimeoutError:
        return OutOfTimeError(TOO_SLOW.format(synthesizer=model.name), "Raise RAG_ANSWER__DEADLINE_S.")
    except Exception:
        logger.exception("The %s synthesizer failed in an unforeseen way", model.name)
        return LLMError.unforeseen(f"The {model.name} synthesizer")
    finally:
        pieces.stop()
    return None


def _given_up(answer: Answer, synthesizer: str, failure: RagError) -> Iterator[Event]:
    """Keep what a synthesizer wrote, if only time was short and it makes sense; else withdraw it."""
    logger.warning("The %s synthesizer failed: %s", synthesizer, failure.fact)
    answer.warnings.append(AnswerWarning.of(failure))
    if isinstance(failure, OutOfTimeError) and _WHOLE_SENTENCE.search(answer.text):
        answer.text += CUT
        yield Token(CUT)
        yield steps.out_of_time(failure.fact)
        return
    if answer.text:
        answer.text = ""
        yield Restarted(failure.fact)
    yield steps.failed(synthesizer, failure)
