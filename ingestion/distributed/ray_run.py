"""Spread reading, cutting and embedding over the workers of a Ray cluster: this machine's cores, or many machines.

Flow: `build.py` -> **here** in place of `Reader` and `LocalPreparation` -> `worker.py`, once a core. Comparing and
committing stay in this process, which alone has the corpus open, so a corpus comes out the same with and without Ray.
The only file that imports ray, and only once there is something to read.

Files go to the workers in batches by size and documents in batches by length, in order and a bounded number ahead. A
worker that dies is started again and is given again what it had. Every machine of a cluster needs this checkout, its
packages and the files at the same paths as here.
"""

import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import Any, Self, TypeVar

from errors import ClusterError, SettingsError, UnreadableError
from index.documents.blobs import LeftOut
from index.documents.span_tree import SpanTree
from index.documents.store import Document
from ingestion.distributed.worker import Found, Prepared, Worker
from ingestion.pipeline.batching import begun_ahead, grouped
from ingestion.pipeline.chunk_embed import Check, chars
from ingestion.pipeline.diff import Change, Step
from ingestion.reading.files import SourceFile
from ingestion.schema import RunStopped
from settings import Settings

LOCAL = "local"
# Small enough that every worker has a share of a middling folder, large enough that handing over costs nothing.
READ_BYTES = 1_000_000
READ_ITEMS = 200
PREPARE_CHARS = 100_000
PREPARE_STEPS = 500
# Pieces of a file that wait at a worker until they are asked for; see `worker.PIECE_CHARS`.
WAITING_PIECES = 8
RETRIES = 3
POLL_S = 0.2
CONNECT_S = 5
# What is under way is small; Ray would take a third of the memory.
OBJECT_STORE_BYTES = 256_000_000

T = TypeVar("T")


class RayCrew:
    """The workers of one run. A context manager; the cluster is joined, or started, when the first file is to be read.

    Args:
        settings: `ingest.ray_address` names the cluster; of the rest workers get what they need, and no keys.
        papers: read every text file as a paper, or an object of one.
        stop: once it is set, waiting ends with RunStopped.

    Raises:
        SettingsError: ray is not installed.
    """

    def __init__(self, settings: Settings, *, papers: bool, stop: threading.Event) -> None:
        # Before ray is imported, which reads it then: no usage report leaves this machine.
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        try:
            import ray  # noqa: PLC0415  # optional, and a second's worth of imports
        except ImportError as error:
            raise SettingsError(
                "Ray is not installed.",
                "Run `pip install -e '.[ray]' -c constraints.txt`, or leave RAG_INGEST__RAY_ADDRESS unset.",
            ) from error
        self._ray: Any = ray
        self._settings = settings
        self._papers = papers
        self._stop = stop
        self.max_file_bytes = settings.ingest.max_file_bytes
        self._closing = ExitStack()
        # Ray's processes die with the thread that started them, and the stages that ask for workers end early.
        self._home = self._closing.enter_context(ThreadPoolExecutor(1, "ray"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.close()

    @cached_property
    def workers(self) -> list[Any]:
        """The workers, ready to read; raises ClusterError when there are none to be had."""
        count = self._home.submit(self._join).result()
        device = self._settings.embed.device
        share = self._ray.cluster_resources().get("GPU", 0) / count if device != "cpu" else 0
        actor = self._ray.remote(
            num_cpus=1,
            num_gpus=share,
            max_restarts=-1,
            max_task_retries=RETRIES,
            concurrency_groups={"reading": 1, "preparing": 1},
        )(Worker)
        settings = for_workers(self._settings)
        first = actor.remote(settings, papers=self._papers)
        # Alone, because it may have to convert the embedding model, which the others then find.
        self.result(first.load.options(concurrency_group="preparing").remote())
        return [first, *(actor.remote(settings, papers=self._papers) for _ in range(count - 1))]

    @property
    def size(self) -> int:
        """Number of workers; none before the first file is to be read, so that nothing is started for nothing."""
        return len(self.workers) if "workers" in self.__dict__ else 0

    def turns(self) -> Iterator[Any]:
        """Yield the workers in turn, for ever."""
        yield from cycle(self.workers)

    def result(self, reference: Any) -> Any:
        """Return what a worker returned; raises what it raised, and RunStopped when the run shall end.

        Raises:
            ClusterError: workers died over this task, again and again.
        """
        self.wait(reference)
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        except self._ray.exceptions.RayError as error:
            raise ClusterError(
                f"Ray's workers died {RETRIES + 1} times over the same work.",
                "See that each has memory enough, or set RAG_INGEST__RAY_WORKERS lower; then run the command again: "
                "it goes on from what is committed.",
            ) from error

    def wait(self, reference: Any) -> None:
        """Return once a result, or the next of many, is there; raises RunStopped when the run shall end."""
        while not self._ray.wait([reference], timeout=POLL_S)[0]:
            if self._stop.is_set():
                raise RunStopped

    def _join(self) -> int:
        """Connect to the cluster, or start one, and return how many workers it shall have."""
        address, wanted = self._settings.ingest.ray_address, self._settings.ingest.ray_workers
        common: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
        if address == LOCAL:
            folder = tempfile.mkdtemp(prefix="treeline-ray-")
            self._closing.callback(shutil.rmtree, folder, ignore_errors=True)
            local: dict[str, Any] = {
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
                "_temp_dir": folder,
            }
            common |= {"num_cpus": wanted, **local}
        try:
            if address and address != LOCAL:
                host, _, port = address.partition(":")
                # Ray itself looks for a cluster that is not there for minutes.
                socket.create_connection((host, int(port)), CONNECT_S).close()
            self._ray.init(address=address, **common)
        except (OSError, RuntimeError, ValueError, OverflowError) as error:
            raise ClusterError(
                f"The Ray cluster {address!r} cannot be had: {str(error).splitlines()[0]}.",
                "Set RAG_INGEST__RAY_ADDRESS to `local`, or to the address that `ray start --head` printed.",
            ) from error
        self._closing.callback(self._ray.shutdown)
        return wanted or max(1, int(self._ray.cluster_resources().get("CPU", 1)))


class RayReader:
    """Has files read by the workers, ahead of their use. For one thread."""

    def __init__(self, crew: RayCrew) -> None:
        self._crew = crew
        self._turns = crew.turns()
        self._found: Iterator[Found] = iter(())

    @property
    def max_file_bytes(self) -> int:
        """Larger files are refused, unless they are streamed record by record."""
        return self._crew.max_file_bytes

    def ahead(self, items: Iterator[T], file_of: Callable[[T], SourceFile | None]) -> Iterator[T]:
        """Pass the items on, while workers already read the files of coming ones."""

        def size(item: T) -> int:
            file = file_of(item)
            return file.size if file else 0

        def begin(group: list[T]) -> tuple[list[T], Iterator[Found]]:
            files = [file for item in group if (file := file_of(item))]
            return group, self._begin(files) if files else iter(())

        groups = grouped(items, size, max_weight=READ_BYTES, max_items=READ_ITEMS)
        for group, found in begun_ahead(groups, begin, lambda: self._crew.size):
            self._found = found
            yield from group

    def read(self, file: SourceFile) -> Iterator[Document | LeftOut | UnreadableError]:
        """Yield what a worker found in the file; files are asked for in the order in which they were passed on."""
        for name, item in self._found:
            # What is left of a file before this one was not wanted.
            if name == file.doc_id:
                if item is None:
                    return
                yield item

    def _begin(self, files: list[SourceFile]) -> Iterator[Found]:
        pieces = (
            next(self._turns)
            .read.options(
                num_returns="streaming",
                concurrency_group="reading",
                _generator_backpressure_num_objects=WAITING_PIECES,
            )
            .remote(files)
        )
        return self._stream(pieces, files)

    def _stream(self, pieces: Any, files: list[SourceFile]) -> Iterator[Found]:
        ended = set()
        try:
            while True:
                self._crew.wait(pieces)
                try:
                    reference = next(pieces)
                except StopIteration:
                    return
                for found in self._crew.result(reference):
                    if found[1] is None:
                        ended.add(found[0])
                    yield found
        except ClusterError as error:
            reason = UnreadableError(
                "Ray's workers died over this file or one that was read with it.",
                "See that each has memory enough, then run `python -m ingestion retry-failed`.",
            )
            reason.__cause__ = error
            for file in files:
                if file.doc_id not in ended:
                    yield from ((file.doc_id, reason), (file.doc_id, None))


class RayPreparation:
    """Has documents cut and embedded by the workers, ahead of their use."""

    def __init__(self, crew: RayCrew) -> None:
        self._crew = crew

    def prepared(self, steps: Iterator[Step], check: Check) -> Iterator[Step]:
        """Do what `Preparation` says; of a changed document all leaves are computed again."""
        turns = self._crew.turns()

        def begin(group: list[Step]) -> tuple[list[Step], Any]:
            check()
            changes = [step for step in group if isinstance(step, Change)]
            options = {"concurrency_group": "preparing"}
            return group, next(turns).prepare.options(**options).remote(changes) if changes else None

        groups = grouped(steps, chars, max_weight=PREPARE_CHARS, max_items=PREPARE_STEPS)
        for group, reference in begun_ahead(groups, begin, lambda: 2 * self._crew.size):
            if reference is not None:
                self._fill(group, self._crew.result(reference))
            yield from group

    @staticmethod
    def _fill(group: list[Step], prepared: list[Prepared]) -> None:
        changes = (step for step in group if isinstance(step, Change))
        for change, made in zip(changes, prepared, strict=True):
            if isinstance(made, str):
                change.refused = made
            else:
                tree, change.vectors, change.embedded = made
                change.tree = SpanTree.from_bytes(tree)


def for_workers(settings: Settings) -> Settings:
    """Return the settings that reading, cutting and embedding need, with paths that hold in any folder."""
    embed = settings.embed
    model = str(Path(embed.model).resolve()) if Path(embed.model).is_dir() else embed.model
    # A worker has its own core, and sees only the GPU that Ray gave it.
    device = embed.device.partition(":")[0]
    changed = {"model": model, "device": device, "threads": 1, "cache_dir": embed.cache_dir.resolve()}
    return Settings(chunk=settings.chunk, embed=embed.model_copy(update=changed), ingest=settings.ingest)
