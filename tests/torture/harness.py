"""Kill an ingestion, look at what it left, run it again, and compare with a run that nobody disturbed.

Processes are forked from one that has the program's libraries imported, so that a case costs a few seconds.
"""

import json
import multiprocessing
import os
import pickle
import random
import shutil
import signal
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.torture import child, looking
from tests.torture.cases import SCENARIOS, Case, Result, Scenario, Signal
from tests.torture.child import CORPUS, Job
from tests.torture.faults import Fault
from tests.torture.folders import write_first, write_second
from tests.torture.looking import View

PATIENCE_S = 120
STOP_S = 5

Versions = dict[str, str]


class Ground:
    """Where cases are played, one at a time, always in the same two folders.

    Args:
        folder: empty; everything is written below.
        seed: of the documents.

    Attributes:
        whole: what undisturbed runs make.
        embedded: how many leaves they embed.
        seconds: how long they take.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.torture.preload"])
        self._saved, self._work = folder / "saved", folder / "work"
        write_first(self._saved / "files1", seed)
        shutil.copytree(self._saved / "files1", self._saved / "files2")
        write_second(self._saved / "files2", seed)
        (self._saved / "index").mkdir()
        self.whole: dict[Scenario, View] = {}
        self.embedded: dict[Scenario, int] = {}
        self.seconds: dict[Scenario, float] = {}
        self.start(
            child.nothing
        ).join()  # starts the server of forks, so that the first time measured is like the others
        for scenario in SCENARIOS:
            self._measure(scenario)

    @property
    def corpus(self) -> Path:
        """Folder of the corpus that is disturbed."""
        return self._work / "index" / CORPUS

    @property
    def files(self) -> Path:
        """Folder that is ingested."""
        return self._work / "files"

    def play(self, case: Case, seed: int = 0) -> Result:
        """Disturb a run, look, run again, compare. `seed` chooses the documents that are asked for."""
        job = self.prepare(case.scenario, case.fault, case.max_file_bytes)
        process = self.start(child.ingest, job)
        process.join(PATIENCE_S if case.kill_after_s is None else case.kill_after_s)
        late = process.is_alive()
        killed = late and case.kill_after_s is not None
        signalled = time.monotonic()
        if killed and process.pid:
            os.kill(process.pid, getattr(signal, f"SIG{case.signal}"))
            process.join(STOP_S)
        stop_s = time.monotonic() - signalled
        alive = process.is_alive()
        kill(process)
        events = read_journal(job.journal)
        struck = killed or any(event["event"] in ("struck", "raised") for event in events)
        result = Result(struck, raised=next((e["error"] for e in events if e["event"] == "raised"), None))
        if late and not killed:
            result.problems.append(f"the run did not end within {PATIENCE_S} s")
        if killed:
            result.stop_s = stop_s
            result.problems += [f"the run did not end within {STOP_S} s of the signal"] if alive else []
        result.problems += self._seen_after(case.scenario, events, seed)
        if case.fault is not None and not struck:
            return result
        result.problems += self._mended(case.scenario, events, result, seed)
        return result

    def prepare(self, scenario: Scenario, fault: Fault | None = None, max_file_bytes: int = 0) -> Job:
        """Put files and corpus back to where the scenario begins; return its run."""
        shutil.rmtree(self._work, ignore_errors=True)
        generation = "files1" if scenario == "first" else "files2"
        shutil.copytree(self._saved / generation, self.files)
        if scenario == "first":
            (self._work / "index").mkdir()
        else:
            shutil.copytree(self._saved / "index", self._work / "index", dirs_exist_ok=True)
        return self.job(scenario, "journal", fault, max_file_bytes)

    def job(self, scenario: Scenario, journal: str, fault: Fault | None = None, max_file_bytes: int = 0) -> Job:
        """Return a run over what lies there."""
        return Job(
            self.files,
            self._work / "index",
            self._work / journal,
            prune=scenario == "update",
            rebuild=scenario == "rebuild",
            fault=fault,
            max_file_bytes=max_file_bytes,
        )

    def start(self, target: Callable[..., None], *arguments: Any) -> BaseProcess:
        """Start a function in a process that can be killed."""
        process = self._context.Process(target=target, args=arguments)
        process.start()
        return process

    def look(self, seed: int = 0) -> View | str:
        """Return what the corpus holds, or why that could not be seen."""
        answer = self._work / "view.pickle"
        answer.unlink(missing_ok=True)
        process = self.start(looking.look, self.corpus, self.files, answer, seed)
        process.join(PATIENCE_S)
        kill(process)
        if not answer.exists():
            return f"the corpus cannot be opened (exit code {process.exitcode})"
        view: View = pickle.loads(answer.read_bytes())
        return view

    def _measure(self, scenario: Scenario) -> None:
        job = self.prepare(scenario)
        started = time.monotonic()
        process = self.start(child.ingest, job)
        process.join(PATIENCE_S)
        self.seconds[scenario] = time.monotonic() - started
        view = self.look()
        problems = [view] if isinstance(view, str) else view.faults() + view.leftovers()
        if process.exitcode != 0 or isinstance(view, str) or problems:
            raise RuntimeError(f"The undisturbed {scenario} run failed: {problems}")
        self.whole[scenario] = view
        self.embedded[scenario] = embedded_leaves(read_journal(job.journal))
        if scenario == "first":
            shutil.copytree(self._work / "index", self._saved / "index", dirs_exist_ok=True)

    def _seen_after(self, scenario: Scenario, events: list[dict[str, Any]], seed: int) -> list[str]:
        """Return what is wrong with the corpus that the disturbed run left."""
        before = {} if scenario == "first" else self.whole["first"].versions
        names = [self.corpus, *self.corpus.parent.glob(f".{CORPUS}.*")]
        if scenario == "first" and not any((name / "manifest.json").exists() for name in names):
            committed = any(event["event"] == "committed" for event in events)
            return ["a committed corpus is gone"] if committed else []
        view = self.look(seed)
        if isinstance(view, str):
            return [view]
        after = self.whole[scenario].versions
        if scenario == "rebuild":
            lost = [] if view.versions in (before, after) else ["the corpus is neither the old nor the new one"]
        else:
            lost = _lost(before, after, events, view.versions)
        return [f"after the disturbance: {problem}" for problem in view.faults() + lost]

    def _mended(self, scenario: Scenario, events: list[dict[str, Any]], result: Result, seed: int) -> list[str]:
        """Run again to the end; return what differs from a run that nobody disturbed."""
        job = self.job(scenario, "journal2")
        process = self.start(child.ingest, job)
        process.join(PATIENCE_S)
        kill(process)
        again = read_journal(job.journal)
        if process.exitcode != 0:
            return [f"the second run failed ({process.exitcode}): {again[-1:]}"]
        view = self.look(seed)
        if isinstance(view, str):
            return [view]
        result.embedded_twice = embedded_leaves(events) + embedded_leaves(again) - self.embedded[scenario]
        result.vectors, result.out_of_reach = len(view.vectors), len(view.out_of_reach)
        problems = view.faults() + view.leftovers() + view.differences(self.whole[scenario])
        return [f"after the second run: {problem}" for problem in problems]


def _lost(before: Versions, after: Versions, events: list[dict[str, Any]], seen: Versions) -> list[str]:
    """Compare what is visible with what was committed; the commit that was under way may count or not."""
    must = dict(before)
    for event in events:
        if event["event"] == "committed":
            must |= event["shown"]
            for name in event["removed"]:
                must.pop(name, None)
    lost = [name for name, version in must.items() if seen.get(name) not in (version, after.get(name))]
    strange = [name for name, version in seen.items() if version not in (must.get(name), after.get(name))]
    return [
        f"{len(names)} documents {what}, such as {min(names)}"
        for names, what in ((lost, "lost"), (strange, "of no generation"))
        if names
    ]


def embedded_leaves(events: list[dict[str, Any]]) -> int:
    """Return how many leaves a run embedded."""
    return sum(event["leaves"] for event in events if event["event"] == "embedded")


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Return the events of a process; a last line that its death cut off is left out."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith("\n")]


def kill(process: BaseProcess) -> None:
    """End a process, if it has not ended, and wait for it."""
    process.kill()
    process.join()


def random_kill(ground: Ground, scenario: Scenario, seed: int, number: int, name: Signal = "KILL") -> Case:
    """Return the n-th case of a signal at a random moment."""
    dice = random.Random(f"{seed} {scenario} {number} {name}")
    return Case(scenario, kill_after_s=round(dice.uniform(0, 1.02 * ground.seconds[scenario]), 3), signal=name)


def contend(ground: Ground) -> tuple[list[str], float]:
    """Start an ingestion beside one that holds the corpus, kill the holder, and start a third.

    Returns:
        What was wrong, and how many seconds it took to refuse the second one.
    """
    frozen = ground.prepare("first", Fault("versions announced", 1, "before", "freeze"))
    holder = ground.start(child.ingest, frozen)
    deadline = time.monotonic() + PATIENCE_S
    while not any(event["event"] == "struck" for event in read_journal(frozen.journal)):
        if time.monotonic() > deadline:
            kill(holder)
            return ["the holder did not come to its first write"], 0.0
        os.sched_yield()
    started = time.monotonic()
    refused, second = _to_its_end(ground, ground.job("first", "second"))
    seconds = time.monotonic() - started
    kill(holder)
    following, _ = _to_its_end(ground, ground.job("first", "third"))
    view = ground.look()
    problems = [
        *([] if refused.get("error") == "CorpusLockedError" else [f"the second one was not refused: {refused}"]),
        *([] if f"process {holder.pid}" in refused.get("message", "") else ["the holder is not named"]),
        *([] if second == 1 else [f"exit code {second} of the refused one"]),
        *([] if following["event"] == "done" else [f"the dead holder's lock was not free: {following}"]),
        *([view] if isinstance(view, str) else view.faults() + view.differences(ground.whole["first"])),
    ]
    return problems, seconds


def _to_its_end(ground: Ground, job: Job) -> tuple[dict[str, Any], int | None]:
    process = ground.start(child.ingest, job)
    process.join(PATIENCE_S)
    kill(process)
    return read_journal(job.journal)[-1], process.exitcode
