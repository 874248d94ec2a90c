"""Say what to try next, from the classes of outcomes that came up most.

Flow: counts of classes -> **here** -> the page and the Markdown. Pure. Each suggestion names the settings it means.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One thing to try.

    Attributes:
        kind: key of the class it follows from.
        text: what to do and why.
        settings: Treeline's settings that it means, as variables of the environment.
    """

    kind: str
    text: str
    settings: tuple[str, ...] = ()


SUGGESTIONS = (
    Suggestion(
        "failed",
        "Read the reasons of the calls without a reply first: they hide what the system can do. The same run command "
        "asks only these questions again.",
    ),
    Suggestion(
        "missed",
        "The synthesizer never saw the evidence. Check that the documents are in the corpus, whole; then let more or "
        "other passages through, or have them ranked again.",
        (
            "RAG_RETRIEVAL__CANDIDATES_K",
            "RAG_RETRIEVAL__TOP_K",
            "RAG_RETRIEVAL__BUDGET_CHARS",
            "RAG_RERANK__METHOD",
            "RAG_EXPANSION__MULTI_QUERY",
        ),
    ),
    Suggestion(
        "unsaid",
        "The synthesizer had the evidence and wrote of something else. Try another one or another prompt, a longer "
        "answer, or fewer passages around the evidence.",
        ("RAG_LLM__PROVIDER", "RAG_LLM__PROMPT", "RAG_ANSWER__MAX_WORDS", "RAG_RETRIEVAL__BUDGET_CHARS"),
    ),
    Suggestion(
        "against",
        "The synthesizer wrote what its passages do not say. Ground it, lower its temperature, or take a model that "
        "follows its passages.",
        ("RAG_LLM__GROUNDING", "RAG_LLM__TEMPERATURE", "RAG_LLM__MODEL"),
    ),
    Suggestion(
        "declined",
        "The gate turned away questions whose evidence was found. A lower threshold answers more of them, and more of "
        "those that have no answer too: look at both figures.",
        ("RAG_ANSWER__MIN_CONFIDENCE", "RAG_ANSWER__LOW_CONFIDENCE"),
    ),
    Suggestion(
        "invented",
        "Questions without an answer were answered. A higher threshold declines more of them, and more of the others "
        "too: look at both figures.",
        ("RAG_ANSWER__MIN_CONFIDENCE", "RAG_ANSWER__ONLY_SURE"),
    ),
    Suggestion(
        "wrong",
        "Where the fault lies cannot be told: the service shows no passages, or the questions name no evidence. Give "
        "the questions a `reference_context`, or ask a service that returns its `contexts`.",
    ),
)


def suggestions(counts: Mapping[str, int]) -> list[Suggestion]:
    """Return what follows from the classes that came up, the most frequent first.

    Args:
        counts: questions by key of their class.
    """
    wanted = [suggestion for suggestion in SUGGESTIONS if counts.get(suggestion.kind)]
    return sorted(wanted, key=lambda suggestion: -counts[suggestion.kind])
