"""Ask every sub-question of a topic, and each gap once more in its other wording.

Flow: topic -> `outline.py` -> **here**, through an engine -> findings -> `/agent/research`, `report.py`. The
answers are the engine's, with its gate and its citations; this module only asks, one sub-question after the other, each
within an equal share of the time that is left.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace

from errors import RagError
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.steps import DONT_KNOW
from query_engine.text.content_words import content_stems
from research.topic import steps
from research.topic.findings import Finding
from research.topic.outline import Subquestion, is_named
from research.topic.statements import Statement, statements_of

OFF_SUBJECT = "What was found speaks of something else: it does not name “{about}”."
NO_TIME = f"{DONT_KNOW} The time was over before this was asked."
# Less is not enough to search and to read.
LEAST_S = 0.2

Ask = Callable[[Inquiry], AsyncGenerator[Event, None]]


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
        if not statements and one.again and deadline.left_s() > LEAST_S * left:
            retried = one.again
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

    def speaks_of_it(citation: Citation) -> bool:
        return is_named(subquestion.about, _around(citation, done))

    return [one for one in statements_of(done) if any(map(speaks_of_it, one.citations))]


def _around(citation: Citation, done: Done) -> str:
    """Return the words of a quote's title, of the quote, and of the passage that it stands in."""
    holding = [
        passage.text
        for passage in done.passages
        if passage.document == citation.document and passage.start <= citation.start < passage.end
    ]
    return " ".join([citation.title, citation.quote, *holding])


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
                if passage.document == citation.document and passage.start <= citation.start < passage.end:
                    kept.setdefault(passage.node_id, passage)
    return tuple(kept.values())
