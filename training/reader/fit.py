"""Train the reader, for `python -m training.reader.regions`.

Flow: `examples.py` -> **here** -> a checkpoint -> `export.py`. On two cores without a GPU an epoch of 20,000 examples
takes about half an hour. Every five minutes it writes a checkpoint and prints figures on a part of the held-out rows;
at the end, on all of them.
"""

import itertools
import json
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from sklearn.metrics import roc_auc_score
from tokenizers import Tokenizer

from index.embedding.cpu import multiplies_bf16
from training.reader.examples import Example
from training.reader.model import ANSWERS, Reader, padded, unit_means

MAX_TOKENS = 256
QUESTION_CHARS, TITLE_CHARS = 300, 120
BATCH = 16
# Of a batch, each learnt from by one core.
PARTS = 2
WARM_UP_SHARE = 0.06
# Sentences that answer are fewer than those that do not.
WEIGHT_OF_ANSWERING = 2.0
REPORT_EVERY_S = 300.0
# Held-out rows of a report before the last.
REPORTED_ROWS = 600


@dataclass(frozen=True, slots=True)
class Row:
    """An example in tokens; `units` has -1 for tokens of no unit."""

    ids: list[int]
    types: list[int]
    units: list[int]
    labels: list[float]
    source: str


def encode(examples: Sequence[Example], tokenizer: Tokenizer) -> list[Row]:
    """Return examples in tokens, cut at `MAX_TOKENS`."""
    tokenizer.enable_truncation(MAX_TOKENS, strategy="longest_first")
    tokenizer.no_padding()
    prefixes = [f"{one.title[:TITLE_CHARS]}\n" for one in examples]
    pairs = [(one.question[:QUESTION_CHARS], prefix + one.text) for one, prefix in zip(examples, prefixes, strict=True)]
    rows = []
    for one, prefix, encoding in zip(examples, prefixes, tokenizer.encode_batch(pairs), strict=True):
        starts = [start + len(prefix) for start, _ in one.units]
        ends = [end + len(prefix) for _, end in one.units]
        units = []
        for kind, (start, end) in zip(encoding.type_ids, encoding.offsets, strict=True):
            unit = -1
            if kind == 1 and end > start >= len(prefix):
                unit = next((i for i in range(len(starts)) if starts[i] <= start and end <= ends[i]), -1)
            units.append(unit)
        labels = [float(place in one.answering) for place in range(len(one.units))]
        rows.append(Row(encoding.ids, encoding.type_ids, units, labels, one.source))
    return rows


def fit(
    rows: Sequence[Row],
    held_out: Sequence[Row],
    folder: Path,
    target: Path,
    *,
    epochs: float,
    rate: float,
    seed: int,
    start: Mapping[str, torch.Tensor] | None = None,
) -> Reader:
    """Train, and write a checkpoint to `target` at each report.

    Args:
        rows: learnt from.
        held_out: not learnt from.
        folder: of the encoder to begin with.
        target: a .safetensors file.
        epochs: how often each row is seen; parts of one are possible.
        rate: the highest learning rate.
        seed: of the order of rows. Dropout differs between runs, because threads share its generator.
        start: the weights to go on from; those of the encoder if None.
    """
    torch.manual_seed(seed)
    reader = Reader(folder)
    if start is not None:
        reader.load_state_dict(start)
    # With this few examples, training would spoil the vectors of words that are not in them.
    reader.encoder.embeddings.requires_grad_(requires_grad=False)
    decayed = [value for value in reader.parameters() if value.requires_grad and value.ndim > 1]
    others = [value for value in reader.parameters() if value.requires_grad and value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}], lr=rate
    )
    steps = int(epochs * len(rows) / BATCH)
    warm = max(1, int(WARM_UP_SHARE * steps))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(step / warm, max(0.02, (steps - step) / max(1, steps - warm)))
    )
    losses, started, reported = list[float](), time.monotonic(), time.monotonic()
    reader.train()
    # PyTorch's own threads gain little on batches this small. Gradients are added up under a lock of PyTorch's.
    with ThreadPoolExecutor(PARTS, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        for step, batch in enumerate(itertools.islice(_batches(rows, random.Random(seed)), steps), 1):  # noqa: S311
            parts = [batch[part::PARTS] for part in range(PARTS)]
            weights = _Weights.of(batch)
            losses.append(sum(pool.map(lambda part, weights=weights: _learn(reader, part, weights), parts)))
            torch.nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            if step == steps or time.monotonic() - reported > REPORT_EVERY_S:
                reported = time.monotonic()
                save_file(reader.state_dict(), target)
                seen = step * BATCH
                held = held_out if step == steps else held_out[:: max(1, len(held_out) // REPORTED_ROWS)]
                print(
                    f"{seen} of {steps * BATCH} examples, {seen / (time.monotonic() - started):.1f}/s, "
                    f"loss {np.mean(losses[-100:]):.4f}; held out: {json.dumps(measure(reader, held))}",
                    flush=True,
                )
                reader.train()
    return reader


@dataclass(frozen=True, slots=True)
class _Weights:
    """What a batch's loss is divided by; its parts share it, so that each example counts the same in any part."""

    sentences: float
    passages: int

    @classmethod
    def of(cls, batch: Sequence[Row]) -> "_Weights":
        sentences = sum(
            WEIGHT_OF_ANSWERING if label else 1.0
            for row in batch
            for place, label in enumerate(row.labels)
            if place in row.units
        )
        return cls(max(1.0, sentences), len(batch))


def _learn(reader: Reader, rows: Sequence[Row], weights: _Weights) -> float:
    """Add the gradients of a part of a batch, and return its share of the loss; may run in several threads."""
    with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
        logits = reader(*_inputs(rows))
    loss = _loss(logits.float(), rows, weights)
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def measure(reader: Reader, rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    """Return by source: `mrr` of the first sentence that answers, `auc` of sentences, `answerable` AUC of passages."""
    reader.eval()
    by_source = defaultdict[str, list[tuple[float, list[float], list[float]]]](list)
    with torch.inference_mode():
        for batch in _in_order(rows):
            with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bf16()):
                logits = reader(*_inputs(batch)).float()
            count = max(len(row.labels) for row in batch)
            means = unit_means(logits[:, :, ANSWERS], padded([row.units for row in batch], -1), count)
            for row, scores, whole in zip(batch, means.tolist(), logits[:, 0, ANSWERS].tolist(), strict=True):
                by_source[row.source].append((whole, scores[: len(row.labels)], row.labels))
    found = {}
    for source, read in sorted(by_source.items()):
        answered = [(scores, labels) for _, scores, labels in read if any(labels)]
        ranks = [
            1 + sum(score > max(s for s, label in zip(scores, labels, strict=True) if label) for score in scores)
            for scores, labels in answered
        ]
        units = [pair for _, scores, labels in read for pair in zip(scores, labels, strict=True)]
        figures = {"n": float(len(read)), "mrr": float(np.mean([1 / rank for rank in ranks])) if ranks else 0.0}
        figures |= {"auc": _auc(units), "answerable": _auc([(whole, float(any(labels))) for whole, _, labels in read])}
        found[source] = {name: round(value, 3) for name, value in figures.items()}
    return found


def _auc(pairs: Sequence[tuple[float, float]]) -> float:
    labels = [label for _, label in pairs]
    return float(roc_auc_score(labels, [score for score, _ in pairs])) if 0 < sum(labels) < len(labels) else 0.0


def _inputs(batch: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return (
        padded([row.ids for row in batch], 0),
        padded([[1] * len(row.ids) for row in batch], 0),
        padded([row.types for row in batch], 0),
    )


def _loss(logits: torch.Tensor, batch: Sequence[Row], weights: _Weights) -> torch.Tensor:
    count = max(len(row.labels) for row in batch)
    units = padded([row.units for row in batch], -1)
    labels = torch.tensor([[*row.labels, *[0.0] * (count - len(row.labels))] for row in batch])
    seen = torch.tensor(
        [[float(place in set(row.units)) for place in range(count)] for row in batch]
    )  # a unit may have been cut off
    means = unit_means(logits[:, :, ANSWERS], units, count)
    weight = seen * (1 + (WEIGHT_OF_ANSWERING - 1) * labels)
    sentences = torch.nn.functional.binary_cross_entropy_with_logits(means, labels, weight=weight, reduction="sum")
    answers = labels.amax(dim=1)
    passages = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0, ANSWERS], answers, reduction="sum")
    return sentences / weights.sentences + passages / weights.passages


def _batches(rows: Sequence[Row], rng: random.Random) -> Iterator[list[Row]]:
    """Yield batches forever; rows of similar length share one, so that little is computed on padding."""
    while True:
        order = list(range(len(rows)))
        rng.shuffle(order)
        for first in range(0, len(order), 64 * BATCH):
            part = sorted(order[first : first + 64 * BATCH], key=lambda place: len(rows[place].ids))
            batches = [part[i : i + BATCH] for i in range(0, len(part), BATCH)]
            rng.shuffle(batches)
            yield from ([rows[place] for place in batch] for batch in batches if len(batch) == BATCH)


def _in_order(rows: Sequence[Row]) -> Iterator[list[Row]]:
    ordered = sorted(rows, key=lambda row: len(row.ids))
    yield from (ordered[first : first + 64] for first in range(0, len(ordered), 64))
