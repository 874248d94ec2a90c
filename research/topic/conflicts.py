"""The statements of a topic's findings that may contradict each other, each with the sub-question it answers.

Flow: findings -> **here** (`research/contradictions.py` compares) -> `possible_conflicts` of `/agent/research`, and the
report. Pure.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from query_engine.schema.events import Citation
from research.contradictions import opposed
from research.topic.findings import Finding
from research.topic.statements import words_of


@dataclass(frozen=True, slots=True)
class Said:
    """One of two statements that may contradict each other."""

    subquestion: str
    sentence: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements, and the words by which they are opposed."""

    opposition: tuple[str, str]
    statements: tuple[Said, Said]


def find_conflicts(findings: Sequence[Finding]) -> list[Conflict]:
    """Return pairs of sentences that oppose each other; each pair once."""
    said: dict[str, Said] = {}
    for finding in findings:
        for statement in finding.statements:
            for sentence in statement.sentences():
                said.setdefault(words_of(sentence), Said(finding.subquestion, sentence.strip(), statement.citations))
    pairs = opposed(list(said.values()), lambda one: one.sentence)
    return [Conflict(names, (first, second)) for names, first, second in pairs]
