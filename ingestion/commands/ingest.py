"""`python -m ingestion PATH`: bring a folder or a file into a corpus, or do so again after changes.

Flow: `__main__.py` -> **here** -> `ingestion/build.py`, or the service that holds the corpus.
"""

import argparse
import json
import re
import threading
from dataclasses import replace
from pathlib import Path

from errors import CorpusLockedError
from index.build import Embeddings
from index.documents.store import Metadata
from ingestion.build import ingest
from ingestion.commands.options import add_corpus, add_json_lines, corpus_of, count, service_of
from ingestion.console.follow import follow_watched
from ingestion.console.watch import watch
from ingestion.folder_changes import watchable
from ingestion.schema import RunOptions, Summary, Tell
from settings import RAY_ADDRESS, Settings

Scalar = str | int | float | bool
UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments and refuse those that contradict each other."""
    _add_arguments(parser)
    arguments = parser.parse_args(argv)
    alone = [(one, other) for one in ("watch", "every") for other in ("rebuild", "dry_run", "limit", "ray")]
    alone.append(("watch", "every"))
    for one, other in (("rebuild", "dry_run"), ("rebuild", "prune"), ("prune", "limit"), *alone):
        if getattr(arguments, one) and getattr(arguments, other):
            parser.error(f"--{one} and --{other.replace('_', '-')} cannot be used together")
    pairs = [*arguments.meta, ("topic", arguments.topic), ("doc_type", arguments.doc_type)]
    arguments.metadata = {}
    for name, value in pairs:
        if value is not None:
            if name in arguments.metadata:
                parser.error(f"{name!r} is given twice")
            arguments.metadata[name] = value
    return arguments


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Ingest, and print the summary."""
    metadata: Metadata = arguments.metadata
    if arguments.ray:
        ingest_settings = settings.ingest.model_copy(update={"ray_address": arguments.ray})
        settings = settings.model_copy(update={"ingest": ingest_settings})
    options = RunOptions(arguments.root or "", metadata, arguments.limit, arguments.dry_run, arguments.prune)
    corpus = corpus_of(arguments, settings)
    path = watchable(arguments.path) if arguments.watch else arguments.path
    share = settings.ingest.max_skipped_share

    def work(options: RunOptions, tell: Tell, stop: threading.Event, embeddings: Embeddings | None = None) -> Summary:
        try:
            return ingest(
                path,
                settings,
                corpus=corpus,
                options=options,
                rebuild=arguments.rebuild,
                embeddings=embeddings,
                on_progress=tell,
                stop=stop,
            )
        except CorpusLockedError as error:
            if arguments.rebuild or arguments.ray:
                raise
            with service_of(error, settings) as service:
                return service.ingest(path, corpus, options, on_progress=tell, stop=stop)

    def show(summary: Summary) -> None:
        print(json.dumps(summary.to_dict()), flush=True)
        if settings.ingest.done_url:
            from ingestion.console.done import tell_done  # noqa: PLC0415  # httpx takes its time to import

            tell_done(settings.ingest.done_url.get_secret_value(), summary)

    if not (arguments.watch or arguments.every):
        summary, code = watch(
            lambda tell, stop: work(options, tell, stop), json_lines=arguments.json_lines, max_skipped_share=share
        )
        show(summary)
        return code
    embeddings = Embeddings(settings)

    def bring(names: tuple[str, ...] | None, tell: Tell, stop: threading.Event) -> Summary:
        changed = options if names is None else replace(options, files=names, prune=True)
        return work(changed, tell, stop, embeddings)

    return follow_watched(
        path, bring, show, every_s=arguments.every, json_lines=arguments.json_lines, max_skipped_share=share
    )


def pause_s(text: str) -> float:
    """Read a time as `30m`, `12h` or `7d`; returns seconds.

    Raises:
        argparse.ArgumentTypeError: it is none, or no time at all.
    """
    number, unit = text[:-1], text[-1:]
    if unit not in UNITS_S or not number.isdecimal() or int(number) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; write it like 30m, 12h or 7d")
    return float(int(number) * UNITS_S[unit])


def meta_pair(text: str) -> tuple[str, Scalar]:
    """Read `name=value`; a JSON number, `true`, `false` or JSON string is what it says, anything else is text.

    Raises:
        argparse.ArgumentTypeError: there is no name, or no equals sign.
    """
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form name=value")
    try:
        # NaN and Infinity are words here: no store keeps them as numbers.
        parsed = json.loads(value, parse_constant=str)
    except (ValueError, RecursionError):
        return name, value
    return name, parsed if isinstance(parsed, str | int | float) else value


def root_name(text: str) -> str:
    """Read the name of a root, which may have several parts.

    Raises:
        argparse.ArgumentTypeError: it would not make clean document ids.
    """
    if any(part in {"", ".", ".."} for part in text.split("/")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a name; write it like `books` or `books/2024`")
    return text


def ray_address(text: str) -> str:
    """Read the address of a Ray cluster.

    Raises:
        argparse.ArgumentTypeError: it is none, such as a PATH that stands after `--ray`.
    """
    if not re.fullmatch(RAY_ADDRESS, text):
        raise argparse.ArgumentTypeError(f"{text!r} is not of the form HOST:PORT; write PATH before --ray")
    return text


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        type=Path,
        metavar="PATH",
        help="a folder, or one file. A folder that is called like a command is written ./doctor",
    )
    add_corpus(parser)
    parser.add_argument(
        "--root",
        type=root_name,
        metavar="NAME",
        help="put NAME/ before document ids, to tell folders apart",
    )
    parser.add_argument("--limit", type=count, metavar="N", help="stop after N documents, known ones included")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, and write nothing")
    parser.add_argument("--prune", action="store_true", help="remove documents whose files are gone from PATH")
    parser.add_argument(
        "--watch",
        action="store_true",
        help="then go on: bring in what changes below PATH and remove what vanishes, until a signal comes",
    )
    parser.add_argument(
        "--every",
        type=pause_s,
        metavar="TIME",
        help="then go on: do the same again after each pause of 30m, 12h or 7d, until a signal comes",
    )
    parser.add_argument("--rebuild", action="store_true", help="rebuild the corpus from PATH alone, then replace it")
    parser.add_argument(
        "--meta",
        type=meta_pair,
        action="append",
        default=[],
        metavar="K=V",
        help="metadata put on every document: a number, true, false or text; may be given many times",
    )
    parser.add_argument(
        "--ray",
        nargs="?",
        const="local",
        type=ray_address,
        metavar="HOST:PORT",
        help="spread the work by Ray over this machine's cores, or over the cluster at this address; stands after PATH",
    )
    parser.add_argument("--topic", metavar="T", help="metadata `topic`; .txt files are then read as parts of papers")
    parser.add_argument("--doc-type", metavar="D", help="metadata `doc_type`")
    add_json_lines(parser)
