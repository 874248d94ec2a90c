"""Runs on disk that were never asked: small ones whose every figure is known.

`write_run` writes what a test names; `sample_run` is a run in which each class of outcomes comes up.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.cases import Case
from eval.cells import Cell, failed, not_applicable, scored
from eval.rows import Quote, Row, Seen
from eval.run_folder import Header, RunFolder, Scored

STARTED = "2026-03-01T10:00:00+00:00"
DAM = "Vindeby was the first offshore wind farm. It was built in 1991 and had eleven turbines of 450 kilowatts each."
SALT = "The usual mixture, known as solar salt, is 60 per cent sodium nitrate and 40 per cent potassium nitrate."
MOON = "The Moon moves away from the Earth by 38 millimetres a year, as mirrors left on it have shown since 1969."


def write_run(
    path: Path,
    cases: Sequence[Case],
    rows: Sequence[Row],
    cells: Mapping[str, Mapping[str, Mapping[str, Cell]]],
    **header: Any,
) -> RunFolder:
    """Write a run.

    Args:
        path: its folder.
        cases: the questions.
        rows: the replies; questions without one were not asked.
        cells: id -> family -> metric -> cell.
        header: fields of the header that differ from the usual ones.
    """
    folder = RunFolder(path)
    usual = {"started": STARTED, "questions": "questions.jsonl", "questions_sha256": "5a" * 32, "target": "in process"}
    folder.create(Header.model_validate({**usual, **header}), tuple(cases))
    with folder.writing():
        for row in rows:
            folder.append_row(row)
        of = {row.id: row.digest() for row in rows}
        for id_, families in cells.items():
            for family, scores in families.items():
                folder.append_scores(Scored(id=id_, of=of[id_], family=family, cells=dict(scores)))
    return folder


def case(id_: str, question: str, answer: str | None, **known: Any) -> Case:
    """Return a question; without an answer it is one that the corpus does not answer."""
    return Case.model_validate_json(
        Case.model_construct(id=id_, question=question, answer=answer, **known).model_dump_json(exclude_unset=True)
    )


def reply(id_: str, answer: str, *passages: str, **known: Any) -> Row:
    """Return a reply that cites the whole of its first passage; `known` overrides fields."""
    seen = tuple(
        Seen(text=text, doc_id=f"docs/{number}.md", start=10, end=10 + len(text), score=1 / number)
        for number, text in enumerate(passages, start=1)
    )
    quotes = [
        Quote(number=1, doc_id=one.doc_id, start=one.start, end=one.end, quote=one.text, title="A document")
        for one in seen[:1]
    ]
    usual = {
        "id": id_,
        "outcome": "answered",
        "answer": answer,
        "citations": tuple(quotes),
        "passages": seen,
        "synthesizer": "extractive",
        "timings_ms": {"retrieve": 31.5, "write": 12.0},
        "seconds": 0.05,
        "fingerprint": "f1f1",
    }
    return Row.model_validate(usual | known)


SAMPLE_CASES = (
    case("right", "When was Vindeby built?", "1991", reference_context=DAM, category="factual"),
    case("missed", "How far does the Moon move away each year?", "38 millimetres", reference_context=MOON),
    case("unsaid", "What is solar salt made of?", "potassium nitrate", reference_context=SALT, category="factual"),
    case("against", "How many turbines did Vindeby have?", "eleven", reference_context=DAM, category="factual"),
    case("declined", "How big were Vindeby's turbines?", "450 kilowatts", reference_context=DAM, category="factual"),
    case("failed", "What did mirrors show?", "that the Moon moves away", reference_context=MOON, category="factual"),
    case("spared", "Who owns the Moon?", None, category="no_answer"),
    case("invented", "Who designed Vindeby's logo?", None, category="no_answer"),
)
SAMPLE_ROWS = (
    reply("right", "It was built in **1991** [1].", DAM, SALT),
    reply("missed", "It is a mixture [1].", SALT, warnings=("low_confidence: The passages may not answer it.",)),
    reply("unsaid", "The usual mixture is known as solar salt [1] and more [7].", SALT),
    reply("against", "Vindeby had 99 turbines [1].", DAM),
    reply("declined", "I don't know.", DAM, outcome="declined", reason="generated_no_answer_low_confidence"),
    Row(id="failed", outcome="failed", answer=None, reason="503: too many questions"),
    reply("spared", "I don't know.", outcome="declined", reason="no_retrieval"),
    reply("invented", "It was built in 1991 [1].", DAM, seconds=0.4),
)


def sample_cells() -> dict[str, dict[str, dict[str, Cell]]]:
    """Return cells for the sample's rows: a mean of word_recall of 0.3 over 5 of 6."""
    recalls = {"right": 1.0, "missed": 0.0, "unsaid": 0.5, "against": 0.0, "declined": 0.0}
    cells: dict[str, dict[str, dict[str, Cell]]] = {}
    for row in SAMPLE_ROWS:
        recall = scored(recalls[row.id]) if row.id in recalls else not_applicable("the corpus does not answer it")
        declined = scored(float(row.outcome == "declined"))
        none = row.id in ("spared", "invented")
        cells[row.id] = {
            "answer": {"word_recall": failed("no reply: 503") if row.outcome == "failed" else recall},
            "abstention": {
                "declined": not_applicable("the question has no answer") if none else declined,
                "abstention_recall": declined if none else not_applicable("the question has an answer"),
            },
            "speed": {"seconds": not_applicable("no reply") if row.outcome == "failed" else scored(row.seconds)},
        }
    return cells


def sample_run(path: Path, **header: Any) -> RunFolder:
    """Write a run in which each class of outcomes comes up once."""
    snapshot = {"retrieval": {"top_k": 20, "merge": True}, "index": {"documents": 12, "model": "minilm"}}
    usual = {"settings": snapshot, "versions": {"treeline": "0.9.0", "python": "3.11.9"}, "fingerprint": "f1f1"}
    return write_run(path, SAMPLE_CASES, SAMPLE_ROWS, sample_cells(), **{**usual, **header})
