"""`python -m ingestion PATH` and the commands that look after corpora.

stderr is for people (progress, what failed and why), stdout for results: one JSON summary of an ingestion, tables or
JSON of the other commands. Exit codes: 0 done or nothing to do, 1 something failed or was found (the rest is done),
2 usage, 130 and 143 stopped by Ctrl-C and SIGTERM.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from errors import UnreadableError, run_command
from settings import load_settings

COMMANDS = {
    "corpora": "list, drop or rename corpora",
    "documents": "list a corpus's documents, or show one",
    "delete": "delete documents by id, by filter or by source file",
    "doctor": "check that the stores of a corpus agree, and repair them",
    "reembed": "embed a corpus again, after a change of the embedding model",
    "backup": "save a corpus as one file",
    "restore": "bring a saved corpus back",
    "retry-failed": "read again only what could not be read",
}
WEB = ("http://", "https://")
INGEST = "Bring documents into a corpus. The same command again brings in only what changed since."


def main(argv: Sequence[str] | None = None, prog: str = "python -m ingestion") -> int:
    """Find the command, parse its arguments, run it, translate its errors."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = words.pop(0) if words and words[0] in COMMANDS else None
    if name is None and words and not words[0].startswith(("-", *WEB)) and not Path(words[0]).exists():
        # Before its options are read, which are those of the command that is meant.
        return run_command(lambda: _refuse(words[0], prog), json_lines="--json" in words)
    # By name, so that each start imports one command's libraries only.
    command = importlib.import_module(f"ingestion.commands.{name.replace('-', '_') if name else 'ingest'}")
    parser = argparse.ArgumentParser(
        prog=f"{prog} {name}" if name else prog,
        usage=None if name else "%(prog)s PATH|URL... [options]\n       %(prog)s COMMAND [options]",
        description=COMMANDS[name].capitalize() + "." if name else INGEST,
        epilog=None if name else _commands(prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments = command.parse(parser, words)
    if name is None and str(arguments.path) in COMMANDS.keys() & set(words):
        parser.error(f"a command stands first: {prog} {arguments.path} ...; ./{arguments.path} is a path")
    try:
        code: int = run_command(
            lambda: command.run(arguments, load_settings()), json_lines=getattr(arguments, "json_lines", False)
        )
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _refuse(word: str, prog: str) -> NoReturn:
    nearest = difflib.get_close_matches(word, COMMANDS, n=1, cutoff=0)[0]
    raise UnreadableError(
        f"{word!r} is neither a command nor a path that exists.",
        f"The nearest command is {nearest!r}; `{prog} --help` shows all. A path may be misspelt.",
    )


def _commands(prog: str) -> str:
    lines = (f"  {name:<14}{summary}" for name, summary in COMMANDS.items())
    return "\n".join([f"commands (each explains itself: {prog} COMMAND --help):", *lines])


if __name__ == "__main__":
    sys.exit(main())
