"""Train the gate's classifier on data sets.

Flow: data sets -> `bench/build.py` (our engine) -> `examples.py` -> **here** -> `query_engine/answerability/gate.json`
and its report, `reference/gate.md`.
"""

import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding

from bench.build import open_engine, stored_text
from bench.datasets import DataSet
from eval.cases import Case
from eval.questions.files import read_cases
from index.build import Embedding
from query_engine.answerability import classifier
from query_engine.answerability.features import Features, measure
from query_engine.reader.leaves import stored_documents
from query_engine.reader.model import shipped_reader
from query_engine.reader.reading import LeafReader
from query_engine.schema.passage import Passage
from settings import Settings
from training.gate.examples import Example, examples_of_own, make_examples
from training.gate.fit import PRIOR, train
from training.gate.report import report
from training.gate.search import HidingSearch
from training.questions import read_training_questions
from training.reader.choice import UNSEEN
from training.reader.found import open_documents
from training.reader.regions import OWN, REAL, is_repeated, unseen_rows

# The sum of the reader's scores in the window, the share of the question's words in it and the number of leaves add
# nothing beside these (log loss 0.423 with them, 0.425 without).
FEATURES = ("near", "leaf")
# Questions of the other sets that are asked of each corpus: nearly all are easy.
FOREIGN_CASES = 60
# Small invented documents, asked in other words than theirs, and how many of the questions not learnt from are taken.
EVERYDAY, EVERYDAY_QUESTIONS = "everyday", 600
OWN_QUESTIONS = Path(__file__).with_name("data") / "wiki.jsonl"
REPORT = Path(__file__).parents[2] / "reference" / "gate.md"


def train_gate(data_sets: Sequence[DataSet], settings: Settings, *, write: bool) -> str:
    """Ask the data sets' questions of each of them, train, and return the report.

    Args:
        data_sets: two or more.
        settings: retrieval options of the examples; the gate's threshold.
        write: replace the shipped classifier and its report.

    Raises:
        RagError: from ingestion or the engine.
    """
    cases = {data_set: _cases(data_set) for data_set in data_sets}
    embedder = Embedding(settings).embedder
    examples: list[Example] = []
    for data_set in data_sets:
        foreign = [case for other, asked in cases.items() if other != data_set for case in asked]
        foreign = random.Random(data_set.name).sample(foreign, min(FOREIGN_CASES, len(foreign)))  # noqa: S311
        examples += _examples(data_set, cases[data_set], foreign, embedder, settings)
        print(f"{data_set.name}: {len(examples)} examples so far", file=sys.stderr)
    for name in (UNSEEN, *REAL, EVERYDAY):
        examples += _examples_of_own(name, embedder, settings)
        print(f"{name}: {len(examples)} examples so far", file=sys.stderr)
    threshold = settings.answer.min_confidence
    page = report(examples, FEATURES, threshold)
    if write:
        stored = asdict(train(examples, FEATURES))
        trained_on = {"sets": [data_set.name for data_set in data_sets], "examples": len(examples), "prior": PRIOR}
        classifier.SHIPPED.write_text(json.dumps({**stored, "trained_on": trained_on}, indent=1) + "\n")
        REPORT.write_text(page + "\n")
    return page


def _cases(data_set: DataSet) -> list[Case]:
    """Return a data set's questions; of SQuAD's corpus also ours about articles that the reader has not learnt from."""
    own = read_training_questions(OWN_QUESTIONS) if data_set.name == "squad" else ()
    return [*read_cases(data_set.questions), *own]


def _examples(
    data_set: DataSet, cases: Sequence[Case], foreign: Sequence[Case], embedder: BaseEmbedding, settings: Settings
) -> list[Example]:
    with open_engine(data_set, settings) as engine:
        search = HidingSearch(engine.corpus, embedder, settings.retrieval)
        corpus = engine.corpus
        words = corpus.lexical_index
        reader = LeafReader(shipped_reader(), stored_documents(corpus.documents), words, embedder)

        def measured(question: str, passages: Sequence[Passage]) -> tuple[Features, list[tuple[str, str]]]:
            reading = reader.read(question, passages)
            read = [(leaf.passage.doc_id, leaf.read_text) for leaf in reading.leaves]
            return measure(question, passages, words, embedder, reading), read

        return list(make_examples(data_set.name, cases, foreign, search, measured))


def _examples_of_own(name: str, embedder: BaseEmbedding, settings: Settings) -> list[Example]:
    """Ask a set of `training/reader/data`: the questions that the reader has not learnt from."""
    rows = unseen_rows(name)
    if name == EVERYDAY:
        rows = [row for row in rows if not is_repeated(name, row["question"])][:EVERYDAY_QUESTIONS]
    with open_documents(name, OWN / name / "docs", settings) as engine:
        corpus = engine.corpus
        words = corpus.lexical_index
        search = HidingSearch(corpus, embedder, settings.retrieval)

        def measured(question: str, passages: Sequence[Passage]) -> tuple[Features, list[tuple[str, int, int]]]:
            reading = engine.reader.read(question, passages)
            read = [
                (leaf.passage.doc_id, leaf.layout.units[leaf.read[0]].start, leaf.layout.units[leaf.read[-1]].end)
                for leaf in reading.leaves
            ]
            return measure(question, passages, words, embedder, reading), read

        return list(examples_of_own(name, rows, search, measured, stored_text(engine)))
