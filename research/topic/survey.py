"""Ask every sub-question of a topic, and reword and ask each gap once more.

Flow: topic -> `subquestions.py` -> **here**, through an engine -> findings -> `/agent/research`, `report.py`. The
answers are the engine's, with its gate and its citations; this module only asks, one sub-question after the other, each
within an equal share of the time that is left.
"""

import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Protocol

from errors import RagError
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import in_thread
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.steps import DONT_KNOW
from query_engine.synthesis.claims import content_stems
from research.topic import steps
from research.topic.findings import Finding
from research.topic.statements import Statement, statements_of
from research.topic.subject import read_topic
from research.topic.subquestions import Subquestion, make_subquestions, reworded
from settings import RetrievalSettings

OFF_SUBJECT = "What was found speaks of something else: it does not name “{about}”."
NO_TIME = f"{DONT_KNOW} The time was over before this was asked."
# Less is not enough to search and to read.
LEAST_S = 0.2
# Of the words of what is asked about, those that a passage has to hold: of "deep sea mining" not only the sea.
NAMED_SHARE = 2 / 3

Ask = Callable[[Inquiry], AsyncGenerator[Event, None]]


class Found(Protocol):
    """What a search found."""

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Best first."""
        ...


class Engine(Protocol):
    """Answers questions from one corpus, as far as a survey asks it."""

    def retrieve(self, inquiry: Inquiry, options: RetrievalSettings) -> Found:
        """Find passages; blocks."""
        ...

    def fingerprint(self) -> str:
        """Hash everything that decides an answer; blocks."""
        ...


async def outline(engine: Engine, inquiry: Inquiry, options: RetrievalSettings, count: int) -> list[Subquestion]:
    """Return up to `count` sub-questions of the inquiry's text, which the documents' own words helped to make.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    found = await in_thread(partial(engine.retrieve, inquiry, options))
    texts = [passage.text for passage in found.passages]
    subject = read_topic(inquiry.text, texts)
    known = content_stems("\n".join(texts))
    # What the documents call by another name cannot be looked for by this one.
    return [
        one if content_stems(one.about) & known else replace(one, about="")
        for one in make_subquestions(subject, count, texts)
    ]


async def survey(
    ask: Ask, asked: Sequence[Subquestion], inquiry: Inquiry, deadline: Deadline
) -> AsyncGenerator[Step | Finding, None]:
    """Yield what is done, and a finding for each sub-question in order; the last one comes before the deadline.

    Args:
        ask: the engine's `stream`.
        asked: the sub-questions.
        inquiry: its filters, steering and `query_time` count for all of them.
        deadline: of everything; closing the iterator stops the work.
    """
    for place, one in enumerate(asked):
        left = len(asked) - place
        yield steps.asking(place + 1, len(asked), one.text)
        done = await _answered(ask, one.text, inquiry, deadline, deadline.left_s() / left)
        statements, retried = _about(one, done), None
        if not statements and deadline.left_s() > LEAST_S * left:
            retried = reworded(one.text)
            yield steps.asking_again(retried)
            again = await _answered(ask, retried, inquiry, deadline, deadline.left_s() / left)
            statements = _about(one, again)
            done = again if statements else done
        finding = Finding(one.text, done, tuple(statements), retried, "" if statements else _off_subject(one, done))
        yield steps.found(finding)
        yield finding


def _about(subquestion: Subquestion, done: Done) -> list[Statement]:
    """Return the statements of an answer; those whose passages do not name what is asked about are left out."""
    wanted = content_stems(subquestion.about)
    if not wanted:
        return statements_of(done)
    if wanted - content_stems("\n".join(f"{one.title}\n{one.text}" for one in done.passages)):
        return []
    least = math.ceil(len(wanted) * NAMED_SHARE)

    def is_named(citation: Citation) -> bool:
        return len(wanted & _around(citation, done)) >= least

    return [one for one in statements_of(done) if any(map(is_named, one.citations))]


def _around(citation: Citation, done: Done) -> frozenset[str]:
    """Return the words of a quote's title, of the quote, and of the passage that it stands in."""
    holding = [
        passage.text
        for passage in done.passages
        if passage.doc_id == citation.doc_id and passage.start <= citation.start < passage.end
    ]
    return content_stems(" ".join([citation.title, citation.quote, *holding]))


def _off_subject(subquestion: Subquestion, done: Done) -> str:
    """Say why there is no answer though the engine gave one."""
    return "" if done.answer is None else OFF_SUBJECT.format(about=subquestion.about)


async def _answered(ask: Ask, question: str, inquiry: Inquiry, deadline: Deadline, share_s: float) -> Done:
    """Return the engine's last event; that of a gap where it failed."""
    if share_s < LEAST_S:
        return Done.unanswered(NO_TIME)
    part = deadline.subtask(share_s)
    try:
        async with aclosing(ask(replace(inquiry, text=question, turns=(), deadline=part))) as events:
            async for event in events:
                if isinstance(event, Done):
                    return event
    except RagError as error:
        return Done.unanswered(f"{DONT_KNOW} {error}", AnswerWarning.of(error))
    raise RuntimeError("The engine's events ended without Done.")


def passages_of(findings: Sequence[Finding]) -> tuple[Passage, ...]:
    """Return the passages that the findings cite, each once, in order of mention."""
    kept: dict[str, Passage] = {}
    for finding in findings:
        for citation in finding.citations:
            for passage in finding.done.passages:
                if passage.doc_id == citation.doc_id and passage.start <= citation.start < passage.end:
                    kept.setdefault(passage.node_id, passage)
    return tuple(kept.values())
