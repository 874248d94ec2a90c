"""The command `treeline`, also `python -m treeline`: one name for the programs of the checkout.

Each command is a separate program with a separate `--help`, imported only when it is chosen.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from settings import VERSION

COMMANDS = {
    "serve": ("main", "serve answers over HTTP; as python main.py"),
    "ask": ("query_engine.__main__", "answer one question in the terminal; as python -m query_engine"),
    "ingest": ("ingestion.__main__", "bring documents into a corpus, and look after it; as python -m ingestion"),
    "pipeline": ("pipelines.__main__", "run a pipeline of steps from a file; as python -m pipelines"),
    "eval": ("eval.__main__", "ask, score and compare; as python -m eval"),
    "mcp": ("treeline.mcp_command", "serve MCP to a program that starts it"),
    "keys": ("treeline.keys_command", "make, list and revoke the keys of a service"),
    "models": ("treeline.models_command", "list the language models that answer on this machine"),
    "bench": ("bench.__main__", "measure beside the stock recipe; as python -m bench"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Hand everything behind the command to its program; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in COMMANDS:
        return int(import_module(COMMANDS[words[0]][0]).main(words[1:], f"treeline {words[0]}"))
    parser = argparse.ArgumentParser(
        prog="treeline",
        description="Answers from your own documents, with citations.",
        epilog="Each command explains itself: treeline COMMAND --help.",
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (_, about) in COMMANDS.items():
        commands.add_parser(name, help=about)
    parser.parse_args(words)
    raise AssertionError("argparse ends the program where no command stands first")


if __name__ == "__main__":
    sys.exit(main())
