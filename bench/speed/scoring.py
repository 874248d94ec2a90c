"""Measure how long it takes to score a run without a language model: `python -m bench scoring`.

Flow: texts of a data set -> a run made of them **here** -> `eval/scoring/` -> table.

The answers are sentences of the texts, no two rows alike: a run of a few answers repeated would be embedded once and
look fast. Every other sentence lacks a word, so that its citation is not simply found in the text but checked.
"""

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.arguments import add_count, add_sets, choose_sets
from bench.datasets import NoDataSetError
from bench.figures import keep, made, made_on
from bench.speed.workload import read_texts
from eval.cases import Case
from eval.progress_bar import tell
from eval.rows import Quote, Row, Seen
from eval.run_folder import Header, RunFolder
from eval.scoring.build import offline_scorers
from eval.scoring.catalogue import METRICS
from eval.scoring.stage import Scorer, score_run
from eval.tables import aligned, figure
from index.documents.sentences import Sentence, split_sentences
from ingestion.reading.files import list_files
from ingestion.reading.reader import Reader
from settings import Settings

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `python -m bench scoring`."""
    add_sets(parser)
    add_count(parser, "--rows", "of the run that is made of each set's texts, no two answers alike", 1000)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Make a run out of the texts of each set, and score it; print a table for each."""
    measured: dict[str, Scoring] = {}
    for one in choose_sets(arguments):
        tell(f"{one.name}: making {arguments.rows} rows of {one.corpus}")
        with Reader(settings.ingest) as reader, TemporaryDirectory(dir=made(settings.bench.dir)) as folder:
            texts = [text.data.decode(errors="replace") for text in read_texts(list_files(one.corpus), reader)]
            made_up = make_run(texts, arguments.rows, Path(folder) / "run")
            found = measured[one.name] = measure(made_up, offline_scorers(settings))
        print(f"{one.name}: {found.rows} rows, {found.words / found.rows:.0f} words an answer\n\n{table(found)}\n")
    print(made_on())
    keep("scoring", {name: asdict(one) for name, one in measured.items()}, settings)
    return 0


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
    """Return a table by family."""
    counts = Counter(metric.family for metric in METRICS.values())
    lines = [
        [family, str(counts[family]), figure(seconds, 1), figure(scoring.cpu_s[family], 1)]
        for family, seconds in scoring.seconds.items()
    ]
    lines.append(["all", "", figure(sum(scoring.seconds.values()), 1), figure(sum(scoring.cpu_s.values()), 1)])
    return aligned(["family", "metrics", "seconds", "CPU seconds"], lines)


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
