"""Research a topic: sub-questions, findings, gaps, conflicts, a summary.

Flow: `POST /agent/research` -> **here** -> `survey.py` -> steps, then one `ResearchDone`. The summary is made of the
findings' own words (`summary.py`). A configured language model summarises the passages that the findings cite, with the
same checks and citations as any answer.
"""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from errors import RagError
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Citation, Done, Event, Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import ms_since
from query_engine.synthesis.unsupported import found_again
from research.schema import Engine
from research.topic import steps
from research.topic.citation_numbers import CitationNumbers
from research.topic.conflicts import Conflict, find_conflicts
from research.topic.findings import Finding, each_in_its_place, numbered
from research.topic.outline import outline
from research.topic.statements import Statement, joined, statements_of
from research.topic.summary import NOTHING, summarise
from research.topic.survey import Ask, passages_of, survey
from settings import RetrievalSettings

# Of the time, for a model that writes the summary.
SUMMARY_SHARE = 0.25
QUOTED_BY = "extractive"

Write = Callable[[Inquiry, Sequence[Passage]], AsyncGenerator[Event, None]]
"""Answers an inquiry from these passages by a language model."""


@dataclass(frozen=True, slots=True)
class TopicResearch:
    """What was found out about a topic.

    Attributes:
        conflicts: statements of it that may contradict each other.
        summary: Markdown; its marks and those of the findings are numbered together.
        summarised_by: the synthesizer that wrote the summary, `extractive` where it is made of quotes.
        citations: all of them, ordered by number.
    """

    topic: str
    findings: tuple[Finding, ...]
    conflicts: tuple[Conflict, ...]
    summary: str
    summarised_by: str
    citations: tuple[Citation, ...]

    @property
    def warnings(self) -> tuple[AnswerWarning, ...]:
        """What lowered the quality of the findings, each told once."""
        return tuple(dict.fromkeys(warning for one in self.findings for warning in one.done.warnings))


@dataclass(frozen=True, slots=True)
class ResearchDone(Done):
    """The last event; `answer` is the summary, None if every sub-question is a gap."""

    research: TopicResearch | None = None


async def research_topic(
    engine: Engine,
    ask: Ask,
    inquiry: Inquiry,
    options: RetrievalSettings,
    count: int,
    *,
    write: Write | None,
    deadline: Deadline,
) -> AsyncGenerator[Event, None]:
    """Yield what is done, then one `ResearchDone`, before the deadline.

    Args:
        engine: of the corpus.
        ask: its `stream`.
        inquiry: the topic as `text`; filters, steering and `query_time` count for every sub-question.
        options: of the first search, whose sections are what is asked about.
        count: sub-questions, at most.
        write: sums up by a language model; None where none writes.
        deadline: of everything; closing the iterator stops the work.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    started = time.perf_counter()
    numbers = CitationNumbers()
    asked = await outline(engine, inquiry, options, count)
    yield steps.outlined([one.text for one in asked])
    findings: list[Finding] = []
    by_model = write is not None
    limit = deadline.sparing(deadline.left_s() * SUMMARY_SHARE) if by_model else deadline
    async with aclosing(survey(ask, asked, inquiry, limit)) as course:
        async for one in course:
            if isinstance(one, Finding):
                findings.append(one)
            else:
                yield one
    findings = numbered(each_in_its_place(findings), numbers)
    gaps = sum(not one.statements for one in findings)
    yield steps.summing_up(len(findings) - gaps, gaps)
    summary, author = summarise(findings), QUOTED_BY
    warnings: list[AnswerWarning] = []
    if write is not None and gaps < len(findings):
        async with aclosing(_written(write, inquiry, findings, deadline)) as course:
            async for event in course:
                if not isinstance(event, Done):
                    yield event
                elif event.synthesizer not in (None, QUOTED_BY):
                    written = [Statement(one.text, numbers.number(one.citations)) for one in statements_of(event)]
                    summary, author = joined(written) or summary, event.synthesizer or author
                else:
                    warnings += event.warnings
    conflicts = tuple(find_conflicts(findings))
    found = TopicResearch(inquiry.text, tuple(findings), conflicts, summary, author, numbers.all())
    yield _done(found, warnings, ms_since(started))


async def _written(
    write: Write, inquiry: Inquiry, findings: Sequence[Finding], deadline: Deadline
) -> AsyncGenerator[Event, None]:
    """Yield the steps of a model that sums up, and its `Done`; a failure leaves the summary to the quotes."""
    question = inquiry.text if inquiry.text.endswith("?") else f"What do the documents say about {inquiry.text}?"
    asked = replace(inquiry, text=question, deadline=deadline.subtask(deadline.left_s()))
    try:
        async with aclosing(write(asked, passages_of(findings))) as events:
            async for event in events:
                if isinstance(event, Step | Done):
                    yield event
    except RagError as error:
        yield steps.not_summed_up(error)


def _done(found: TopicResearch, warnings: Sequence[AnswerWarning], total_ms: float) -> ResearchDone:
    prints = [one.done.fingerprint for one in found.findings if one.done.fingerprint]
    return ResearchDone(
        answer=None if found.summary == NOTHING else found.summary,
        message=found.summary,
        citations=found.citations,
        passages=passages_of(found.findings),
        gate_reason="generated_answer" if found.summary != NOTHING else "no_retrieval",
        synthesizer=found.summarised_by,
        warnings=tuple(dict.fromkeys([*found.warnings, *warnings])),
        timings_ms={"total": total_ms},
        fingerprint=prints[0] if prints else "",
        unsupported=found_again((one.text for each in found.findings for one in each.done.unsupported), found.summary),
        research=found,
    )
