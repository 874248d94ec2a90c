"""Summarise findings without a language model: the first statement of each, cited.

Flow: findings -> **here** -> `final_summary` of `/agent/research`. Pure; the same findings give the same
summary. Where a language model writes, it writes the summary instead (`topic_research.py`).
"""

import re
from collections.abc import Sequence

from query_engine.steps import DONT_KNOW
from query_engine.text.markdown_escape import as_text
from research.topic.citation_numbers import marks
from research.topic.findings import Finding
from research.topic.statements import Statement, words_of

NOTHING = f"{DONT_KNOW} The documents answer none of the questions about this topic."
# Of a list so many lines are told.
LIST_LINES = 4
_ITEM = re.compile(r"\s*(?:[-*+•|]|\d{1,3}[.)])\s+")


def summarise(findings: Sequence[Finding]) -> str:
    """Return a paragraph; nothing is said twice. Of no answers the sentence that says so."""
    said: set[str] = set()
    told: list[str] = []
    for finding in findings:
        first = _first_unsaid(finding.statements, said)
        if first is not None:
            told.append(first)
    if not told:
        return NOTHING
    gaps = [finding.subquestion for finding in findings if not finding.statements]
    return " ".join([*told, *_open(gaps)])


def _first_unsaid(statements: Sequence[Statement], said: set[str]) -> str | None:
    # Prose reads better here than a list.
    for statement in sorted(statements, key=lambda one: one.is_block):
        unsaid = [one for one in statement.sentences() if words_of(one) not in said]
        if not unsaid:
            continue
        taken = unsaid[:LIST_LINES] if statement.is_block else unsaid[:1]
        said.update(map(words_of, taken))
        return f"{_one_line(taken)} {marks(statement.citations)}"
    return None


def _one_line(sentences: Sequence[str]) -> str:
    """Return prose as it is, and the lines of a list as one sentence."""
    lines = [" ".join(_ITEM.sub("", line).rstrip(" ;,").split()) for line in sentences]
    if len(lines) == 1:
        return lines[0]
    joints = (" " if line.endswith(":") else "; " for line in lines)
    text = "".join(f"{line.rstrip('.')}{joint}" for line, joint in zip(lines, joints, strict=True))
    return f"{text.rstrip('; ')}."


def _open(gaps: Sequence[str]) -> list[str]:
    if not gaps:
        return []
    return [f"Not answered by the documents: {' '.join(map(as_text, gaps))}"]
