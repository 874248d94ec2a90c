"""The rows that an embedding model is trained on: kept in the run's folder, so that a killed run finds them again.

Flow: `pairs.py`, `negatives.py` -> **these** -> `fit.py`. A row holds texts as the model reads them: a passage has its
document's title before it, and both prefixes are there.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from eval.cases import Case
from eval.run_folder import replace_file


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf of the corpus.

    Attributes:
        node_id: of the corpus.
        doc_id: its document.
        embedded: what is embedded for it: title, line break, text.
        text: its own text.
        pages: zero-based indices of the pages it touches.
    """

    node_id: str
    doc_id: str
    embedded: str
    text: str
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, what is known of its answer, and the leaf that answers it."""

    case: Case
    leaf: Leaf


@dataclass(frozen=True, slots=True)
class Row:
    """What is trained on at once."""

    question: str
    passage: str
    negatives: tuple[str, ...]


def write_rows(rows: Iterable[Row], path: Path) -> None:
    """Write rows, one JSON object a line; the file is there whole or not at all."""
    replace_file(path, "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows))


def read_rows(path: Path) -> Sequence[Row]:
    """Read what `write_rows` wrote."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return [Row(row["question"], row["passage"], tuple(row["negatives"])) for row in found]
