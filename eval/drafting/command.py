"""`python -m eval questions CORPUS`: draft questions from a corpus, and have a person review them.

Flow: a corpus -> `draft.py` cuts sections -> `by_model.py` or `by_structure.py` -> `draft.py` drops what fails -> a
file for `python -m eval run`. The only place of this room that opens a corpus or a judge.

A review rewrites the file after each key: a stopped one goes on with what is not reviewed yet, and the file can be
asked at any time.
"""

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from errors import RagError, SettingsError
from eval.argument_types import whole_number
from eval.cases import case_lines
from eval.drafting import by_model, by_structure
from eval.drafting.draft import DEPTH, STRUCTURE, Checks, Draft, Leaf, spread
from eval.nuggets import recalls
from eval.questions.files import read_cases
from eval.run_folder import replace_file
from eval.scoring.build import open_judge
from settings import Settings

if TYPE_CHECKING:
    from query_engine.engine import Engine


KEYS = "[k]eep, [e]dit, [d]rop, [q]uit"
BETWEEN = " | "


class NoDraftsError(RagError):
    """No question can be drafted, or the file cannot be written."""

    code = "no_drafts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("corpus", nargs="?", help="an ingested corpus (default: RAG_INDEX__CORPUS)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="of the questions (default: CORPUS-questions.jsonl)")
    parser.add_argument("--count", type=whole_number, default=60, metavar="N", help="questions, at most (60)")
    parser.add_argument(
        "--kinds",
        nargs="+",
        choices=tuple(by_model.KINDS),
        help="of questions (default: all; without a model factual, how_to, list)",
    )
    parser.add_argument(
        "--language", nargs="+", default=[], metavar="CODE", help="of questions, in turn, e.g. de (default: documents')"
    )
    parser.add_argument("--review", action="store_true", help="review the drafts of FILE; draft them if it is missing")


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Draft, and review where that is wished.

    Raises:
        NoDraftsError: nothing can be drafted, or the file exists.
        SettingsError: the kinds or the language need a model, and none is set.
    """
    corpus = arguments.corpus or settings.index.corpus
    path = arguments.out or Path(f"{corpus}-questions.jsonl")
    if not path.exists():
        checks = _draft(arguments, corpus, settings)
        dropped = ", ".join(f"{count} {reason}" for reason, count in checks.dropped.most_common())
        sys.stderr.write(f"Dropped: {dropped or 'nothing'}.\n")
        if not checks.drafts:
            raise NoDraftsError(f"No question could be drafted from corpus {corpus!r}.", "Ingest documents with prose.")
        try:
            replace_file(path, case_lines(checks.drafts))
        except OSError as error:
            raise NoDraftsError(
                f"{path} cannot be written: {error.strerror}.", "Name another file by --out."
            ) from error
        kinds = Counter(draft.category for draft in checks.drafts)
        counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        print(f"{path}: {len(checks.drafts)} questions ({counted}), by {checks.by}")
    elif not arguments.review:
        raise NoDraftsError(f"{path} exists.", "Review it by --review, or name another file by --out.")
    if arguments.review:
        review(path, input, print)
    return 0


def _draft(arguments: argparse.Namespace, corpus: str, settings: Settings) -> Checks:
    model = settings.judge.model if settings.judge.base_url else None
    kinds = arguments.kinds or list(by_model.KINDS if model else by_structure.KINDS)
    if model is None and (arguments.language or set(kinds) - set(by_structure.KINDS)):
        raise SettingsError(
            f"Without a model only English questions are drafted, of the kinds {', '.join(by_structure.KINDS)}.",
            "Set RAG_JUDGE__BASE_URL and RAG_JUDGE__MODEL.",
        )
    from query_engine.build import Engines  # noqa: PLC0415  # loads LlamaIndex

    with closing(Engines(settings)) as engines:
        engine = engines.get(corpus)
        sections = spread(engine.corpus.documents.each())
        checks = Checks(partial(_found, engine, settings), engines.embed_query, model or STRUCTURE)
        if model is None:
            english = [one for one in sections if one.document.metadata.get("language", "en") == "en"]
            for candidate in by_structure.candidates(english, kinds):
                if len(checks.drafts) < arguments.count:
                    checks.take(candidate)
        elif sections:
            judge = open_judge(settings)
            writer = by_model.Writer(judge, sections, checks)
            asyncio.run(writer.draft(arguments.count, kinds, arguments.language, settings.judge.concurrency))
            if judge.given_up and not checks.drafts:
                raise judge.given_up
            if judge.given_up:
                sys.stderr.write(f"Stopped early: {judge.given_up}\n")
    return checks


def _found(engine: "Engine", settings: Settings, question: str) -> list[Leaf]:
    """Return the leaves that the service's search finds for a question, best first."""
    from index.documents.span_tree import split_node_id  # noqa: PLC0415
    from query_engine.schema.query import Query  # noqa: PLC0415  # loads LlamaIndex

    hits = engine.search.leaf_retriever(settings.retrieval).search(Query(question))[:DEPTH]
    places = [split_node_id(hit.node_id) for hit in hits]
    documents = engine.corpus.documents.get_versions({version for version, _ in places})
    leaves = []
    for version, position in places:
        document = documents[version]
        span = document.tree[position]
        leaves.append(Leaf(document.doc_id, span.start, span.end, document.text[span.start : span.end]))
    return leaves


def review(path: Path, ask: Callable[[str], str], show: Callable[[str], object]) -> None:
    """Ask about each question that nobody has reviewed, until all are or the person leaves.

    Args:
        path: of the drafts.
        ask: shows a prompt and returns the line that was typed; raises EOFError at the end of the input.
        show: prints a text.

    Raises:
        BadCasesError: the file holds no drafts.
    """
    drafts = list(read_cases(path, Draft))
    waiting = [draft for draft in drafts if not draft.reviewed]
    for number, draft in enumerate(waiting, start=1):
        show(f"\n{number} of {len(waiting)}\n{_described(draft)}")
        try:
            decided = _decided(draft, ask, show)
        except EOFError:
            break
        place = drafts.index(draft)
        drafts[place : place + 1] = [decided] if decided else []
        replace_file(path, case_lines(drafts))
    left = sum(not draft.reviewed for draft in drafts)
    show(f"\n{path}: {len(drafts) - left} questions reviewed and kept, {left} not reviewed yet.")


def _described(draft: Draft) -> str:
    facts = [f"{'vital' if one.vital else 'okay '} {one.text}: {BETWEEN.join(one.any)}" for one in draft.nuggets]
    regions = [text for context in draft.reference_contexts for text in ("", context)]
    head = f"{draft.category}, by {draft.drafted_by or 'a person'}, from {draft.source or '-'}"
    answer = "(the corpus does not answer it)" if draft.unanswerable else draft.answer or "(unknown)"
    return "\n".join((head, f"question: {draft.question}", f"answer:   {answer}", *facts, *regions, ""))


def _decided(draft: Draft, ask: Callable[[str], str], show: Callable[[str], object]) -> Draft | None:
    """Return the draft as it is kept; None drops it. Raises EOFError to leave."""
    while True:
        match ask(f"{KEYS}: ").strip().lower()[:1]:
            case "k":
                return draft.model_copy(update={"reviewed": True})
            case "d":
                return None
            case "q":
                raise EOFError
            case "e":
                draft = _edited(draft, ask, show)
                show(_described(draft))


def _edited(draft: Draft, ask: Callable[[str], str], show: Callable[[str], object]) -> Draft:
    """Ask for each part; an empty line leaves it as it is."""
    question = ask(f"question [{draft.question}]: ").strip() or draft.question
    answer = draft.answer if draft.unanswerable else ask(f"answer [{draft.answer}]: ").strip() or draft.answer
    nuggets = []
    for nugget in draft.nuggets:
        typed = ask(f"phrases, '-' drops the fact [{BETWEEN.join(nugget.any)}]: ").strip()
        phrases = tuple(filter(None, map(str.strip, typed.split("|"))))
        if typed != "-":
            nuggets.append(nugget.model_copy(update={"any": phrases}) if phrases else nugget)
    for nugget in nuggets:
        if not any(recalls([nugget], text)[1] for text in draft.reference_contexts):
            show(f"Not in the region, so that no quote can have it: {BETWEEN.join(nugget.any)}")
    return draft.model_copy(update={"question": question, "answer": answer, "nuggets": tuple(nuggets)})
