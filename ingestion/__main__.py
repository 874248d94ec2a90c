"""`python -m ingestion PATH` and the commands that look after corpora.

stderr is for people (progress, what failed and why), stdout for results: one JSON summary of an ingestion, tables or
JSON of the other commands. Exit codes: 0 done or nothing to do, 1 something failed or was found (the rest is done),
2 usage, 130 and 143 stopped by Ctrl-C and SIGTERM.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from errors import run_command
from settings import load_settings

COMMANDS = {
    "corpora": "list, drop or rename corpora",
    "documents": "list a corpus's documents, or show one",
    "delete": "delete documents by id, by filter or by source file",
    "doctor": "check that the stores of a corpus agree, and repair them",
    "reembed": "embed a corpus anew, after a change of the embedding model",
    "backup": "save a corpus as one file",
    "restore": "bring a saved corpus back",
    "retry-failed": "read again only what could not be read",
}
INGEST = "Bring documents into a corpus. The same command again brings in only what changed since."


def main(argv: Sequence[str] | None = None) -> int:
    """Find the command, parse its arguments, run it, translate its errors."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = words.pop(0) if words and words[0] in COMMANDS else None
    # By name, so that each start imports one command's libraries only.
    command = importlib.import_module(f"ingestion.commands.{name.replace('-', '_') if name else 'ingest'}")
    parser = argparse.ArgumentParser(
        prog=f"python -m ingestion {name}" if name else "python -m ingestion",
        usage=None if name else "%(prog)s PATH [options]\n       %(prog)s COMMAND [options]",
        description=COMMANDS[name].capitalize() + "." if name else INGEST,
        epilog=None if name else _commands(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments = command.parse(parser, words)
    if name is None and str(arguments.path) in COMMANDS.keys() & set(words):
        parser.error(f"a command stands first: python -m ingestion {arguments.path} ...; ./{arguments.path} is a path")
    try:
        code: int = run_command(
            lambda: command.run(arguments, load_settings()), json_lines=getattr(arguments, "json_lines", False)
        )
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _commands() -> str:
    lines = (f"  {name:<14}{summary}" for name, summary in COMMANDS.items())
    return "\n".join(["commands (each explains itself: python -m ingestion COMMAND --help):", *lines])


if __name__ == "__main__":
    sys.exit(main())
