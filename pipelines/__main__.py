"""Run a pipeline from a file: `python -m pipelines FILE "question"`, or `treeline pipeline`.

Flow: `file.py` reads it -> `body.py` -> `running.py` -> `console.py` shows each step.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from errors import StepError, run_command
from pipelines.body import Plan, read_plan
from pipelines.build import open_cache, services_of
from pipelines.console import MOST_ROWS, ConsoleWatcher
from pipelines.file import read_file
from pipelines.registry import Registry, all_steps
from pipelines.running import FailedStepError, Runner
from pipelines.services import Services
from pipelines.state import PipelineState
from query_engine.build import Engines
from settings import Settings, load_settings


def main(argv: Sequence[str] | None = None, prog: str = "python -m pipelines") -> int:
    """Run a pipeline; 0 when it came to its end."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run a pipeline of steps and show the table of documents after each.",
        epilog="docs/pipelines.md has complete files; --steps lists what there is to put into one.",
    )
    parser.add_argument("file", type=Path, nargs="?", help="YAML or JSON, in the form of POST /task/run")
    parser.add_argument("question", nargs="?", help="takes the place of the file's query")
    parser.add_argument("--rows", type=int, default=MOST_ROWS, metavar="N", help="rows of each table that are shown")
    parser.add_argument("--steps", action="store_true", help="list the steps and end")
    arguments = parser.parse_args(argv)
    if arguments.steps:
        return run_command(lambda: _list(all_steps(load_settings().pipelines.steps_dir)))
    if arguments.file is None:
        parser.error("name a file, or use --steps")
    return run_command(lambda: _run(load_settings(), arguments.file, arguments.question, max(0, arguments.rows)))


def run_plan(plan: Plan, services: Services, watcher: ConsoleWatcher) -> PipelineState:
    """Run a plan with the row cache of the settings.

    Raises:
        StepError: a step failed.
    """
    settings = services.settings.pipelines
    cache = open_cache(settings.cache_mb, settings.dir)
    try:
        return Runner(services, cache).run(plan, watcher, threading.Event())
    except FailedStepError as error:
        raise StepError(f"{error}", "Give the step `on_error: continue` to go on without it.") from error
    finally:
        watcher.close()
        if cache is not None:
            cache.close()


def _run(settings: Settings, file: Path, question: str | None, rows: int) -> int:
    body = read_file(file)
    engines = Engines(settings)
    try:
        services = services_of(engines, settings)
        plan = read_plan(body, all_steps(settings.pipelines.steps_dir), services, query=question)
        state = run_plan(plan, services, ConsoleWatcher(len(plan.steps), print, rows))
    finally:
        engines.close()
    for row in state.aggregated:
        print(f"## {row['title']}\n{row['data']}\n")
    return 0


def _list(registry: Registry) -> int:
    for step_id, info in registry.info().items():
        print(f"{step_id} ({info['category']}): {info['description']}")
        for name, parameter in info["parameters"].items():
            print(f"    {name} = {json.dumps(parameter['default'])}: {parameter['description']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
