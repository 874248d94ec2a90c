"""Answer a question by a report: sections by sub-question, what is not known, and contradictions.

Flow: `RAG_ANSWER__FORM=report` -> `api/answering/forms.py` -> **here** (`survey.py` asks) -> the events of an answer,
whose text is Markdown; the references, which need links, are added by the service. Citations are numbered consecutively
through the report, and no sentence is in two sections.
"""

import re
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import DOUBTS
from query_engine.schema.events import Citation, Done, Event, Retrieved, Token
from query_engine.schema.retrieval_result import ms_since
from query_engine.steps import warned
from query_engine.synthesis.unsupported import found_again
from query_engine.text.markdown_escape import as_text
from research.schema import Engine
from research.topic import steps
from research.topic.citation_numbers import CitationNumbers, marks
from research.topic.conflicts import Conflict, find_conflicts
from research.topic.findings import Finding, each_in_its_place, numbered
from research.topic.outline import outline
from research.topic.statements import joined
from research.topic.survey import Ask, passages_of, survey
from settings import RetrievalSettings

SUBQUESTIONS = 6
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, which is empty for the first words of a report, and what stands under it."""

    heading: str
    text: str

    def shown(self) -> str:
        """Return it as Markdown."""
        return f"## {self.heading}\n\n{self.text}" if self.heading else self.text


async def stream_report(
    engine: Engine, ask: Ask, inquiry: Inquiry, options: RetrievalSettings, deadline: Deadline
) -> AsyncGenerator[Event, None]:
    """Yield what is done, then the report section by section, then one `Done`, before the deadline.

    Args:
        engine: of the corpus.
        ask: answers a sub-question: the engine's `stream`, or a loop over it.
        inquiry: the question; filters, steering, mode and `query_time` count for every sub-question.
        options: of the first search, whose sections are what is asked about.
        deadline: of everything; closing the iterator stops the work.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    started = time.perf_counter()
    asked = await outline(engine, inquiry, options, SUBQUESTIONS)
    yield steps.outlined([one.text for one in asked])
    findings: list[Finding] = []
    async with aclosing(survey(ask, asked, inquiry, deadline)) as course:
        async for one in course:
            if not isinstance(one, Finding):
                yield one
            elif one.done.synthesizer == "catalogue":  # not written from passages
                yield one.done
                return
            else:
                findings.append(one)
    numbers = CitationNumbers()
    told = numbered([one for one in each_in_its_place(findings, strict=True) if one.statements], numbers)
    gaps = [one for one in findings if one.status == "gap"]
    total_ms = {"total": ms_since(started)}
    if not told:
        yield replace(findings[0].done, timings_ms=total_ms)
        return
    warnings = tuple(dict.fromkeys(warning for one in findings for warning in one.done.warnings))
    for warning in warnings:
        if warning.code not in DOUBTS:  # of single sections, which doubt shows in the reply
            yield warned(warning)
    yield steps.summing_up(len(findings) - len(gaps), len(gaps))
    passages = passages_of(told)
    yield Retrieved(passages)
    text = ""
    for piece in _pieces(inquiry.text, told, gaps):
        text += piece.text
        yield piece
    yield Done(
        answer=text,
        message=text,
        citations=numbers.all(),
        passages=passages,
        gate_reason="generated_answer",
        synthesizer=next(one.done.synthesizer for one in told),
        warnings=warnings,
        timings_ms=total_ms,
        fingerprint=told[0].done.fingerprint,
        unsupported=found_again((one.text for each in told for one in each.done.unsupported), text),
    )


def sections_of(findings: Sequence[Finding], gaps: Sequence[Finding], conflicts: Sequence[Conflict]) -> list[Section]:
    """Return the sections of a report; the first one leads in, without a heading.

    Args:
        findings: with statements, none of which stands in two of them.
        gaps: what was asked and not found.
        conflicts: between statements of the findings.
    """
    first, *others = findings
    sections = [Section("", _text_of(first)), *(Section(as_text(one.subquestion), _text_of(one)) for one in others)]
    if conflicts:
        sections.append(Section("What the documents may disagree about", "\n".join(map(_disagreement, conflicts))))
    if gaps:
        sections.append(Section("What is not known", "\n".join(f"- {_gap(one)}" for one in gaps)))
    return sections


def _pieces(question: str, findings: Sequence[Finding], gaps: Sequence[Finding]) -> Iterator[Token]:
    """Yield the report in pieces, each with what it cites for the first time."""
    title = as_text(" ".join(question.split()))
    yield Token(f"# {title[:1].upper()}{title[1:]}")
    cited: dict[Citation, None] = {}
    for place, section in enumerate(sections_of(findings, gaps, find_conflicts(findings))):
        own = findings[place].citations if place < len(findings) else ()
        new = tuple(one for one in own if one not in cited)
        cited |= dict.fromkeys(new)
        yield Token(f"\n\n{section.shown()}", citations=new)


def _text_of(finding: Finding) -> str:
    # A model's own headings would part the report.
    return _HEADING.sub(r"**\1**", joined(finding.statements))


def _disagreement(conflict: Conflict) -> str:
    first, second = (marks(one.citations) for one in conflict.statements)
    left, right = conflict.opposition
    return f"- {first} and {second}: “{left}” or “{right}”."


def _gap(finding: Finding) -> str:
    return f"{as_text(finding.subquestion)} {as_text(finding.reason)}"
