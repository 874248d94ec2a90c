"""The command line of `python -m bench`, and the choice of data sets, which training makes in the same way.

Flow: argv -> **here** -> `__main__.py`, `training/`.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from bench.datasets import DataSet, find_sets
from settings import Settings

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def parse(argv: Sequence[str] | None, prog: str) -> argparse.Namespace:
    """Return the arguments; a wrong one ends the program with usage and exit code 2."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Measure retrieval, answers and ingestion on data sets, beside the stock LlamaIndex recipe.",
        epilog="A data set is a folder with questions.jsonl and corpus/ or corpus.jsonl. Figures go to RAG_BENCH__DIR.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="MEASUREMENT")
    sets, asked = sets_options(), limit_option()
    _add_retrieval(commands, [sets, asked])
    commands.add_parser(
        "answers",
        parents=[sets, asked],
        help="what answers say, when they decline, true quotes, latency",
        description="Ask each corpus its own questions, near misses, and the other sets' questions.",
    )
    commands.add_parser(
        "crag",
        parents=[asked],
        help="answers over the web pages that come with each question: score, time",
        description="Answer each question of a CRAG file from an in-memory index of the pages that come with it.",
    ).add_argument("--data", type=Path, help="the file, or a folder that holds it, or holds it in `crag/`")
    _add_helpful(commands, [asked])
    _add_web(commands, [asked])
    _add_research(commands, [asked])
    commands.add_parser(
        "research-route",
        help="time of /agent/research for five sub-questions, on the sample corpus without a language model",
        description="Research ten topics of the sample corpus, each once after a warm-up.",
    )
    _add_ingest(commands, [sets])
    hostile = commands.add_parser(
        "hostile",
        help="what files without words do to a service: /health, memory, cancelling, SIGTERM",
        description="Make files of base64, dots, long words and the like, and ingest each through a running service.",
    )
    hostile.add_argument("--size-mb", type=_number(1), default=8, help="of each file (default: 8)", metavar="MB")
    _add_http_embedding(commands)
    _add_latency(commands, [sets])
    _add_load(commands, [sets])
    _add_compare(commands)
    _add_grounding(commands, [sets])
    _add_reach(commands, [sets])
    scoring = commands.add_parser(
        "scoring",
        parents=[sets],
        help="time to score a run without a language model, by family of metrics",
        description="Make a run out of the texts of each set, no two answers alike, and score it.",
    )
    scoring.add_argument("--rows", type=_number(1), default=1000, help="of the run (default: 1000)", metavar="N")
    page = commands.add_parser(
        "page",
        help="the web page in Chromium: first paint, weight, longest task, long documents, scrolling",
        description="Serve the sample corpus and a document of 1.2 million characters, with a scripted language model, "
        "and open the page in Debian's Chromium, driven by Playwright.",
    )
    page.add_argument("--repeats", type=_number(1), default=5, help="loads of the page (default: 5)", metavar="R")
    pipelines = commands.add_parser(
        "pipelines",
        help="what table, history and cache cost a pipeline, a step; and a whole one beside an answer",
        description="Run steps that do next to nothing over tables of 100 and 10,000 rows; then the first pipeline of "
        "docs/pipelines.md on the sample, beside a retrieval and an answer.",
    )
    pipelines.add_argument("--repeats", type=_number(1), default=5, help="runs of each (default: 5)", metavar="R")
    model = commands.add_parser(
        "model",
        help="how fast the language model writes that RAG_LLM__* name",
        description="Give the language model prompts of text from the sample corpus, and time what it writes.",
    )
    model.add_argument("--tokens", type=_number(50), default=750, help="of a prompt (default: 750)", metavar="N")
    model.add_argument("--repeats", type=_number(1), default=5, help="answers (default: 5)", metavar="R")
    commands.add_parser(
        "pdf-tables",
        help="how many cells of tables in PDFs get the right names of their columns",
        description="Draw PDFs with known tables, and read pages of the data sets' PDFs whose tables are known.",
    ).add_argument("--data", type=Path, help="folder of data sets with PDFs (default: RAG_BENCH__DATA, else none)")
    return parser.parse_args(argv)


def sets_options(default: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return a parent parser with `--data` and `--sets`, for `choose_sets`; `default` are the sets, all if empty."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--data",
        type=Path,
        help="folder of data sets, or one data set (default: RAG_BENCH__DATA, else the sample corpus)",
    )
    parser.add_argument(
        "--sets",
        default=",".join(default),
        help=f"comma-separated names of the sets to use (default: {','.join(default) or 'all'})",
    )
    return parser


def limit_option() -> argparse.ArgumentParser:
    """Return a parent parser with `--limit`."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--limit", type=_number(1), help="ask only the first N questions of each set", metavar="N")
    return parser


def set_names(arguments: argparse.Namespace) -> list[str]:
    """Return the names given by `--sets`; none means all."""
    return [name.strip() for name in arguments.sets.split(",") if name.strip()]


def choose_sets(arguments: argparse.Namespace, settings: Settings) -> list[DataSet]:
    """Return the data sets that `sets_options` named; folders that hold none are listed on stderr.

    Raises:
        NoDataSetError: a named set, or any at all, is missing.
    """
    chosen, others = find_sets(arguments.data or settings.bench.data, set_names(arguments))
    for name in others:
        print(f"{name}: skipped, it has no questions.jsonl with corpus/ or corpus.jsonl", file=sys.stderr)
    return chosen


def _add_retrieval(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "retrieval",
        parents=parents,
        help="our passages beside the stock recipe's, by every metric the questions allow",
        description="Build both indexes if need be, ask every question, print one table.",
    )
    parser.add_argument(
        "--merge",
        action=argparse.BooleanOptionalAction,
        help="measure ours only with, or only without merging leaves into larger passages (default: both)",
    )
    parser.add_argument("--ours-only", action="store_true", help="leave the stock recipe out")


def _add_helpful(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "helpful",
        parents=parents,
        help="what natural questions get: facts, topic, length, declined near misses, beside two baselines",
        description="Ask the questions of open_questions, office, realdocs, clapnq and squad2, as far as they are "
        "there. Answers are our engine's, the first leaf of our retrieval, and the first passage of the stock recipe. "
        "open_questions is about the corpora sample, bedrock, squad and aragog beside it, squad2 about that of squad.",
    )
    parser.add_argument("--data", type=Path, help="folder of data sets (default: RAG_BENCH__DATA)")
    parser.add_argument("--sets", default="", help="comma-separated names of the sets to use (default: all)")
    parser.add_argument("--ours-only", action="store_true", help="leave the baselines out")
    _add_half(parser)


def _add_half(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--half",
        choices=("", "even", "odd"),
        default="",
        help="only questions whose id ends in such a number: even ones to choose by, odd ones to report",
    )


def _add_web(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "web",
        parents=parents,
        help="answers from a search service's pages beside answers from the ingested corpus",
        description="Ask the questions of `helpful` of our engine over the ingested corpus, and over the pages that a "
        "local stand-in of ClueWeb22's search service finds by their words in the same documents.",
    )
    parser.add_argument("--data", type=Path, help="folder of data sets (default: RAG_BENCH__DATA)")
    parser.add_argument("--sets", default="", help="comma-separated names of the sets to use (default: all)")
    parser.add_argument("--pages", type=_number(1), default=10, help="asked of the service (default: 10)", metavar="K")
    _add_half(parser)


def _add_research(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "research",
        parents=parents,
        help="the research loop by rules beside a single pass: facts, time; what a round costs",
        description="Ask natural questions of our engine in both modes in turn, score the answers as `helpful` does, "
        "and measure a round's own time with a language model that replies at once.",
    )
    parser.add_argument("--data", type=Path, help="folder of data sets (default: RAG_BENCH__DATA)")
    parser.add_argument(
        "--sets",
        default="open_questions,office",
        help="comma-separated names of the sets to use (default: open_questions,office)",
    )
    parser.add_argument(
        "--corpora",
        default="sample,bedrock,office",
        help="only questions about these corpora (default: sample,bedrock,office, the small ones)",
    )


def _add_ingest(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "ingest",
        parents=parents,
        help="time, memory and disk of ingestion beside the stock recipe's; time to the first answer",
        description="Ingest the first documents of each set by the stock recipe and by ours in turn, each in a "
        "separate process and into an empty index. Files other than .txt and .md are converted to text first, untimed.",
    )
    parser.add_argument("--documents", type=_number(1), default=60, help="how many (default: 60)", metavar="N")
    parser.add_argument("--repeats", type=_number(1), default=3, help="runs of each (default: 3)", metavar="R")
    parser.add_argument(
        "--scale",
        type=_number(0),
        default=0,
        help="also ingest K times as many by ours (default: 0, off); where the set has fewer, documents are repeated "
        "with the words of each line shuffled",
        metavar="K",
    )


def _add_http_embedding(commands: _Commands) -> None:
    parser = commands.add_parser(
        "http-embedding",
        help="how much of an embedding server's throughput ingestion uses",
        description="Send passages of the sample corpus to a scripted embedding server, by a bare HTTP client and as "
        "ingestion embeds them, in turn. RAG_EMBED__BATCH_TEXTS and RAG_EMBED__CONCURRENCY count for both.",
    )
    parser.add_argument("--texts", type=_number(1), default=4000, help="passages, about (default: 4000)", metavar="N")
    parser.add_argument("--repeats", type=_number(1), default=5, help="runs of each (default: 5)", metavar="R")


def _add_latency(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "latency",
        parents=parents,
        help="time of one retrieval beside the stock recipe's, by stages; throughput of /retrieve",
        description="Ask the stock recipe and ours in turn, question by question, each in a separate process; then "
        "our service over HTTP, by one client and by several at once.",
    )
    parser.add_argument("--clients", type=_number(2), default=8, help="clients at once (default: 8)", metavar="N")
    parser.add_argument("--rounds", type=_number(1), default=3, help="of all questions (default: 3)", metavar="R")
    parser.add_argument(
        "--scale",
        type=_number(0),
        default=0,
        help="also ask a corpus K times as large (default: 0, off): documents repeated with the words of each line "
        "shuffled, their vectors moved a little",
        metavar="K",
    )


def _add_load(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "load",
        parents=parents,
        help="time of whole answers by /run for one client, and for several at once",
        description="Ask our service, with its default synthesizer, every question by one client; then a new one by "
        "several clients at once. The first tenth of the questions warms each service up and is not timed.",
    )
    parser.add_argument("--clients", type=_number(2), default=8, help="clients at once (default: 8)", metavar="N")
    parser.add_argument("--rounds", type=_number(1), default=3, help="of all questions (default: 3)", metavar="R")


def _add_compare(commands: _Commands) -> None:
    parser = commands.add_parser(
        "compare",
        help="two measurements of retrieval: what a change of settings cost",
        description="Compare the retrieval.json of two runs, made with another RAG_BENCH__DIR each.",
    )
    parser.add_argument("before", type=Path, help="a retrieval.json")
    parser.add_argument("after", type=Path, help="a retrieval.json")


def _add_reach(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "reach",
        parents=parents,
        help="how many leaves a search for their own vector finds, beside near-alike rows",
        description="Ingest a table of near-alike rows beside a few small documents (or, with --data, each set), and "
        "search for up to 2,000 leaves by their own vectors.",
    )
    parser.add_argument("--rows", type=_number(1), default=20_000, help="of the table (default: 20000)", metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the rows and of the sample (default: 0)", metavar="N")


def _add_grounding(commands: _Commands, parents: list[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "grounding",
        parents=parents,
        help="planted sentences that the check of generated answers catches, and true ones that it spares",
        description="Let a scripted synthesizer write sentences that the sets' passages support, and as many that "
        "they do not; count what is shown.",
    )
    parser.add_argument("--count", type=_number(1), default=100, help="of each sort (default: 100)", metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the planted sentences (default: 0)", metavar="N")
    parser.add_argument(
        "--ask",
        type=_number(0),
        default=0,
        help="also have the language model of the settings (SmolLM2 by OpenVINO if they name none) answer the first N "
        "questions of each set (default: 0)",
        metavar="N",
    )


def _number(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise argparse.ArgumentTypeError(f"must be {least} or more, not {text!r}")
        return int(text)

    return number
