"""`python -m eval cases --from-feedback`: make evaluation questions of what people said about answers.

Flow: `GET /feedback`'s JSON lines, or the file that a service keeps -> **here** -> a file of questions in Treeline's
own format, for `python -m eval run`. One question for each that was judged, however often it was asked:

- good answer: its text is the reference; what it quotes are the reference contexts, their documents the relevant ones;
- good that it was declined: the documents do not answer it;
- relevant passage: its document is relevant, its text a reference context;
- bad answer, or as many bad as good: a question without a reference.

`category` tells them apart. Questions from the middle of a conversation, or over filtered documents, are left out:
asked alone they are other questions. Verdicts on steps and spans make no question.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from errors import RagError
from eval.cases import BadCasesError, Case, case_lines
from eval.questions.files import records
from index.feedback.store import FILE_NAME, FeedbackStore, Limits
from settings import Settings

GOOD, BAD, DISPUTED, PASSAGES = "feedback_good", "feedback_bad", "feedback_disputed", "feedback_passages"
KEPT = "the service's own file"

_MARK = re.compile(r"(?<!\s)\s*\[\d{1,3}\]")


class NoFeedbackError(RagError):
    """There is no feedback to make questions of, or it cannot be written."""

    code = "no_feedback"


class _Verdict(BaseModel):
    verdict: Literal["good", "bad", "relevant", "irrelevant"]
    node_id: str | None = None
    step: int | None = None
    span: tuple[int, int] | None = None


class _Citation(BaseModel):
    doc_id: str
    quote: str


class _Passage(BaseModel):
    node_id: str
    doc_id: str
    text: str = ""


class _Judged(BaseModel):
    id: str
    kind: Literal["answer", "retrieval"]
    corpus: str
    at: float
    question: str
    filters: dict[str, Any] | None = None
    turns: int = 0
    answer: str | None = None
    citations: tuple[_Citation, ...] = ()
    passages: tuple[_Passage, ...] = ()
    feedback: tuple[_Verdict, ...]


@dataclass(slots=True)
class _Question:
    """All that was said about one question.

    Attributes:
        votes: for whole answers, by verdict.
        best: the newest answer that was called good.
        relevant: passages, in the order in which they were judged.
    """

    text: str
    votes: Counter[str] = field(default_factory=Counter)
    best: _Judged | None = None
    relevant: list[_Passage] = field(default_factory=list)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "--from-feedback",
        nargs="?",
        const=KEPT,
        required=True,
        metavar="FILE",
        help="JSON lines from GET /feedback (default: the file in RAG_INDEX__DIR)",
    )
    parser.add_argument("--corpus", help="take what came from this corpus (default: RAG_INDEX__CORPUS)")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="of the questions; replaced if there")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the questions and say what they are.

    Raises:
        NoFeedbackError: there is none for this corpus, or the file cannot be written.
        BadCasesError: it is not a file of feedback.
    """
    corpus = arguments.corpus or settings.index.corpus
    source = arguments.from_feedback
    judged = _kept(settings) if source == KEPT else _exported(Path(source))
    left_out: Counter[str] = Counter()
    cases = to_cases(judged, corpus, left_out)
    if not cases:
        raise NoFeedbackError(
            f"There is no feedback that makes a question about corpus {corpus!r}{_counted(left_out)}.",
            "Send some to `POST /feedback`, or name another corpus by --corpus.",
        )
    try:
        arguments.out.write_text(case_lines(cases), encoding="utf-8")
    except OSError as error:
        raise NoFeedbackError(f"{arguments.out} cannot be written: {error.strerror}.", "Name another file.") from error
    kinds = Counter(case.category for case in cases)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=str))
    sys.stdout.write(f"{arguments.out}: {len(cases)} questions ({told}){_counted(left_out)}\n")
    return 0


def to_cases(judged: Iterable[dict[str, Any]], corpus: str, left_out: Counter[str]) -> tuple[Case, ...]:
    """Return one case for each question about a corpus, in the order in which they were first asked.

    Args:
        judged: records as `GET /feedback` returns them.
        corpus: its name.
        left_out: counts the others, by reason.

    Raises:
        BadCasesError: a record is malformed.
    """
    questions: dict[str, _Question] = {}
    for number, value in enumerate(judged, start=1):
        try:
            record = _Judged.model_validate(value)
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, fault["loc"]))
            raise BadCasesError(
                f"Record {number} of the feedback is none (`{place}`: {fault['msg']}).", "Export it by GET /feedback."
            ) from error
        reason = _unfit(record, corpus)
        if reason:
            left_out[reason] += 1
        else:
            key = " ".join(record.question.casefold().split())
            _take(record, questions.setdefault(key, _Question(record.question)))
    cases = [_case(question, corpus) for question in questions.values()]
    left_out["only about steps or spans"] += cases.count(None)
    return tuple(case for case in cases if case is not None)


def _unfit(record: _Judged, corpus: str) -> str:
    if record.corpus != corpus:
        return "of other corpora"
    if record.turns:
        return "from conversations"
    return "over filtered documents" if record.filters is not None else ""


def _take(record: _Judged, question: _Question) -> None:
    passages = {passage.node_id: passage for passage in record.passages}
    for said in record.feedback:
        if said.verdict == "relevant" and said.node_id in passages:
            question.relevant.append(passages[said.node_id])
        elif said.verdict == "irrelevant":
            question.votes["irrelevant"] += 1
        elif record.kind == "answer" and said.node_id is None and said.step is None and said.span is None:
            question.votes[said.verdict] += 1
            if said.verdict == "good" and (question.best is None or record.at >= question.best.at):
                question.best = record


def _case(question: _Question, corpus: str) -> Case | None:
    good, bad = question.votes["good"], question.votes["bad"]
    best = question.best if good > bad else None
    docs = [passage.doc_id for passage in question.relevant]
    texts = [passage.text for passage in question.relevant]
    known: dict[str, Any] = {}
    if best is not None:
        known["answer"] = None if best.answer is None else _MARK.sub("", best.answer).strip() or None
        docs = [citation.doc_id for citation in best.citations] + docs
        texts = [citation.quote for citation in best.citations] + texts
        category = GOOD
    elif bad:
        category = DISPUTED if good == bad else BAD
    elif docs or question.votes["irrelevant"]:
        category = PASSAGES
    else:
        return None
    known |= {"relevant_docs": tuple(dict.fromkeys(docs))} if docs else {}
    contexts = tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))
    known |= {"reference_contexts": contexts} if contexts else {}
    name = hashlib.sha256(f"{corpus}\n{' '.join(question.text.casefold().split())}".encode("utf-8", "replace"))
    return Case(id=f"fb-{name.hexdigest()[:12]}", question=question.text, category=category, **known)


def _kept(settings: Settings) -> Iterator[dict[str, Any]]:
    kept = settings.feedback
    limits = Limits(kept.keep_days, kept.keep_rated_days, kept.max_mb)
    store = FeedbackStore(settings.index.dir, limits)
    if not store.path.is_file():
        raise NoFeedbackError(
            f"There is no {FILE_NAME} in {settings.index.dir}.",
            "A service makes it with its first answer; or name an export of GET /feedback.",
        )
    try:
        yield from store.judged()
    finally:
        store.close()


def _exported(path: Path) -> Iterator[dict[str, Any]]:
    for record in records(path):
        yield json.loads(record.json)


def _counted(left_out: Counter[str]) -> str:
    told = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    return f"; left out: {told}" if told else ""
