"""A corpus as one Python object: ask it, search it, bring documents into it.

Flow: `from treeline import open_corpus` -> **here** -> `query_engine/build.py` and `ingestion/build.py`, as the service
and the command line do. Calls block, also in a notebook.
"""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from contextlib import aclosing
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import start_thread
from query_engine.schema.events import Done, Event
from settings import RetrievalSettings, Settings, load_settings

if TYPE_CHECKING:  # seconds to import; `treeline --help` needs none of it
    from ingestion.schema import Summary
    from query_engine.build import Engines
    from query_engine.retrieval.merging.retriever import MergingRetriever
    from query_engine.schema.retrieval_result import Retrieval

Filters = Mapping[str, Any]


def open_corpus(name: str | None = None, settings: Settings | None = None, *, create: bool = False) -> "OpenCorpus":
    """Load the models and open a corpus; use it as a context manager, or close it.

    Args:
        name: of the corpus; None opens the settings' default.
        settings: None reads them from the environment and `.env`.
        create: make the corpus if it does not exist.

    Raises:
        UnknownCorpusError: there is no such corpus, and `create` is off.
        CorpusError: another process holds it, it is damaged, or it was built with other settings.
        ModelError: a model is missing or damaged.
        SettingsError: a setting is unknown, or settings contradict each other.
    """
    from query_engine.build import Engines  # noqa: PLC0415  # see above

    settings = settings or load_settings()
    return OpenCorpus(Engines(settings), settings, name, create=create)


class OpenCorpus:
    """An open corpus, made by `open_corpus`. No other process can open it until it is closed."""

    def __init__(self, engines: "Engines", settings: Settings, name: str | None, *, create: bool) -> None:
        self._engines = engines
        self._settings = settings
        self._engine = engines.get(name, create=create)

    def ask(self, question: str, *, filters: Filters | None = None, top_k: int | None = None) -> Done:
        """Answer a question; the result's `answer` is None if the documents do not answer it.

        Args:
            question: as it was asked.
            filters: which documents may be found (docs/retrieval.md); None allows all.
            top_k: passages that the answer is written from, at most; None leaves it to the settings.

        Raises:
            QuestionError: the question cannot be asked as it stands.
            FilterError: the filter is empty or has no meaning.
        """
        *_, done = self.stream(question, filters=filters, top_k=top_k)
        assert isinstance(done, Done)
        return done

    def stream(self, question: str, *, filters: Filters | None = None, top_k: int | None = None) -> Iterator[Event]:
        """Yield what happens while `ask` answers, `Done` last; closing the iterator stops the work."""
        from query_engine.inquiry import Inquiry  # noqa: PLC0415  # see above
        from research.modes import InMode  # noqa: PLC0415

        deadline = Deadline(self._settings.answer.deadline_s)
        inquiry = Inquiry(question, filters, top_k=top_k, deadline=deadline)
        events: SimpleQueue[Event | None] = SimpleQueue()

        async def read() -> None:
            async with aclosing(InMode(self._engine, self._settings).stream(inquiry)) as stream:
                async for event in stream:
                    events.put(event)

        # An event loop in a separate thread: the caller's thread may run one, as a notebook's does.
        reading = start_thread(lambda: asyncio.run(read()))
        reading.add_done_callback(lambda _: events.put(None))
        try:
            while (event := events.get()) is not None:
                yield event
            reading.result()
        finally:
            deadline.stop.set()
            wait([reading])

    def retrieve(self, question: str, *, filters: Filters | None = None, **options: Any) -> "Retrieval":
        """Find `passages`, best first, without writing an answer; `warnings` name what was left out.

        Args:
            question: as it was asked.
            filters: which documents may be found (docs/retrieval.md); None allows all.
            options: fields of `RetrievalSettings`, such as `top_k`, `budget_chars` or `merge`.

        Raises:
            QuestionError: the question cannot be asked as it stands.
            FilterError: the filter is empty or has no meaning.
            ValidationError: an option is unknown or out of range (pydantic's).
        """
        from query_engine.inquiry import Inquiry  # noqa: PLC0415  # see above

        return self._engine.retrieve(Inquiry(question, filters), self._with(options))

    def as_retriever(self, **options: Any) -> "MergingRetriever":
        """Return a LlamaIndex retriever (docs/library.md); `options` are those of `retrieve`."""
        return self._engine.search.retriever(self._with(options))

    def ingest(self, path: Path | str, **options: Any) -> "Summary":
        """Bring a folder or a file into the corpus; the same call again embeds only what changed since.

        Args:
            path: document ids are relative to this folder, or to the file's folder.
            options: fields of `RunOptions`, such as `metadata`, `dry_run` or `prune`.

        Raises:
            UnreadableError: `path` does not exist or cannot be looked into. (Single files are listed in `failed`.)
            CorpusError: a store failed.
        """
        from ingestion.build import ingest_into  # noqa: PLC0415  # see above
        from ingestion.schema import RunOptions  # noqa: PLC0415

        corpus, embeddings, stop = self._engine.corpus, self._engines.embeddings, threading.Event()
        run = RunOptions(**options)
        return ingest_into(
            corpus, Path(path), self._settings, embeddings, options=run, on_progress=lambda _: None, stop=stop
        )

    def close(self) -> None:
        """Let go of the corpus, so that others may open it."""
        self._engines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _with(self, options: Mapping[str, Any]) -> RetrievalSettings:
        return RetrievalSettings(**{**self._settings.retrieval.model_dump(), **options})
