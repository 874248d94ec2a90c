"""Train the gate's classifier on data sets.

Flow: data sets -> `build.py` (our engine) -> `gate_examples.py` -> **here** -> `query_engine/gate.json` and its report,
`docs/gate.md`.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding

from bench.build import open_engine
from bench.datasets import DataSet
from bench.gate_examples import Example, make_examples
from bench.gate_report import report
from bench.gate_search import HidingSearch
from bench.gate_training import PRIOR, train
from eval.cases import Case, read_cases
from index.build import Embedding
from query_engine import gate
from query_engine.gate_features import Features, measure
from query_engine.passages import Passage
from settings import Settings

# Of all that were tried, those that held up on data sets left out of the training.
FEATURES = ("similarity", "sentence_similarity", "coverage", "length", "rarity")
REPORT = Path(__file__).parents[1] / "docs" / "gate.md"


def train_gate(data_sets: Sequence[DataSet], settings: Settings, *, write: bool) -> str:
    """Ask the data sets' questions of each of them, train, and return the report.

    Args:
        data_sets: two or more.
        settings: retrieval options of the examples; the gate's threshold.
        write: replace the shipped classifier and its report.

    Raises:
        RagError: whatever ingestion or the engine raises.
    """
    cases = {data_set: read_cases(data_set.questions) for data_set in data_sets}
    embedder = Embedding(settings).embedder
    examples: list[Example] = []
    for data_set in data_sets:
        foreign = [case for other, asked in cases.items() if other != data_set for case in asked]
        examples += _examples(data_set, cases[data_set], foreign, embedder, settings)
        print(f"{data_set.name}: {len(examples)} examples so far", file=sys.stderr)
    page = report(examples, FEATURES, settings.answer.min_confidence)
    if write:
        stored = train(examples, FEATURES).to_dict()
        trained_on = {"sets": [data_set.name for data_set in data_sets], "examples": len(examples), "prior": PRIOR}
        gate.SHIPPED.write_text(json.dumps({**stored, "trained_on": trained_on}, indent=1) + "\n")
        REPORT.write_text(page + "\n")
    return page


def _examples(
    data_set: DataSet, cases: Sequence[Case], foreign: Sequence[Case], embedder: BaseEmbedding, settings: Settings
) -> list[Example]:
    with open_engine(data_set, settings) as engine:
        search = HidingSearch(engine.corpus, embedder, settings.retrieval)

        def measured(question: str, passages: Sequence[Passage]) -> Features:
            return measure(question, passages, engine.corpus.words, embedder)

        return list(make_examples(data_set.name, cases, foreign, search, measured))
