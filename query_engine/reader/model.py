"""The reader: a small encoder that reads question and passage together and scores the passage's units.

`leaves.py` gives it stretches of documents; it tells how likely each unit answers, and whether the passage does. It is
trained by `training/reader/`; `model/README.md` says on what, and how well it reads. It runs on the CPU by OpenVINO.
"""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tokenizers import Encoding, Tokenizer

from index.embedding.compiled_model import CompiledModel, compile_model
from index.plain_letters import plain_letters

SHIPPED = Path(__file__).with_name("model")
MAX_TOKENS = 256
QUESTION_CHARS, CONTEXT_CHARS = 300, 120
# As many as the leaves of a question.
MAX_STREAMS = 8
# OpenVINO keeps code and buffers for every shape it has met.
WIDTH_STEP = 16
# The network also scores where a short answer begins and ends; only the first score of a token is used.
ANSWERS = 0

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PassageText:
    """What is read.

    Attributes:
        context: the title and the heading that the text stands under, a line each.
        text: of the passage.
        units: spans of `text` to be scored.
    """

    context: str
    text: str
    units: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Scores:
    """The reader's scores of one passage, as log-odds.

    Attributes:
        passage: it answers the question.
        units: each unit answers; minus infinity for units beyond the window.
    """

    passage: float
    units: tuple[float, ...]


class PassageReader(Protocol):
    """Scores passages for a question; `Reader` does."""

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        """Return the scores of each passage, in order."""


class Reader:
    """The reader in `folder`. Safe to call from many threads.

    Args:
        folder: holds `reader.xml`, `reader.bin` and `tokenizer.json`.
        threads: cores it may use; all of them if None.
    """

    def __init__(self, folder: Path = SHIPPED, threads: int | None = None) -> None:
        limit = {"INFERENCE_NUM_THREADS": str(threads)} if threads else {}
        # A stream for each passage is faster than all cores for a batch, which is as wide as its longest one.
        streams = min(MAX_STREAMS, threads or os.cpu_count() or 1)
        # Not bf16: where a CPU has AMX it moved the scores of short passages by as much as a wrong answer (ADR 0011).
        options = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": str(streams)} | limit
        self._compiled = CompiledModel(partial(compile_model, folder / "reader.xml", options))
        self._tokenizer = read_tokenizer(folder / "tokenizer.json")
        # Two first inferences at once would wait for each other (`index/embedding/openvino.py`).
        self.read("first", [PassageText("", "first", ((0, 5),))])

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        """Return the scores of each passage, in order."""
        passages = [_in_plain_letters(one) for one in passages]
        encodings = encode(self._tokenizer, plain_letters(question), passages)
        # The longest first, so that no core is left with it at the end.
        order = sorted(range(len(passages)), key=lambda place: -len(encodings[place]))

        def logits(compiled: Any) -> list[npt.NDArray[np.float32]]:
            requests: dict[int, Any] = {}
            try:
                for place in order:
                    requests[place] = _started(compiled, encodings[place])
            finally:
                for request in requests.values():
                    request.wait()
            return [requests[place].get_output_tensor().data[0].copy() for place in range(len(passages))]

        scored = zip(passages, encodings, self._compiled.run(logits), strict=True)
        return [scores_of(passage, encoding, found) for passage, encoding, found in scored]


def _in_plain_letters(passage: PassageText) -> PassageText:
    text = plain_letters(passage.text)
    units = passage.units
    if text != passage.text:
        units = tuple(
            (len(plain_letters(passage.text[:start])), len(plain_letters(passage.text[:end]))) for start, end in units
        )
    return PassageText(plain_letters(passage.context), text, units)


def _started(compiled: Any, encoding: Encoding) -> Any:
    width = -(-len(encoding) // WIDTH_STEP) * WIDTH_STEP
    arrays = np.zeros((3, 1, width), np.int64)
    arrays[:, 0, : len(encoding)] = encoding.ids, encoding.attention_mask, encoding.type_ids
    request = compiled.create_infer_request()
    request.start_async(dict(zip(("input_ids", "attention_mask", "token_type_ids"), arrays, strict=True)))
    return request


def read_tokenizer(path: Path) -> Tokenizer:
    """Return the tokenizer for pairs of question and passage; the longer of them is cut at the window."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    return tokenizer


def encode(tokenizer: Tokenizer, question: str, passages: Sequence[PassageText]) -> list[Encoding]:
    """Return question and passage in tokens, for each passage."""
    return list(tokenizer.encode_batch([(question[:QUESTION_CHARS], _prefix(one) + one.text) for one in passages]))


def scores_of(passage: PassageText, encoding: Encoding, logits: npt.NDArray[np.float32]) -> Scores:
    """Return a passage's scores from its logits, shape (tokens or more, 3)."""
    places = unit_tokens(passage, encoding)
    units = tuple(float(logits[of_unit, ANSWERS].mean()) if of_unit else -math.inf for of_unit in places)
    return Scores(float(logits[0, ANSWERS]), units)


def unit_tokens(passage: PassageText, encoding: Encoding) -> list[list[int]]:
    """Return for each unit the places of its tokens; none for units beyond the window."""
    skipped = len(_prefix(passage))
    found: list[list[int]] = [[] for _ in passage.units]
    unit = 0
    for place, (sequence, (first, last)) in enumerate(zip(encoding.sequence_ids, encoding.offsets, strict=True)):
        if sequence != 1 or last <= first or first < skipped:
            continue
        start, end = first - skipped, last - skipped
        while unit < len(passage.units) and passage.units[unit][1] <= start:
            unit += 1
        if unit < len(passage.units) and passage.units[unit][0] <= start and end <= passage.units[unit][1]:
            found[unit].append(place)
    return found


def _prefix(passage: PassageText) -> str:
    return passage.context[:CONTEXT_CHARS] + "\n"


@cache
def shipped_reader() -> Reader:
    """Return the shipped reader, which is loaded once."""
    return Reader()
