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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from errors import RagError
from eval.cases import BadCasesError, Case, case_lines
from eval.questions.files import first_fault, records
from eval.run_folder import refused_by_disk
from index.feedback.store import FILE_NAME, FeedbackStore, Limits
from settings import Settings

KEPT = "the service's own file"
_MARK = re.compile(r"(?<!\s)\s*\[\d{1,3}\]")


class _Verdict(BaseModel):
    verdict: Literal["good", "bad", "relevant", "irrelevant"]
    node_id: str | None = None
    step: int | None = None
    span: tuple[int, int] | None = None

    @property
    def is_of_all(self) -> bool:
        return self.node_id is None and self.step is None and self.span is None


class _Passage(BaseModel):
    """What was found or cited."""

    doc_id: str
    node_id: str = ""
    text: str = Field("", validation_alias=AliasChoices("quote", "text"))


class _Judged(BaseModel):
    id: str
    kind: Literal["answer", "retrieval"]
    corpus: str
    at: float
    question: str
    filters: dict[str, Any] | None = None
    turns: int = 0
    answer: str | None = None
    citations: tuple[_Passage, ...] = ()
    passages: tuple[_Passage, ...] = ()
    feedback: tuple[_Verdict, ...]

    @property
    def key(self) -> str:
        """The question, however it was typed."""
        return " ".join(self.question.casefold().split())


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
        RagError: there is none for this corpus, or the file cannot be written.
        BadCasesError: it is not a file of feedback.
    """
    corpus = arguments.corpus or settings.index.corpus
    source = arguments.from_feedback
    judged = _kept(settings) if source == KEPT else (json.loads(record.json) for record in records(Path(source)))
    left_out: Counter[str] = Counter()
    cases = to_cases(judged, corpus, left_out)
    dropped = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    dropped = f"; left out: {dropped}" if dropped else ""
    if not cases:
        raise RagError(
            f"There is no feedback that makes a question about corpus {corpus!r}{dropped}.",
            "Send some to `POST /feedback`, or name another corpus by --corpus.",
            "no_feedback",
        )
    with refused_by_disk(arguments.out, "Name another file.", "no_feedback"):
        arguments.out.write_text(case_lines(cases), encoding="utf-8")
    kinds = Counter(case.category for case in cases)
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), key=str))
    sys.stdout.write(f"{arguments.out}: {len(cases)} questions ({told}){dropped}\n")
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
    questions: dict[str, list[_Judged]] = {}
    for number, value in enumerate(judged, start=1):
        try:
            record = _Judged.model_validate(value)
        except ValidationError as error:
            fact = f"Record {number} of the feedback is wrong ({first_fault(error)})."
            raise BadCasesError(fact, "Export it by GET /feedback.") from error
        if record.corpus != corpus:
            left_out["of other corpora"] += 1
        elif record.turns:
            left_out["from conversations"] += 1
        elif record.filters is not None:
            left_out["over filtered documents"] += 1
        else:
            questions.setdefault(record.key, []).append(record)
    cases = [_case(records) for records in questions.values()]
    left_out["only about steps or spans"] += cases.count(None)
    return tuple(case for case in cases if case is not None)


def _case(records: Sequence[_Judged]) -> Case | None:
    """Return the case of all that was said about one question; None if none of it makes one."""
    said = [(record, verdict) for record in records for verdict in record.feedback]
    whole = [(record, verdict.verdict) for record, verdict in said if record.kind == "answer" and verdict.is_of_all]
    good = [record for record, verdict in whole if verdict == "good"]
    bad = [record for record, verdict in whole if verdict == "bad"]
    relevant = [
        passage
        for record, verdict in said
        for passage in record.passages
        if verdict.verdict == "relevant" and verdict.node_id == passage.node_id
    ]
    known: dict[str, Any] = {}
    if len(good) > len(bad):
        newest = max(good, key=lambda record: record.at)
        known["answer"] = _MARK.sub("", newest.answer or "").strip() or None
        relevant = [*newest.citations, *relevant]
        category = "feedback_good"
    elif bad:
        category = "feedback_disputed" if len(good) == len(bad) else "feedback_bad"
    elif relevant or any(verdict.verdict == "irrelevant" for _, verdict in said):
        category = "feedback_passages"
    else:
        return None
    if docs := tuple(dict.fromkeys(passage.doc_id for passage in relevant)):
        known["relevant_docs"] = docs
    if texts := tuple(dict.fromkeys(text for passage in relevant if (text := passage.text.strip()))):
        known["reference_contexts"] = texts
    first = records[0]
    name = hashlib.sha256(f"{first.corpus}\n{first.key}".encode("utf-8", "replace")).hexdigest()[:12]
    return Case(id=f"fb-{name}", question=first.question, category=category, **known)


def _kept(settings: Settings) -> Iterator[dict[str, Any]]:
    with closing(FeedbackStore(settings.index.dir, Limits(settings.feedback.keep_days))) as store:
        if not store.path.is_file():
            raise RagError(
                f"There is no {FILE_NAME} in {settings.index.dir}.",
                "A service makes it with its first answer; or name an export of GET /feedback.",
                "no_feedback",
            )
        yield from store.judged()
