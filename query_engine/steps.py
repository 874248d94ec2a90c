"""The words in which the engine tells people what it did.

Flow: engine -> **here** -> the steps that `/run` shows. Each step is short Markdown that makes sense on its own:
readers vote on steps one by one. Decides nothing.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from errors import RagError, without_paths
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.markdown_escape import as_plain, as_text

if TYPE_CHECKING:  # they load models' libraries, which a process that only opens does without
    from query_engine.answerability.classifier import Confidence, PartEvidence
    from query_engine.question.condense import Condensed
    from query_engine.question.decompose import Plan

# Every declined answer begins with this sentence: programs and evaluations recognise it by that.
DONT_KNOW = "I don't know."
TOO_LATE = f"{DONT_KNOW} The time for this question was over before an answer was found. Please ask again later."
NOTHING_FOUND = f"{DONT_KNOW} No passage was found for this question."
NO_ANSWER = f"{DONT_KNOW} The passages found do not answer this."
UNMENTIONED = f"{DONT_KNOW} None of the passages found mentions {{words}}."
# Shown below the other answers for a part of the question that nothing was found for.
PART_NOT_FOUND = "Not found: {part}"
EMPTY = f"{DONT_KNOW} The corpus '{{corpus}}' holds no documents yet. Upload some, or ingest a folder."
REFUSED = f'{DONT_KNOW} Questions with the word "{{word}}" are declined here.'
FILTERED_OUT = f"{DONT_KNOW} No document meets the filter. List them with `GET /documents`, which takes it as well."
QUOTES_NOTE = "Answers are quotes. Connect a model: docs/models.md"
SYNTHESIZERS = {
    "extractive": "quoting the passages that answer (no language model)",
    "huggingface": "a Hugging Face model writes from these passages",
    "openai": "a language model server writes from these passages",
    "ollama": "a model of Ollama writes from these passages",
}
SHOWN_DOCUMENTS = 5
SHOWN_MERGES = 3


def looking_back(turns: int) -> Step:
    """Say that the question is read together with what was said before."""
    return Step("conversation", f"**Reading** the question with the {counted(turns, 'message')} before it.")


def condensed(found: "Condensed") -> Step:
    """Say what is asked instead of a question that leans on a conversation."""
    question = as_text(found.question)
    told = {
        "model": f"**Understood** from the conversation as: “{question}”",
        "words": f"**The question points back**, so it takes along the words of the one before: “{question}”",
        "unchanged": "**Asked as it stands**: nothing is taken over from the conversation.",
    }[found.how]
    if found.warnings:
        told += f" {found.warnings[0].text}"
    return Step("conversation", told)


def refused(word: str) -> Step:
    """Say that the settings decline questions with a word."""
    return Step("gate", f"**Declined**: the settings refuse questions with the word “{as_text(word)}”.")


def about_collection(kind: str, documents: int) -> Step:
    """Say that the question is about the collection and is answered without a search."""
    told = {
        "list": "its documents are listed from the catalogue",
        "count": "its documents are counted in the catalogue",
    }[kind]
    return Step("collection", f"**A question about the collection** of {counted(documents, 'document')}: {told}.")


def remembered() -> Step:
    """Say that the answer was given before."""
    return Step("cache", "**Answered before** from the same documents and settings; what follows is that answer.")


def searching(question: str, corpus: str) -> Step:
    """Say what is searched; the first thing a reader sees."""
    shown = as_text(question if len(question) <= 300 else f"{question[:299]}…")
    return Step("search", f"**Searching** the corpus *{corpus}* by meaning and by words for: “{shown}”")


def waiting(questions: int) -> Step:
    """Say how many questions have to end before this one begins."""
    return Step("wait", f"**Waiting** for {counted(questions, 'question')} that came before.")


def out_of_time(fact: str) -> Step:
    """Say that the answer ends here because its time is over."""
    return Step("warning", f"**Out of time**: {fact} The answer is the best there is by now.")


def stopping() -> Step:
    """Say that the service is being stopped."""
    return Step("warning", "**Stopping**: the service is being stopped, so this answer had only seconds left.")


def empty(corpus: str) -> Step:
    """Say that there is nothing to search."""
    return Step("found", f"The corpus *{corpus}* holds **no documents** yet.")


def filtered_out() -> Step:
    """Say that the filters leave nothing to search."""
    return Step("found", "**No document meets the filter**, so there is nothing to search.")


def found(passages: Sequence[Passage]) -> Iterator[Step]:
    """Say which documents were found and why, and what was merged."""
    if not passages:
        yield Step("found", "**Found nothing** that resembles the question.")
        return
    by_document: dict[DocumentKey, list[Passage]] = {}
    for passage in passages:
        by_document.setdefault(passage.document, []).append(passage)
    lines = [f"**Found {counted(len(passages), 'passage')} in {counted(len(by_document), 'document')}**:"]
    shown = list(by_document.values())[:SHOWN_DOCUMENTS]
    lines += [f"- *{as_plain(group[0].title)}*: {_why(group)}" for group in shown]
    if len(by_document) > SHOWN_DOCUMENTS:
        lines.append(f"- and {len(by_document) - SHOWN_DOCUMENTS} more")
    yield Step("found", "\n".join(lines))
    merged = [passage for passage in passages if passage.merged]
    if merged:
        lines = [f"**Merged** neighbouring matches into {counted(len(merged), 'larger passage')}:"]
        lines += [f"- *{as_plain(passage.title)}*: {passage.merged}" for passage in merged[:SHOWN_MERGES]]
        yield Step("merged", "\n".join(lines))


def planned(plan: "Plan") -> Step:
    """Say into which parts the question was taken apart, or into what it was translated."""
    if plan.translation:
        return Step("plan", f"**Searching in the language of the documents, too**: “{_shortened(plan.translation)}”")
    lines = ["**The question asks for several things**; each is searched for by itself:"]
    return Step("plan", "\n".join([*lines, *(f"- {_shortened(part)}" for part in plan.parts)]))


def covered(parts: "Sequence[PartEvidence]") -> Step:
    """Say which parts the passages cover."""
    lines = [f"**Evidence for {sum(one.sufficient for one in parts)} of {len(parts)} parts**:"]
    lines += [
        f"- {_shortened(one.part)}: {'found' if one.sufficient else 'not enough'} "
        f"({counted(len(one.passages), 'passage')}, confidence {one.confidence.value:.2f})"
        for one in parts
    ]
    return Step("plan", "\n".join(lines))


def left_out(warning: AnswerWarning) -> Step:
    """Say that a stage of retrieval was left out, and why."""
    return Step("warning", f"**Searching with less than is set**: {warning.text}")


def confident(confidence: "Confidence") -> Step:
    """Say why an answer is expected in the passages."""
    return Step(
        "gate",
        f"**The passages look sufficient**: one holds {confidence.coverage:.0%} of the question's weighty words, "
        f"nearest similarity {confidence.similarity:.2f}.",
    )


def doubtful(confidence: "Confidence") -> Step:
    """Say that the answer may be none."""
    return Step(
        "gate",
        f"**Low confidence**: passages about this were found, but perhaps not the answer (probability "
        f"{confidence.value:.2f}).{_missing(confidence)}",
    )


def declined(confidence: "Confidence") -> Step:
    """Say why no answer is given."""
    return Step(
        "gate",
        f"**The documents do not seem to answer this**: nearest similarity {confidence.similarity:.2f}, "
        f"{confidence.coverage:.0%} of the question's weighty words in one passage.{_missing(confidence)}",
    )


def writing(synthesizer: str) -> Step:
    """Say who writes."""
    return Step("write", f"**Writing**: {SYNTHESIZERS[synthesizer]}.")


def thinking(thought: str) -> Step:
    """Tell a paragraph of what the model thinks before it answers."""
    return Step("think", f"**Thinking**: {as_text(thought)}")


def warned(warning: AnswerWarning) -> Step:
    """Say what a reader must know about the sources of an answer."""
    return Step("warning", f"**Note**: {warning.text}")


def unsupported(texts: Sequence[str]) -> Step:
    """Name what of an answer no source holds."""
    return Step("warning", f"**Not in the sources**: {', '.join(dict.fromkeys(map(as_text, texts)))}")


def failed(synthesizer: str, error: RagError) -> Step:
    """Say that a synthesizer failed and that another one takes over."""
    return Step(
        "warning", f"**The {synthesizer} model failed**: {without_paths(error.fact)} Another synthesizer takes over."
    )


def nothing_written(confidence: "Confidence") -> Step:
    """Say that the synthesizer found no answer in the passages."""
    return Step("gate", f"**No answer was found** in the passages (confidence before reading: {confidence.value:.2f}).")


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:199]}…"


def _missing(confidence: "Confidence") -> str:
    return f" No passage mentions: {', '.join(confidence.missing[:5])}." if confidence.missing else ""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _why(group: Sequence[Passage]) -> str:
    reasons = []
    dense = max((passage.scores["dense"] for passage in group if "dense" in passage.scores), default=None)
    lexical = max((passage.scores["lexical"] for passage in group if "lexical" in passage.scores), default=None)
    if dense is not None:
        reasons.append(f"similar in meaning ({dense:.2f})")
    if lexical is not None:
        reasons.append(f"shares its words (BM25 {lexical:.1f})")
    count = f"{len(group)} passages, " if len(group) > 1 else ""
    return count + " and ".join(reasons)
