"""Find data sets: a corpus and the questions asked of it.

Flow: a folder -> **here** -> the measurements.

A data set is a folder with `questions.jsonl` and its corpus: a folder `corpus/` or `documents/`, or a file
`corpus.jsonl`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from errors import RagError

SAMPLE = Path(__file__).parent.parent / "data"
CORPORA = ("corpus", "corpus.jsonl", "documents")


@dataclass(frozen=True, slots=True)
class DataSet:
    """A named corpus with questions; both paths exist."""

    name: str
    corpus: Path
    questions: Path


def find_sets(data: Path | None, names: Sequence[str] = ()) -> tuple[list[DataSet], list[str]]:
    """Return the data sets under `data`, by name, and the names of subfolders that are none.

    Args:
        data: a folder of data sets, or a data set itself; the sample corpus if None.
        names: take only these; all if empty.

    Raises:
        RagError: a named set, or any at all, is missing.
    """
    if data is None:
        found, others = [_data_set(SAMPLE, "sample")], []
    else:
        folders = [data] if _data_set(data) else sorted(path for path in data.glob("*") if path.is_dir())
        found = [_data_set(folder) for folder in folders]
        others = [folder.name for folder, is_set in zip(folders, found, strict=True) if not is_set]
    sets = {data_set.name: data_set for data_set in found if data_set}
    if missing := set(names) - sets.keys():
        there = ", ".join(sets) or "none"
        raise RagError(
            f"There is no data set {min(missing)!r} in {data or SAMPLE}.", f"There are: {there}.", "no_data_set"
        )
    if not sets:
        raise RagError(
            f"There is no data set in {data or SAMPLE}.",
            "Name a folder whose subfolders hold questions.jsonl and corpus/ or corpus.jsonl.",
            "no_data_set",
        )
    if names:
        return [sets[name] for name in dict.fromkeys(names)], []
    return list(sets.values()), others


def find_corpus(folder: Path) -> Path | None:
    """Return the corpus that lies in `folder`, None if there is none."""
    return next((path for name in CORPORA if (path := folder / name).exists()), None)


def _data_set(folder: Path, name: str | None = None) -> DataSet | None:
    questions = folder / "questions.jsonl"
    corpus = find_corpus(folder)
    if corpus is None or not questions.is_file():
        return None
    return DataSet(name or folder.resolve().name, corpus, questions)
