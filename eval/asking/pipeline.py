"""Ask a pipeline of steps: it finds the documents, and they are what is scored.

Flow: `build.py` -> **here** reads the file, and runs it for each question -> `asking.py`. Contexts are the rows of the
last table, in its order. The answer is the pipeline's summary of all documents, where one of its steps writes one;
otherwise the engine's over these documents, as in a chat over the results of a task.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.asking.in_process import OpenEngine, as_no_reply, ask_about
from eval.asking.target import NoReplyError
from eval.cases import Case
from eval.rows import Quote, Row, Seen
from index.documents.store import Document
from pipelines.body import Plan, read_plan
from pipelines.build import services_of
from pipelines.file import read_file
from pipelines.registry import all_steps
from pipelines.running import FailedStepError, Runner
from pipelines.state import CHAT_DOCUMENTS, PipelineState
from pipelines.step import FULL_TEXT, RowStep
from pipelines.tasks.chats import TITLE, page_name, pages_of
from query_engine.build import Engines
from query_engine.runtime.threads import in_thread
from settings import Settings

SUMMARY = "pipeline"
"""Stands for who wrote, where a step of the pipeline did."""


PlanOf = Callable[[str], Plan]


def read_pipeline(file: Path, engines: Engines, settings: Settings) -> tuple[PlanOf, Runner]:
    """Return a function from a question to the file's pipeline with it as its query, and what runs that.

    It has no row cache: rows that are known from another run would make it look faster.
    """
    body, registry = read_file(file), all_steps(settings.pipelines.steps_dir)
    services = services_of(engines, settings)
    runner = Runner(services, None)
    return lambda question: read_plan(body, registry, services, query=question), runner


@dataclass(frozen=True, slots=True)
class PipelineTarget:
    """A pipeline in this process.

    Attributes:
        plan: see `read_pipeline`.
        runner: of the plan.
        open_engine: documents -> an engine over them alone; called one at a time.
        fingerprint: of the run.
        documents: rows that the answer is written from, at most.
    """

    plan: PlanOf
    runner: Runner
    open_engine: OpenEngine
    fingerprint: str
    documents: int = CHAT_DOCUMENTS
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, case: Case) -> Row:
        """Run the pipeline once.

        Raises:
            NoReplyError: the question is refused, a step failed, or there was no time for an answer.
        """
        started = time.perf_counter()
        stop = threading.Event()
        with as_no_reply(case, "pipeline"):
            plan = self.plan(case.question)
            try:
                state = await in_thread(partial(self.runner.run, plan, _Unwatched(), stop), stop)
            except FailedStepError as error:
                raise NoReplyError(f"{error}", "Mend the pipeline, or what its step needs.") from error
            retrieve_ms = (time.perf_counter() - started) * 1000
            row = _summarised(case, plan, state) or await self._answered(case, state, started)
        warnings = [f"step_{one.step}: {one.name}: {text}" for one in state.history for text in one.warnings]
        steps_ms = {f"{one.step} {one.name}": round(one.seconds * 1000, 1) for one in state.history}
        return row.model_copy(
            update={
                "passages": _passages(state),
                "warnings": (*row.warnings, *warnings),
                "timings_ms": {**row.timings_ms, "retrieve": round(retrieve_ms, 1), **steps_ms},
                "seconds": time.perf_counter() - started,
                "fingerprint": self.fingerprint,
            }
        )

    async def _answered(self, case: Case, state: PipelineState, started: float) -> Row:
        """Answer from the rows; a citation then names the row's document, and its place there."""
        column = context_column(state)
        pages = pages_of(state, column, self.documents) if column else []
        documents = [Document(page.url, page.title or page.url, page.text or "") for page in pages]
        async with self._lock:
            row = await ask_about(self.open_engine, documents, case, started)
        places = {page_name(number): place for number, place in enumerate(_places(state), start=1)}
        return row.model_copy(update={"citations": tuple(_placed(quote, places) for quote in row.citations)})


class _Unwatched:
    """A watcher that tells nobody."""

    def began(self, *_: Any, **__: Any) -> None:
        """Tell nobody."""

    progressed = logged = ended = began


def context_column(state: PipelineState) -> str | None:
    """Return the column that the sources fill; else the first text but the title; None where there is none."""
    if FULL_TEXT in state.columns:
        return FULL_TEXT
    texts = (name for name in state.columns if "text" in state.roles.get(name, ()) and name != TITLE)
    return next(texts, None)


def _summarised(case: Case, plan: Plan, state: PipelineState) -> Row | None:
    """Return the row of a pipeline that sums its documents up; None if no step does, or it wrote nothing."""
    titles = [
        getattr(one.step.given, "output_column", None)
        for one in plan.steps
        if one.step.category == "Summarizers" and not isinstance(one.step, RowStep)
    ]
    written = [row for row in state.aggregated if row["title"] in titles and row["data"].strip()]
    if not written:
        return None
    citations = tuple(
        Quote.model_validate({**quote, "number": number, "url": None})
        for number, quote in enumerate(written[-1].get("citations", ()), start=1)
    )
    return Row(id=case.id, outcome="answered", answer=written[-1]["data"], citations=citations, synthesizer=SUMMARY)


def _passages(state: PipelineState) -> tuple[Seen, ...]:
    column = context_column(state)
    if column is None:
        return ()
    chunks = state.texts("id") if "id" in state.columns else [""] * state.count
    return tuple(
        Seen(text=text, chunk_id=chunk or None, **place)
        for text, chunk, place in zip(state.texts(column), chunks, _places(state), strict=True)
    )


def _places(state: PipelineState) -> list[dict[str, Any]]:
    """Return where each row stands: `doc_id`, `start` and `end`, as far as the table tells."""
    rows = state.rows([name for name in ("doc_id", "start", "end") if name in state.columns])
    return [{**row, "doc_id": row.get("doc_id") or ""} for row in rows or [{}] * state.count]


def _placed(quote: Quote, places: dict[str, dict[str, Any]]) -> Quote:
    """Return a quote of a row's text as one of the row's document."""
    place = places.get(quote.doc_id or "", {})
    offset = place.get("start") or 0
    moved = {"start": (quote.start or 0) + offset, "end": (quote.end or 0) + offset}
    return quote.model_copy(update={"doc_id": place.get("doc_id", quote.doc_id), **moved})
