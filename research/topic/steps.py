"""The texts by which a survey tells people what it does.

Flow: `survey.py`, `report.py` -> **here** -> the steps that `/run` shows. Decides nothing.
"""

from collections.abc import Sequence

from errors import RagError
from query_engine.schema.events import Step
from query_engine.text.markdown_escape import as_text
from research.topic.findings import Finding


def outlined(subquestions: Sequence[str]) -> Step:
    """Say what is going to be asked."""
    lines = ["**Taking the topic apart** into these questions:", *(f"- {as_text(one)}" for one in subquestions)]
    return Step("plan", "\n".join(lines))


def asking(number: int, count: int, subquestion: str) -> Step:
    """Say which question is asked now."""
    return Step("search", f"**Asking {number} of {count}**: “{as_text(subquestion)}”")


def asking_again(wording: str) -> Step:
    """Say that it is asked in other words."""
    return Step("search", f"**Not found, asking in other words**: “{as_text(wording)}”")


def found(finding: Finding) -> Step:
    """Say what was found."""
    if not finding.statements:
        return Step("found", f"**A gap**: {as_text(finding.reason)}")
    titles = dict.fromkeys(as_text(one.title or one.doc_id) for one in finding.citations)
    many = "statement" if len(finding.statements) == 1 else "statements"
    listed = ", ".join(f"*{title}*" for title in titles)
    return Step("found", f"**Found {len(finding.statements)} {many}** in {listed}.")


def summing_up(answered: int, gaps: int) -> Step:
    """Say that all questions have been asked."""
    return Step("write", f"**Putting together** {answered} answers; {gaps} questions stay open.")


def not_summed_up(error: RagError) -> Step:
    """Say that the model failed, so that the summary is made of quotes."""
    return Step("warning", f"**No summary by the language model**: {as_text(error.fact)} It is made of quotes instead.")
