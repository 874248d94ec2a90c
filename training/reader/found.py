"""Make examples as the service meets them: the leaves that our retrieval finds for a question.

Flow: questions with quotes and their documents -> `bench/build.py` (our engine) -> **here** -> `fit.py`.
`examples.py` cuts passages by itself, and takes those whose words are like the question's for wrong ones. At question
time the reader has to choose among other passages: leaves that were found in all documents, by meaning and by words.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path, PurePath
from typing import Any

from bench.build import open_engine
from bench.datasets import DataSet
from errors import QuestionError
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.reader.leaves import PreparedLeaf, prepared_leaves, stored_documents
from query_engine.schema.passage import Passage
from settings import Settings
from training.reader.examples import Example, labelled, spans_of

# Of the leaves found for a question, the best that do not answer it; of a near miss one more.
AGAINST = 2
# Of an example's source.
FOUND = ", found"


def open_documents(name: str, documents: Path, settings: Settings) -> AbstractContextManager[Engine]:
    """Open an engine over a folder of documents; the index lies in the benchmarks' folder under `reader-NAME`."""
    return open_engine(DataSet(f"reader-{name}", documents, documents), settings)


def passages_for(engine: Engine, question: str) -> Sequence[Passage]:
    """Return what is found for a question; nothing for one that cannot be asked as it stands."""
    try:
        return engine.retrieve(Inquiry(question)).passages
    except QuestionError:
        return ()


def found_examples(
    name: str, documents: Path, rows: Iterable[Mapping[str, Any]], settings: Settings
) -> Iterator[Example]:
    """Yield the leaves found for each question that answer, and the best that do not.

    Leaves of other documents in its folder are left out: of ten house rules, each answers "May I keep a dog?".

    Args:
        name: of the questions.
        documents: the folder that is searched.
        rows: questions in the form of `data/README.md`.
        settings: retrieval options of the service.
    """
    with open_documents(name, documents, settings) as engine:
        document_of = stored_documents(engine.corpus.documents)
        for row in rows:
            right, wrong = [], []
            for leaf in prepared_leaves(passages_for(engine, row["question"]), document_of):
                example = _example(name, row, leaf)
                if example.answering:
                    right.append(example)
                elif _is_wrong_place(leaf.passage.doc_id, row["doc"]):
                    wrong.append(example)
            yield from right
            yield from wrong[: AGAINST if right else AGAINST + 1]


def _is_wrong_place(found: str, asked: str) -> bool:
    """Whether a leaf without the answer is surely wrong: in the document itself, or about another project."""
    return found == asked or PurePath(found).parent != PurePath(asked).parent


def _example(name: str, row: Mapping[str, Any], leaf: PreparedLeaf) -> Example:
    layout = leaf.layout
    spans = spans_of(row, layout.text) if leaf.passage.doc_id == row["doc"] else []
    units = [(layout.units[place].start, layout.units[place].end) for place in leaf.places]
    answering = frozenset(labelled(units, spans))
    shown = leaf.shown
    return Example(
        f"{name}{FOUND}", f"{name}/{row['doc']}", row["question"], shown.context, shown.text, shown.units, answering
    )
