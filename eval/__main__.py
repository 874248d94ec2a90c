"""`python -m eval COMMAND`: ask every question of a file, score the answers, tell whether a change made them better.

stdout holds the result, stderr the progress. Exit codes: 0 done, 1 a foreseen failure or a check that failed, 2 usage,
130 stopped. Each command's module has `add_arguments(parser)` and `run(arguments, settings)`; only the chosen one is
imported, so that comparing two runs loads no model.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from errors import run_command
from settings import load_settings

ABOUT = "Ask every question of a file, score the answers, tell whether a change made them better."
COMMANDS = {
    "run": ("eval.run_command", "ask every question and score the answers"),
    "score": ("eval.score_command", "score a run again, e.g. by a judge"),
    "compare": ("eval.comparing.command", "tell whether run B is better than run A"),
    "report": ("eval.reporting.command", "write a run as one HTML file, Markdown, CSV and JSON"),
    "baseline": ("eval.comparing.baseline", "keep a run as what later ones are compared with"),
    "questions": ("eval.drafting.command", "draft questions from a corpus by a model"),
    "convert": ("eval.converting.command", "write questions and runs in other formats, and read runs of other systems"),
    "cases": ("eval.feedback_cases", "make questions of what people said about answers"),
    "check-run": (
        "eval.rehearsal.command",
        "test a service against the competition's contract, or by its whole course",
    ),
    "submit": ("eval.submitting", "answer a validation file and write result.jsonl"),
}


def main(argv: Sequence[str] | None = None, prog: str = "python -m eval") -> int:
    """Parse `argv`, run one command, translate its errors."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    chosen = arguments[0] if arguments and arguments[0] in COMMANDS else None
    parser = argparse.ArgumentParser(prog=prog, description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (module, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".")
        if name == chosen:
            import_module(module).add_arguments(command)
    parsed = parser.parse_args(arguments)
    return run_command(lambda: int(import_module(COMMANDS[parsed.command][0]).run(parsed, load_settings())))


if __name__ == "__main__":
    sys.exit(main())
