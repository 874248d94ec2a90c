"""Put each question of a run into one class: right, or what went wrong with it.

Flow: case + row + cells -> **here** -> the page and the Markdown. Pure.

A mean tells that something is wrong, a class tells where to look: in the search, in the synthesizer, or in the gate.
The rules are coarse on purpose and stand on the page word by word, so that a reader can disagree with one. They need no
model; a judge's scores are used where there are any.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from eval.cases import Case
from eval.cells import Cell, score_of
from eval.metrics import (
    SHORT_ANSWER_WORDS,
    contains,
    content_words,
    file_name,
    shingle_recall,
    spoken,
    word_recall,
    words,
)
from eval.rows import Row
from eval.tables import percent

RIGHT_SHARE, FOUND_SHARE, FOUND_WORDS_SHARE, SUPPORT_SHARE, JUDGED_RIGHT = 0.5, 0.5, 0.7, 0.6, 0.5
ANYWHERE = frozenset({"yes", "no", "true", "false", "both", "neither", "none"})  # where they stand says nothing


@dataclass(frozen=True, slots=True)
class Kind:
    """A class of outcomes.

    Attributes:
        key: short name, used in files and as a CSS class.
        title: what a reader sees.
        state: `good`, `bad`, or `open`: nothing can be said.
        rule: when a question belongs to it; the first class whose rule holds takes it.
        advice: what to try against it, and why; empty where there is nothing to try.
        settings: Treeline's settings that the advice means, as variables of the environment.
    """

    key: str
    title: str
    state: str
    rule: str
    advice: str = ""
    settings: tuple[str, ...] = ()


KINDS = (
    Kind("right", "Answered rightly", "good", "It has an answer, and what was answered counts as right."),
    Kind("spared", "Rightly declined", "good", "The corpus does not answer it, and the service said so."),
    Kind(
        "missed",
        "Retrieval missed it",
        "bad",
        "It was declined or answered wrongly, and the evidence was not in the context.",
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
    Kind(
        "unsaid",
        "In context but not answered",
        "bad",
        "The evidence was in the context and the answer stays within it, but does not say what was asked.",
        "The synthesizer had the evidence and wrote of something else. Try another one or another prompt, a longer "
        "answer, or fewer passages around the evidence.",
        ("RAG_LLM__PROVIDER", "RAG_LLM__PROMPT", "RAG_RETRIEVAL__BUDGET_CHARS"),
    ),
    Kind(
        "against",
        "Answered against the evidence",
        "bad",
        "The evidence was in the context, and the wrong answer leaves it: it has a number that stands in no passage, "
        "or fewer than 60 % of its content words do, or the judge's faithfulness is below 0.5.",
        "The synthesizer wrote what its passages do not say. Lower its temperature, or take a model that follows its "
        "passages.",
        ("RAG_LLM__TEMPERATURE", "RAG_LLM__MODEL"),
    ),
    Kind(
        "declined",
        "Wrongly declined",
        "bad",
        "The evidence was in the context, and the service declined.",
        "The gate turned away questions whose evidence was found. A lower threshold answers more of them, and more of "
        "those that have no answer too: look at both figures.",
        ("RAG_ANSWER__MIN_CONFIDENCE", "RAG_ANSWER__LOW_CONFIDENCE"),
    ),
    Kind(
        "wrong",
        "Wrong, cause unknown",
        "bad",
        "It was declined or answered wrongly, and whether the evidence was in the context cannot be told.",
        "Where the fault lies cannot be told: the service shows no passages, or the questions name no evidence. Give "
        "the questions a `reference_context`, or ask a service that returns its `contexts`.",
    ),
    Kind(
        "invented",
        "Answered though nothing is there",
        "bad",
        "The corpus does not answer it, and it was answered.",
        "Questions without an answer were answered. A higher threshold declines more of them, and more of the others "
        "too: look at both figures.",
        ("RAG_ANSWER__MIN_CONFIDENCE", "RAG_ANSWER__ONLY_SURE"),
    ),
    Kind(
        "failed",
        "No reply",
        "bad",
        "The call failed. That is neither an answer nor a declined question.",
        "Read the reasons of the calls without a reply first: they hide what the system can do. The same run command "
        "asks only these questions again.",
    ),
    Kind("unjudged", "Cannot be judged", "open", "It was answered or declined, but the question has no reference."),
    Kind("unasked", "Not asked", "open", "The run was stopped before it."),
)
KIND: Mapping[str, Kind] = {kind.key: kind for kind in KINDS}

RIGHT_RULE = (
    f"An answer counts as right if a judge gave it an answer correctness of at least {JUDGED_RIGHT}; where no judge "
    f"did: if a reference of at most {SHORT_ANSWER_WORDS} words stands in it as a whole, or {percent(RIGHT_SHARE)} of "
    "the content words of a longer one."
)
FOUND_RULE = (
    f"The evidence counts as in the context if {percent(FOUND_SHARE)} of the reference text's runs of 8 words stand in "
    f"the passages, or a whole reference answer of at most {SHORT_ANSWER_WORDS} words other than yes or no; without a "
    f"reference text, {percent(FOUND_WORDS_SHARE)} of a longer answer's content words; without any of these, if a "
    "relevant document is among them."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one question.

    Attributes:
        kind: the class.
        why: what it rests on, as sentences; empty where the class says it all.
    """

    kind: Kind
    why: str = ""


def classify(case: Case, row: Row | None, cells: Mapping[str, Cell]) -> Verdict:
    """Return the class of a question; `row` is None if it was not asked."""
    if row is None:
        return Verdict(KIND["unasked"])
    if row.outcome == "failed":
        return Verdict(KIND["failed"], row.reason or "")
    if case.unanswerable:
        return Verdict(KIND["spared" if row.outcome == "declined" else "invented"])
    right, why_right = _right(case, row, cells)
    if right:
        return Verdict(KIND["right"], why_right)
    found, why_found = _found(case, row)
    why = f"{why_right} {why_found}".strip()
    if right is None:
        declined = row.outcome == "declined" and found is not None
        return Verdict(KIND[("declined" if found else "missed") if declined else "unjudged"], why)
    if found is None:
        return Verdict(KIND["wrong"], why)
    if not found:
        _, told = _documents(case, row)
        return Verdict(KIND["missed"], why if told in why else f"{why} {told}")
    if row.outcome == "declined":
        return Verdict(KIND["declined"], why)
    against = _against(row, cells)
    return Verdict(KIND["against" if against else "unsaid"], f"{why} {against}".strip())


def _right(case: Case, row: Row, cells: Mapping[str, Cell]) -> tuple[bool | None, str]:
    if row.outcome == "declined":
        return (None if case.answer is None else False), ""
    judged = score_of(cells, "answer_correctness")
    if judged is not None:
        return judged >= JUDGED_RIGHT, f"The judge's answer correctness is {judged:.2f}."
    if case.answer is None:
        return None, "There is no reference answer."
    answer = spoken(row.answer or "")
    wanted = [text for text in (case.answer, *case.alternatives) if words(text)]
    if not wanted:
        return None, "The reference has no letter and no digit."
    short = [text for text in wanted if len(words(text)) <= SHORT_ANSWER_WORDS]
    if any(contains(answer, text) for text in short):
        return True, "The reference stands in the answer."
    longer = [word_recall(answer, text) for text in wanted if text not in short]
    if not longer:
        return False, "The reference does not stand in the answer."
    return max(longer) >= RIGHT_SHARE, f"{percent(max(longer))} of the reference's content words are in the answer."


def _found(case: Case, row: Row) -> tuple[bool | None, str]:
    if not row.passages and not row.fingerprint:  # with a fingerprint come passages: there were none
        return None, "The service does not tell its passages."
    text = " ".join(passage.text for passage in row.passages)
    answers = [one for one in (case.answer, *case.alternatives) if one and not ANYWHERE.issuperset(words(one))]
    short = [answer for answer in answers if len(words(answer)) <= SHORT_ANSWER_WORDS]
    references = [reference for reference in case.references if words(reference)]
    if references:
        share = shingle_recall(text, references)
        if share >= FOUND_SHARE or not short:
            return share >= FOUND_SHARE, f"{percent(share)} of the reference text is in the passages."
    if short:
        there = any(contains(text, answer) for answer in short)
        return there, f"The reference answer {'stands' if there else 'does not stand'} in the passages."
    if answers:
        share = max(word_recall(text, answer) for answer in answers)
        return share >= FOUND_WORDS_SHARE, f"{percent(share)} of the reference's content words are in the passages."
    if case.relevant_docs:
        return _documents(case, row)
    return None, "The question has no reference to look for in the passages."


def _documents(case: Case, row: Row) -> tuple[bool, str]:
    """Tell whether the search came as far as a right document; nothing is said if none is known."""
    names = {file_name(doc) for doc in case.relevant_docs}
    there = any(file_name(passage.doc_id) in names for passage in row.passages)
    return there, f"{'A' if there else 'No'} relevant document is among the passages." if names else ""


def _against(row: Row, cells: Mapping[str, Cell]) -> str:
    """Return in what the answer leaves its passages; empty if it does not."""
    scores = (score_of(cells, name) for name in ("faithfulness", "deepeval_faithfulness"))
    judged = next((score for score in scores if score is not None), None)
    if judged is not None:
        return f"The judge's faithfulness is {judged:.2f}." if judged < JUDGED_RIGHT else ""
    answer = re.sub(r"(?m)^[^\S\n]*+\d++[.)]\s", "", spoken(row.answer or ""))  # the numbers of a list say nothing
    there = set(words(" ".join(passage.text for passage in row.passages)))
    numbers = [word for word in dict.fromkeys(words(answer)) if word.isdigit() and word not in there]
    if numbers:
        return f"No passage has the number {numbers[0]}."
    said = content_words(answer)
    share = len(said & there) / len(said) if said else 1.0
    return f"Only {percent(share)} of the answer's content words are in the passages." if share < SUPPORT_SHARE else ""
