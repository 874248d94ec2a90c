"""Settings and engines -> pipelines that can be run.

Flow: `main.py` and the command line -> **here** -> `tasks/queue.py`, `running.py`.
"""

import logging
import sqlite3
import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from errors import ModelError, TasksUnavailableError
from index.disk import private_file, private_folder
from pipelines.registry import Registry, all_steps
from pipelines.row_cache import RowCache
from pipelines.running import Runner
from pipelines.services import Engines, Services
from pipelines.tasks.queue import Acting, TaskQueue
from pipelines.tasks.store import FILE_NAME, TaskStore
from query_engine.build import Engines as LoadedEngines
from settings import Settings

CACHE_NAME = "rows.sqlite"

logger = logging.getLogger(__name__)


class Pipelines:
    """The pipelines of one service: the steps that there are, and the tasks that run them.

    The tasks' file is opened when it is first needed. Where another service holds it, that call fails and the next one
    tries again; everything else works.

    Args:
        services: what steps may call.
        registry: the steps that there are.
        folder: of tasks and cache; None keeps both in memory.
    """

    def __init__(self, services: Services, registry: Registry, folder: Path | None) -> None:
        self.registry = registry
        self.services = services
        self._folder = folder
        self._lock = threading.Lock()
        self._cache: RowCache | None = None
        self._queue: TaskQueue | None = None
        self._closed = False
        self._acting: Acting = lambda *_: nullcontext()

    def guard(self, engines: Engines, acting: Acting) -> None:
        """Have the tasks open corpora by these engines, each on behalf of who submitted it; before any task runs.

        Args:
            engines: ask who acts.
            acting: returns what lasts as long as the task with this id and mark runs.
        """
        self.services, self._acting = replace(self.services, engines=engines), acting

    @property
    def tasks(self) -> TaskQueue:
        """The tasks; opened when first asked for.

        Raises:
            TasksUnavailableError: another service holds them, the disk refuses, or this service is being stopped.
        """
        with self._lock:
            if self._closed:
                raise TasksUnavailableError("The service is being stopped.", "Ask again when it is back.")
            if self._queue is None:
                settings = self.services.settings.pipelines
                store = TaskStore(self._folder)
                self._cache = open_cache(settings.cache_mb, self._folder)
                runner = Runner(self.services, self._cache)
                self._queue = TaskQueue(store, runner, self.registry, settings, self._acting)
            return self._queue

    def resume(self) -> None:
        """Go on with the tasks that an earlier process left; where there were none, nothing is opened."""
        if self._folder is None or not (self._folder / FILE_NAME).is_file():
            return
        try:
            _ = self.tasks
        except TasksUnavailableError as error:
            logger.warning("Tasks are not gone on with: %s", error)

    def stop(self) -> None:
        """Tell running tasks to stop at their next check; return immediately."""
        with self._lock:
            self._closed = True
            if self._queue is not None:
                self._queue.stop()

    def close(self) -> None:
        """Stop, wait some seconds for running tasks, and close the files."""
        self.stop()
        if self._queue is not None:
            self._queue.close()
        if self._cache is not None:
            self._cache.close()


def open_pipelines(engines: LoadedEngines, settings: Settings) -> Pipelines:
    """Return the pipelines of a service, over its engines and models.

    Raises:
        SettingsError: an own step cannot be loaded.
    """
    return Pipelines(services_of(engines, settings), all_steps(settings.pipelines.steps_dir), settings.pipelines.dir)


def services_of(engines: LoadedEngines, settings: Settings) -> Services:
    """Return what steps may call, over engines with loaded models."""
    return Services(
        settings=settings,
        engines=engines,
        embedder=lambda: engines.embedder,
        embedding_name=lambda: str(engines.embedding.manifest.identity.fingerprint()),
        reranker=lambda: engines.reranker,
        model=lambda: engines.query_model,
        reader=lambda: engines.passage_reader,
    )


def without_models(engines: Engines, settings: Settings) -> Pipelines:
    """Return pipelines over engines alone, in memory: steps that need a model fail; nothing outlives the process."""
    services = Services(
        settings=settings,
        engines=engines,
        embedder=_no_model,
        embedding_name=lambda: "",
        reranker=lambda: None,
        model=lambda: None,
        reader=_no_model,
    )
    return Pipelines(services, all_steps(settings.pipelines.steps_dir), None)


def open_cache(size_mb: int, folder: Path | None) -> RowCache | None:
    """Return the row cache; None where it is off, or its file cannot be used: then every row is computed."""
    if not size_mb:
        return None
    try:
        if folder is not None:
            private_folder(folder)
            private_file(folder / CACHE_NAME)
        return RowCache(None if folder is None else folder / CACHE_NAME, size_mb * 1_000_000)
    except (sqlite3.Error, OSError) as error:
        logger.warning("The row cache is off: %s", error)
        return None


def _no_model() -> Any:
    raise ModelError("This program has loaded no models.", "Give it the pipelines of `open_pipelines`.")
