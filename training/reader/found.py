"""Make examples as the service meets them: the leaves that our retrieval finds for a question.

Flow: questions with quotes and their documents -> `bench/build.py` (our engine) -> **here** -> `fit.py`.
`examples.py` cuts passages by itself, and takes those whose words are like the question's for wrong ones. At question
time the reader has to choose among other passages: leaves that were found in all documents, by meaning and by words.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.build import open_engine
from bench.datasets import DataSet
from errors import QuestionError
from query_engine.inquiry import Inquiry
from query_engine.reader.windows import PreparedLeaf, prepared_leaves, stored_documents
from settings import Settings
from training.reader.examples import Example, find, labelled

# Of the leaves found for a question, so many that do not answer it; of a near miss one more.
AGAINST = 2
# Of an example's source.
FOUND = ", found"


def found_examples(
    name: str,
    documents: Path,
    rows: Iterable[Mapping[str, Any]],
    settings: Settings,
    *,
    other_documents: bool,
    leave_out: Collection[str] = (),
) -> Iterator[Example]:
    """Yield the leaves found for each question that answer, and the best that do not.

    Args:
        name: of the questions; the index lies in the benchmarks' folder under `reader-NAME`.
        documents: the folder that is searched.
        rows: questions in the form of `data/README.md`.
        settings: retrieval options of the service.
        other_documents: whether leaves of other documents than the question's count as wrong. They do where each
            document has its own subject; of ten house rules, each answers "May I keep a dog?". Even then they count
            only if the right leaf was found, which says that the question names its subject.
        leave_out: names of files whose leaves are not learnt from.
    """
    with open_engine(DataSet(f"reader-{name}", documents, documents), settings) as engine:
        document_of = stored_documents(engine.corpus.documents)
        for row in rows:
            try:
                passages = engine.retrieve(Inquiry(row["question"])).passages
            except QuestionError:
                continue
            leaves = [(Path(leaf.passage.doc_id).name, leaf) for leaf in prepared_leaves(passages, document_of)]
            examples = [
                (document == row["doc"], _example(name, row, leaf))
                for document, leaf in leaves
                if document not in leave_out
            ]
            right = [one for own, one in examples if own and one.answering]
            everywhere = other_documents and (bool(right) or not row["quotes"])
            wrong = [one for own, one in examples if not one.answering and (own or everywhere)]
            yield from right
            yield from wrong[: AGAINST if row["quotes"] else AGAINST + 1]


def _example(name: str, row: Mapping[str, Any], leaf: PreparedLeaf) -> Example:
    quotes = row["quotes"] if Path(leaf.passage.doc_id).name == row["doc"] else ()
    spans = [found for quote in quotes if (found := find(leaf.text, quote))]
    units = [(leaf.layout.units[place].start, leaf.layout.units[place].end) for place in leaf.places]
    answering = frozenset(labelled(units, spans))
    shown = leaf.shown
    return Example(
        f"{name}{FOUND}", f"{name}/{row['doc']}", row["question"], shown.context, shown.text, shown.units, answering
    )
