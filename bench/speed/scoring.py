"""Measure how long it takes to score a run without a language model.

Flow: texts of a data set -> a run made of them **here** -> `eval/scoring/` -> table.

The answers are sentences of the texts, no two rows alike: a run of a few answers repeated would be embedded once and
look fast. Every other sentence lacks a word, so that its citation is not simply found in the text but checked.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from bench.datasets import NoDataSetError
from eval.cases import Case
from eval.rows import Quote, Row, Seen
from eval.run_folder import Header, RunFolder
from eval.scoring.catalogue import METRICS
from eval.scoring.stage import Scorer, score_run
from query_engine.text.sentences import Sentence, split_sentences

ANSWER_SENTENCES, LEAST_SENTENCES = 3, 6
PASSAGES, PASSAGE_CHARS = 5, 2000


@dataclass(frozen=True, slots=True)
class Scoring:
    """What it took.

    Attributes:
        rows: of the run.
        words: of its answers.
        seconds: by family, loading included.
        cpu_s: of them, those that the cores computed, summed over the cores.
    """

    rows: int
    words: int
    seconds: dict[str, float]
    cpu_s: dict[str, float]


def make_run(texts: Sequence[str], count: int, folder: Path) -> RunFolder:
    """Write a run of `count` answered questions; texts of less than six sentences are left out."""
    pairs = list(_pairs(texts, count))
    run = RunFolder(folder)
    run.create(
        Header(started="", questions="made", questions_sha256="", target="none"), tuple(case for case, _ in pairs)
    )
    with run.writing():
        for _, row in pairs:
            run.append_row(row)
    return run


def measure(run: RunFolder, scorers: Sequence[Scorer]) -> Scoring:
    """Score the run once."""
    ended = {"": (time.perf_counter(), time.process_time())}

    def progress(family: str, done: int, of: int) -> None:
        if done == of:
            ended[family] = time.perf_counter(), time.process_time()

    with run.writing():
        score_run(run, scorers, progress=progress)
    spans = list(zip(list(ended)[1:], pairwise(ended.values()), strict=True))
    rows = run.rows().values()
    return Scoring(
        rows=len(rows),
        words=sum(len((row.answer or "").split()) for row in rows),
        seconds={family: end[0] - begin[0] for family, (begin, end) in spans},
        cpu_s={family: end[1] - begin[1] for family, (begin, end) in spans},
    )


def table(scoring: Scoring) -> str:
    """Return a Markdown table by family."""
    lines = ["| family | metrics | seconds | CPU seconds |", "|---|---:|---:|---:|"]
    for family, seconds in scoring.seconds.items():
        metrics = sum(metric.family == family for metric in METRICS.values())
        lines.append(f"| {family} | {metrics} | {seconds:.1f} | {scoring.cpu_s[family]:.1f} |")
    lines.append(f"| **all** | | **{sum(scoring.seconds.values()):.1f}** | {sum(scoring.cpu_s.values()):.1f} |")
    return "\n".join(lines)


def _pairs(texts: Sequence[str], count: int) -> Iterator[tuple[Case, Row]]:
    cut = [(text, sentences) for text in texts if len(sentences := split_sentences(text)) >= LEAST_SENTENCES]
    if not cut:
        raise NoDataSetError(f"No text has {LEAST_SENTENCES} sentences.", "Take a data set of longer texts.")
    for number in range(count):
        turn, of = divmod(number, len(cut))
        text, sentences = cut[of]
        first = turn * ANSWER_SENTENCES % (len(sentences) - ANSWER_SENTENCES)
        yield _pair(f"{number:05}", f"{of}.txt", text, sentences[first : first + ANSWER_SENTENCES + 1])


def _pair(id_: str, doc_id: str, text: str, sentences: Sequence[Sentence]) -> tuple[Case, Row]:
    *said, asked = sentences
    quotes = [
        Quote(number=1, doc_id=doc_id, start=one.start, end=one.end, quote=text[one.start : one.end]) for one in said
    ]
    parts = [f"{_shortened(quote.quote or '') if place % 2 else quote.quote} [1]" for place, quote in enumerate(quotes)]
    begin = max(0, min(said[0].start, len(text) - PASSAGES * PASSAGE_CHARS))
    starts = range(begin, min(len(text), begin + PASSAGES * PASSAGE_CHARS), PASSAGE_CHARS)
    passages = tuple(
        Seen(text=text[start : start + PASSAGE_CHARS], doc_id=doc_id, start=start, end=start + PASSAGE_CHARS)
        for start in starts
    )
    reference = text[asked.start : asked.end]
    case = Case(id=id_, question="?", answer=reference, relevant_docs=(doc_id,), reference_context=reference)
    row = Row(id=id_, outcome="answered", answer=" ".join(parts), citations=tuple(quotes), passages=passages)
    return case, row


def _shortened(sentence: str) -> str:
    words = sentence.split()
    return " ".join(words[: len(words) // 2] + words[len(words) // 2 + 1 :])
