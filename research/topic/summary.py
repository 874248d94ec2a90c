"""Summarise findings without a language model: the first statement of each, cited.

Flow: findings -> **here** -> `final_summary` of `/agent/research`. Pure; the same findings give the same
summary. Where a language model writes, it writes the summary instead (`topic_research.py`).
"""

from collections.abc import Sequence
from dataclasses import replace

from query_engine.steps import DONT_KNOW
from query_engine.text.markdown_escape import as_text
from research.topic.findings import Finding
from research.topic.statements import Statement, joined, words_of

NOTHING = f"{DONT_KNOW} The documents answer none of the questions about this topic."
# Of a list so many lines are told.
LIST_LINES = 4


def summarise(findings: Sequence[Finding]) -> str:
    """Return Markdown in which nothing is said twice. Of no answers the sentence that says so."""
    said: set[str] = set()
    told = [first for finding in findings if (first := _first_unsaid(finding.statements, said)) is not None]
    if not told:
        return NOTHING
    gaps = [as_text(finding.subquestion) for finding in findings if not finding.statements]
    if not gaps:
        return joined(told)
    gap = "\n\n" if told[-1].is_block else " "
    return f"{joined(told)}{gap}Not answered by the documents: {' '.join(gaps)}"


def _first_unsaid(statements: Sequence[Statement], said: set[str]) -> Statement | None:
    # Prose reads better here than a list.
    for statement in sorted(statements, key=lambda one: one.is_block):
        unsaid = [one for one in statement.sentences() if words_of(one) not in said]
        if unsaid:
            taken = unsaid[:LIST_LINES] if statement.is_block else unsaid[:1]
            said.update(map(words_of, taken))
            return replace(statement, text="\n".join(taken))
    return None
