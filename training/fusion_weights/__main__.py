"""`python -m training.fusion_weights`: fit the weights of the tree's evidence.

Flow: data sets -> our engine searches each question once -> `fit.py` -> weights and two tables on stdout. The shipped
weights are in `query_engine/retrieval/fusion.py`; this command prints weights and writes no file.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import json
import sys
from collections.abc import Sequence

from bench.arguments import choose_sets, limit_option, sets_options
from bench.build import open_engine
from errors import run_command
from eval.cases import read_cases
from eval.metrics import BUDGETS_CHARS
from query_engine.retrieval.fusion import WEIGHTS
from settings import Settings, load_settings
from training.fusion_weights import fit


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, fit, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.fusion_weights",
        description="Ask every question once, fit the weights, and print them with two tables: two-fold figures, and "
        "what each part of retrieval brings.",
        parents=[sets_options(), limit_option()],
    )
    parser.add_argument("--seed", type=int, default=0, help="of the bootstrap samples (default: 0)", metavar="N")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _fit(arguments, load_settings()))


def _fit(arguments: argparse.Namespace, settings: Settings) -> int:
    options = settings.retrieval.model_copy(update={"budget_chars": max(BUDGETS_CHARS)})
    asked = []
    for data_set in choose_sets(arguments, settings):
        with open_engine(data_set, settings) as engine:
            cases = read_cases(data_set.questions)[: arguments.limit]
            asked += fit.ask(data_set.name, engine.leaf_retriever(options), cases)
    print(f"fitting on {len(asked)} questions, three times", file=sys.stderr, flush=True)
    fitted = fit.fit_robustly(asked, arguments.seed)
    print(json.dumps({scorer: round(weight, 3) for scorer, weight in fitted.items()}), end="\n\n")
    shipped = [(one, one.score_passages(options, WEIGHTS)) for one in asked]
    halves = fit.two_fold(asked, options, arguments.seed)
    print(fit.comparison({"shipped": fit.means_by_set(shipped), "two-fold": fit.means_by_set(halves)}))
    print(f"\n{fit.ablation(asked, options, WEIGHTS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
