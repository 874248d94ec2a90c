"""What was found for one sub-question, and how good its evidence is.

Flow: `survey.py` makes findings -> **here** -> `/agent/research`, `summary.py`, `report.py`. Pure values.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from query_engine.schema.events import Citation, Done
from query_engine.steps import DONT_KNOW
from research.topic.citation_numbers import CitationNumbers
from research.topic.statements import Statement, joined, words_of

# The formula of bedrock-rag-eval: three citations, of two documents, are full evidence.
FULL_CITATIONS, CITATIONS_SHARE = 3, 0.6
FULL_DOCUMENTS, DOCUMENTS_SHARE = 2, 0.4

Status = Literal["answered", "gap", "answered_after_retry"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One sub-question with its answer.

    Attributes:
        done: the answer that counts: of the last try.
        statements: of the answer; none of a gap. Their citations are numbered through once `numbered` did so.
        unused: why the answer does not count, as a sentence; empty if it does, or if there is none.
        retried: the other wording that was tried; None if the first one was answered.
    """

    subquestion: str
    done: Done
    statements: tuple[Statement, ...] = ()
    retried: str | None = None
    unused: str = ""

    @property
    def status(self) -> Status:
        """How it ended."""
        if not self.statements:
            return "gap"
        return "answered" if self.retried is None else "answered_after_retry"

    @property
    def attempts(self) -> int:
        """1, or 2 with another wording."""
        return 1 if self.retried is None else 2

    @property
    def reason(self) -> str:
        """Why it is a gap, without the words with which every declined question begins."""
        message = self.unused or self.done.message.strip()
        return message.removeprefix(DONT_KNOW).strip() or message or DONT_KNOW

    @property
    def answer(self) -> str | None:
        """The statements with their marks; None of a gap."""
        return joined(self.statements) if self.statements else None

    @property
    def citations(self) -> tuple[Citation, ...]:
        """All of its statements', each once."""
        return tuple(dict.fromkeys(citation for one in self.statements for citation in one.citations))

    @property
    def unique_docs(self) -> int:
        """How many documents are cited."""
        return len({citation.document for citation in self.citations})

    @property
    def confidence(self) -> float:
        """Evidence, 0..1: min(citations / 3, 1) x 0.6 + min(documents / 2, 1) x 0.4; 0 of a gap."""
        cited = min(len(self.citations) / FULL_CITATIONS, 1) * CITATIONS_SHARE
        return round(cited + min(self.unique_docs / FULL_DOCUMENTS, 1) * DOCUMENTS_SHARE, 4)


def each_in_its_place(findings: Sequence[Finding], *, strict: bool = False) -> list[Finding]:
    """Return the findings without sentences that answer another one better, by their place in its answer.

    Unless `strict`, a finding that has nothing else keeps its sentences.
    """
    ranks: dict[str, list[tuple[int, int]]] = {}
    for at, finding in enumerate(findings):
        for rank, statement in enumerate(finding.statements):
            for sentence in statement.sentences():
                ranks.setdefault(words_of(sentence), []).append((rank, at))
    settled = []
    for at, finding in enumerate(findings):
        elsewhere = {words for words, places in ranks.items() if min(places)[1] != at}
        kept = tuple(left for one in finding.statements if (left := one.without(elsewhere)) is not None)
        settled.append(replace(finding, statements=kept if kept or strict else finding.statements))
    return settled


def numbered(findings: Sequence[Finding], numbers: CitationNumbers) -> list[Finding]:
    """Return the findings with their citations numbered through."""
    return [
        replace(one, statements=tuple(Statement(each.text, numbers.number(each.citations)) for each in one.statements))
        for one in findings
    ]
