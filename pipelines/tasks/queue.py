"""Run tasks in a thread of their own, one at a time, in the order of submission.

Flow: a route submits a pipeline -> **here** -> `running.py` in a thread -> the store. Questions have other slots
(`api/admission.py`), so no question waits for a task. A task that runs when the process ends continues from its last
finished step at the next start.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from errors import RagError, TaskCancelledError, TasksUnavailableError, without_paths
from pipelines.body import read_plan
from pipelines.registry import Registry
from pipelines.running import FailedStepError, Runner
from pipelines.state import PipelineState
from pipelines.tasks.chats import Chats
from pipelines.tasks.live import LiveTask
from pipelines.tasks.store import Task, TaskStore
from pipelines.tasks.tables import TableKeeper, read_state
from settings import PipelinesSettings

CANCELLED = "TaskCancelledError: The task was cancelled."
# For running tasks when the service stops.
STOP_WITHIN_S = 8.0
MAX_WAITING = 1000

logger = logging.getLogger(__name__)

Acting = Callable[[str, str], AbstractContextManager[None]]


class TaskQueue:
    """The tasks of one service. Calls block for the time of a look into the file; safe from many threads.

    Args:
        store: keeps them.
        runner: runs them.
        registry: the steps that there are.
        settings: lifetime.
        acting: on whose behalf a task runs, see `Pipelines.guard`.

    Attributes:
        store: as given.
        chats: over the results of finished tasks.
    """

    def __init__(
        self,
        store: TaskStore,
        runner: Runner,
        registry: Registry,
        settings: PipelinesSettings,
        acting: Acting = lambda *_: nullcontext(),
    ) -> None:
        self.store = store
        self.chats = Chats(store)
        self._runner = runner
        self._registry = registry
        self._settings = settings
        self._acting = acting
        self._changed = threading.Condition()
        self._live: dict[str, LiveTask] = {}
        self._awaited: dict[str, Future[None]] = {}
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._expire()
        if store.recover():
            with self._changed:
                self._start_thread()

    def submit(self, body: object, mark: Callable[[str], str] = lambda _: "") -> str:
        """Check a pipeline, put it in line, and return the task's id.

        Args:
            body: the pipeline.
            mark: returns what is kept as the mark of a task with this id.

        Raises:
            PipelineError: the pipeline cannot run.
            QuestionError: its query cannot be asked.
            RagError: the line is full.
            TasksUnavailableError: it cannot be kept.
        """
        plan = read_plan(body, self._registry, self._runner.services)
        self._expire()
        with self._changed:
            task_id = self.store.add(plan.body, MAX_WAITING, mark)
            self._start_thread()
            self._changed.notify()
        return task_id

    def end_of(self, task_id: str) -> "Future[None]":
        """Return what is done when the task has ended, or the service stops.

        Raises:
            RagError: there is none of this id.
        """
        with self._changed:
            if self._stopping or self.store.get(task_id).has_ended:
                done: Future[None] = Future()
                done.set_result(None)
                return done
            return self._awaited.setdefault(task_id, Future())

    def get(self, task_id: str) -> tuple[Task, LiveTask | None]:
        """Return a task, and how far it is if it runs.

        Raises:
            RagError: there is none of this id.
        """
        with self._changed:
            return self.store.get(task_id), self._live.get(task_id)

    def cancel(self, task_id: str) -> None:
        """End a task: from now on it counts as cancelled, and its thread stops soon. An ended one stays as it is.

        Raises:
            RagError: there is none of this id.
        """
        with self._changed:
            self.store.get(task_id)
            live = self._live.get(task_id)
            self.store.end(task_id, "cancelled", CANCELLED, log=live.log if live else None)
            if live is not None:
                live.stop.set()
            self._resolve(task_id)

    def state_of(self, task_id: str, step: int | None = None, columns: Collection[str] | None = None) -> PipelineState:
        """Return how things stand with a task that may still run.

        Args:
            task_id: of the task.
            step: the number of the one after which they are looked at; None: the last one that has ended.
            columns: of the table that are read; None: all.

        Raises:
            RagError: there is no such task, or it has not finished the step.
        """
        task = self.store.get(task_id)
        state = read_state(self.store, task_id, task.body["query"], step, columns)
        if step is not None and not state.history:
            raise RagError(
                f"The task has not finished a step {step}.", "Ask GET /task/progress/ID how far it is.", "unknown_task"
            )
        return state

    def rank_columns(self, task_id: str) -> list[str]:
        """Return the columns of a task's last table that rank."""
        facts = self.store.facts(task_id)
        return [name for name, roles in facts[-1]["roles"].items() if "rank" in roles] if facts else []

    def stop(self) -> None:
        """Tell running tasks to stop at their next check, to continue at the next start; return immediately."""
        with self._changed:
            self._stopping = True
            for live in self._live.values():
                live.stop.set()
            for task_id in list(self._awaited):
                self._resolve(task_id)
            self._changed.notify_all()

    def close(self) -> None:
        """Stop, wait some seconds for the thread, and close the file."""
        self.stop()
        if self._thread is not None:
            self._thread.join(STOP_WITHIN_S)
        self.store.close()

    def _start_thread(self) -> None:
        if self._thread is None and not self._stopping:
            self._thread = threading.Thread(target=self._work, daemon=True, name="tasks")
            self._thread.start()

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            self._run(*taken)

    def _take(self) -> tuple[Task, LiveTask] | None:
        """Return the next task, waiting for one; None when the service stops."""
        with self._changed:
            while not self._stopping:
                try:
                    task = self.store.claim()
                except TasksUnavailableError as error:
                    logger.warning("No task can be taken: %s", error)
                    task = None
                if task is not None:
                    keeper = TableKeeper(self.store, task.id)
                    live = self._live[task.id] = LiveTask(task.id, keeper, task.log)
                    return task, live
                self._changed.wait()
        return None

    def _run(self, task: Task, live: LiveTask) -> None:
        try:
            with self._acting(task.id, task.mark):
                self._steps(task, live)
        except TaskCancelledError:
            pass  # `cancel` has written that it ended; a service that stops leaves it as it is
        except FailedStepError as error:
            self._end(live, "failed", str(error), str(error.planned.number))
        except TasksUnavailableError as error:
            logger.warning("Task %s goes on at the next start: %s", task.id, error)
        except RagError as error:
            self._end(live, "failed", f"{type(error).__name__}: {error}", "")
        except Exception as error:
            logger.exception("Task %s failed in an unforeseen way", task.id)
            self._end(live, "failed", f"{type(error).__name__}: {error}", "")
        else:
            self._end(live, "finished", "", "")
        finally:
            with self._changed:
                self._live.pop(task.id, None)
                self._resolve(task.id)

    def _steps(self, task: Task, live: LiveTask) -> None:
        plan = read_plan(task.body, self._registry, self._runner.services)
        state = read_state(self.store, task.id, plan.query)
        done = len(state.history)
        live.note(f"Going on after step {done}" if done else f"Executing pipeline with ID: {task.id}")
        live.note(f"Running pipeline. Query: {plan.query}")
        self._runner.run(plan, live, live.stop, state)

    def _end(self, live: LiveTask, state: Any, error: str, step: str) -> None:
        error = without_paths(error)
        live.note(error or "Finished the task.")
        with suppress(TasksUnavailableError):  # then it is run again at the next start
            self.store.end(live.task_id, state, error, step, live.log)
            self._expire()

    def _expire(self) -> None:
        self.store.expire(time.time() - self._settings.ttl_s, self._settings.disk_mb * 1_000_000)

    def _resolve(self, task_id: str) -> None:
        future = self._awaited.pop(task_id, None)
        if future is not None and not future.done():
            future.set_result(None)
