"""`python -m eval questions CORPUS`: draft questions from a corpus by a model.

Flow: a corpus -> `sections.py` -> `writing.py` -> a file for `python -m eval run`. The only place of this room that
opens a corpus or a judge.
"""

import argparse
import asyncio
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

from errors import QuestionError, RagError
from eval.argument_types import whole_number
from eval.cases import case_lines
from eval.drafting.sections import Leaf, spread
from eval.drafting.writing import DEPTH, KINDS, Drafting
from eval.run_folder import refused_by_disk, replace_file
from eval.scoring.build import open_judge
from settings import Settings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("corpus", nargs="?", help="an ingested corpus (default: RAG_INDEX__CORPUS)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="of the questions (default: CORPUS-questions.jsonl)")
    parser.add_argument("--count", type=whole_number, default=60, metavar="N", help="questions, at most (60)")
    kinds = tuple(KINDS)
    parser.add_argument("--kinds", nargs="+", choices=kinds, default=kinds, help="of questions (default: all)")
    parser.add_argument("--language", default="", metavar="CODE", help="of questions, e.g. de (default: documents')")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Draft questions, and write them.

    Raises:
        RagError: nothing can be drafted, or the file exists.
        SettingsError: no model is set.
    """
    corpus = arguments.corpus or settings.index.corpus
    path = arguments.out or Path(f"{corpus}-questions.jsonl")
    if path.exists():
        raise RagError(f"{path} exists.", "Name another file by --out.", "no_drafts")
    made = _draft(arguments, corpus, settings)
    dropped = ", ".join(f"{count} {reason}" for reason, count in made.dropped.most_common())
    sys.stderr.write(f"Dropped: {dropped or 'nothing'}.\n")
    if not made.drafts:
        raise RagError(
            f"No question could be drafted from corpus {corpus!r}.", "Ingest documents with prose.", "no_drafts"
        )
    with refused_by_disk(path, "Name another file by --out.", "no_drafts"):
        replace_file(path, case_lines(made.drafts))
    kinds = Counter(draft.category for draft in made.drafts)
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    print(f"{path}: {len(made.drafts)} questions ({counted}), by {settings.judge.model}")
    return 0


def _draft(arguments: argparse.Namespace, corpus: str, settings: Settings) -> Drafting:
    judge = open_judge(settings)
    from query_engine.build import Engines  # noqa: PLC0415  # loads LlamaIndex
    from query_engine.inquiry import Inquiry  # noqa: PLC0415

    with closing(Engines(settings)) as engines:
        engine = engines.get(corpus)
        every = {"merge": False, "top_k": DEPTH, "budget_chars": sys.maxsize, "max_per_document": None}
        leaves = settings.retrieval.model_copy(update=every)

        def find(question: str) -> list[Leaf]:
            try:
                found = engine.retrieve(Inquiry(question), leaves).passages
            except QuestionError:  # a service would refuse it as well
                return []
            return [Leaf(one.doc_id, one.start, one.end, one.text) for one in found]

        made = Drafting(judge, find, engines.embed_query)
        sections = spread(engine.corpus.documents.each())
        asyncio.run(made.draft(sections, arguments.count, arguments.kinds, arguments.language))
    if judge.given_up and not made.drafts:
        raise judge.given_up
    if judge.given_up:
        sys.stderr.write(f"Stopped early: {judge.given_up}\n")
    return made
