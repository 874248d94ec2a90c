"""The data sets of natural questions: which there are, how each is scored, which corpus each question asks.

Flow: a folder of data sets -> **here** -> `asking.py`. Each set is a file of the evaluation's questions; what its lines
hold beside them, its class says.

Unlike those of `bench/datasets.py`, these sets need no corpus beside their questions: `open_questions` is about four
corpora, `squad2` about the one of `squad`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.datasets import DataSet, find_corpus
from bench.quality.helpful.asking import NaturalCase
from bench.quality.helpful.clapnq import ClapnqCase
from bench.quality.helpful.nuggets import NuggetCase, check_regions
from bench.quality.helpful.sources import read_folded
from bench.quality.helpful.squad2 import Squad2Case
from errors import RagError
from eval.metrics import file_name
from eval.questions.files import read_cases

KINDS: Mapping[str, type[NaturalCase]] = {
    "open_questions": NuggetCase,
    "office": NuggetCase,
    "realdocs": NuggetCase,
    "papers": NuggetCase,
    "clapnq": ClapnqCase,
    "squad2": Squad2Case,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What one corpus is asked.

    Attributes:
        data_set: the corpus; its index bears its name.
        cases: set -> its questions about this corpus, each with its place in the set.
        documents: file name -> folded text of the documents that the questions' regions lie in.
    """

    data_set: DataSet
    cases: dict[str, list[tuple[int, NaturalCase]]]
    documents: dict[str, str]


def choose(data: Path, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the sets to ask, and of those that are not there.

    Args:
        data: the folder of data sets.
        names: take only these; all if empty.

    Raises:
        RagError: a named set, or any at all, is missing.
    """
    there = [name for name in KINDS if (data / name / "questions.jsonl").is_file()]
    if missing := [name for name in names if name not in there]:
        fact = f"There is no data set {missing[0]!r} of natural questions in {data}."
        raise RagError(fact, f"There are: {', '.join(there) or 'none'}.", "no_data_set")
    if not there:
        raise RagError(
            f"There is no data set of natural questions in {data.resolve()}.",
            f"Name by --data a folder that holds at least one of: {', '.join(KINDS)}.",
            "no_data_set",
        )
    chosen = [name for name in KINDS if name in (names or there)]
    return chosen, [] if names else [name for name in KINDS if name not in there]


def read_asked(
    data: Path, names: Sequence[str], limit: int | None, half: str = "all"
) -> tuple[list[Asked], dict[str, list[str]]]:
    """Read the questions of the sets, grouped by the corpus they ask.

    Args:
        data: the folder of data sets.
        names: of the sets.
        limit: the first `limit` questions of each set.
        half: `even` or `odd`: only questions whose id ends in such a number; or `all`.

    Returns:
        What each corpus is asked, and for each corpus that `data` lacks the ids of its questions.

    Raises:
        BadCasesError: a line is not a question of its set, or a region is not in its document.
    """
    by_corpus: dict[str, dict[str, list[tuple[int, NaturalCase]]]] = {}
    for name in names:
        for place, case in enumerate(read_cases(data / name / "questions.jsonl", KINDS[name])[:limit]):
            number = re.search(r"\d*$", case.id)
            if half != "all" and number and (int(number[0] or 0) % 2 == 1) != (half == "odd"):
                continue
            by_corpus.setdefault(case.corpus or name, {}).setdefault(name, []).append((place, case))
    asked, lacking = [], {}
    for corpus, cases in by_corpus.items():
        # A set may bring its corpora with it.
        folders = [data / corpus, *(data / name / corpus for name in cases)]
        path = next((found for folder in folders if (found := find_corpus(folder))), None)
        if path is None:
            lacking[corpus] = [case.id for group in cases.values() for _, case in group]
            continue
        with_regions = [case for group in cases.values() for _, case in group if isinstance(case, NuggetCase)]
        wanted = {file_name(region.doc) for case in with_regions for region in case.regions if not region.text}
        documents = read_folded(path, wanted) if wanted else {}
        check_regions(with_regions, documents)
        questions = data / next(iter(cases)) / "questions.jsonl"
        asked.append(Asked(DataSet(corpus, path, questions), cases, documents))
    return asked, lacking
