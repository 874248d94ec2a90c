"""`python -m training.fusion_weights`: fit the weights of the tree's evidence.

Flow: questions about real documentation (`training/reader/data`) -> our engine searches each once -> `fit.py` ->
weights and a table of places on stdout. The shipped weights are in `query_engine/retrieval/fusion.py`; this command
writes no file.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import json
import sys
from collections.abc import Iterator, Sequence

from bench.arguments import add_limit
from bench.build import stored_text
from errors import QuestionError, run_command
from query_engine.question.validation import clean_question
from query_engine.retrieval.fusion import WEIGHTS
from query_engine.schema.query import Query
from settings import Settings, load_settings
from training.fusion_weights import fit
from training.reader.choice import UNSEEN
from training.reader.examples import read_rows, spans_of
from training.reader.found import open_documents
from training.reader.regions import OWN, REAL


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, fit, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.fusion_weights",
        description="Ask every question once, fit the weights, and print them with the places of the right leaves in "
        "five folds.",
    )
    add_limit(parser)
    arguments = parser.parse_args(argv)
    return run_command(lambda: _fit(arguments, load_settings()))


def _fit(arguments: argparse.Namespace, settings: Settings) -> int:
    asked = [one for name in (*REAL, UNSEEN) for one in _ranked(name, settings, arguments.limit)]
    print(f"fitting on {len(asked)} questions", file=sys.stderr, flush=True)
    weights = fit.fitted(asked, WEIGHTS)
    print(json.dumps({scorer: round(weight, 3) for scorer, weight in weights.items()}), end="\n\n")
    shipped = [one.place(WEIGHTS) for one in asked]
    print(fit.places_table(asked, {"shipped": shipped, "in folds": fit.in_folds(asked, WEIGHTS)}))
    return 0


def _ranked(name: str, settings: Settings, limit: int | None) -> Iterator[fit.Ranked]:
    with open_documents(name, OWN / name / "docs", settings) as engine:
        text_of = stored_text(engine)
        retriever = engine.search.leaf_retriever(settings.retrieval)
        for row in list(read_rows(OWN / name / "rows.jsonl"))[:limit]:
            spans = spans_of(row, text_of(row["doc"]) or "") if row["language"] == "en" else []
            try:
                question = clean_question(row["question"])
            except QuestionError:
                continue
            if spans:
                yield fit.ranked(name, retriever.find(Query(question)), row["doc"], spans)


if __name__ == "__main__":
    sys.exit(main())
