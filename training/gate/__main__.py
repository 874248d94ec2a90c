"""`python -m training.gate`: learn from data sets whether passages hold an answer.

Flow: argv -> **here** -> `train.py` -> the report on stdout; with `--write`, the shipped classifier and
`reference/gate.md`.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence

from bench.arguments import add_sets, choose_sets
from errors import run_command
from settings import load_settings
from training.gate.train import train_gate

# Their licences allow any use of what is learnt from them. CLAPNQ is reported, so it is not learnt from.
SETS = ("squad", "aragog", "cranfield", "bedrock")


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.gate",
        description="Ask every question of every corpus, train the answerability classifier, print the report.",
    )
    add_sets(parser, SETS)
    parser.add_argument(
        "--write", action="store_true", help="replace query_engine/answerability/gate.json and reference/gate.md"
    )
    arguments = parser.parse_args(argv)

    def train() -> int:
        settings = load_settings()
        print(train_gate(choose_sets(arguments), settings, write=arguments.write))
        return 0

    return run_command(train)


if __name__ == "__main__":
    sys.exit(main())
