"""Pipelines over scripted engines and models, in memory."""

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipelines.body import PlannedStep, read_plan
from pipelines.build import Pipelines
from pipelines.handler import StepHandler
from pipelines.registry import BUILT_IN, Registry
from pipelines.row_cache import RowCache
from pipelines.running import Runner
from pipelines.services import Services
from pipelines.state import ORIGINAL_RANK, PipelineState
from pipelines.step import FULL_TEXT, RowStep, SourceStep, Step
from query_engine.llms.base import LoadedModel
from query_engine.llms.openai import connect_openai
from query_engine.retrieval.reranking.base import Reranker
from settings import LLMSettings, Settings
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.engines import FakeEngine, FakeEngines, a_passage
from tests.fakes.llm import ReplyingLLM
from tests.fakes.reading import WordReader
from tests.servers.scripted_llm import ScriptedLLM

Start = Callable[..., Pipelines]
"""Opens pipelines as `fake_pipelines` does; the test's fixture closes them."""
TEXTS = ("Wind turns blades.", "The sun heats salt.", "Rain falls on the hills.")


class FakeSource(SourceStep):
    """Brings the texts of `TEXTS`."""

    id = "fake_source"
    name = "Texts"
    description = "Three short texts."
    closed = True

    def writes(self) -> list[str]:
        return ["id", FULL_TEXT, ORIGINAL_RANK]

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:  # noqa: ARG002
        return state.with_documents(
            {"id": list("abc"), FULL_TEXT: list(TEXTS), ORIGINAL_RANK: [1, 2, 3]},
            {FULL_TEXT: ("text",), ORIGINAL_RANK: ("rank",)},
        )


class ScriptedStep(RowStep):
    """Calls what it is told before each row, then gives the text's length. Counts the rows."""

    id = "scripted"
    name = "Scripted"
    category = "Metadata Analysis"
    description = "For tests."
    roles = ("chip",)
    before_row: Callable[[], None] = staticmethod(lambda: None)
    rows = 0

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> int:  # noqa: ARG002
        type(self).before_row()
        type(self).rows += 1
        return len(text)


def scripted(before_row: Callable[[], None] = lambda: None) -> type[ScriptedStep]:
    """Return a new step class, so that tests share no counts."""
    return type("Scripted", (ScriptedStep,), {"before_row": staticmethod(before_row), "rows": 0})


def fake_services(
    *engines: FakeEngine, reranker: Reranker | None = None, model: LoadedModel | None = None, **groups: Any
) -> Services:
    embedder, reader = WordHashEmbedding(), WordReader()
    return Services(
        settings=Settings(**groups),
        engines=FakeEngines({engine.corpus.name: engine for engine in engines or (an_engine(),)}),
        embedder=lambda: embedder,
        embedding_name=lambda: "fake",
        reranker=lambda: reranker,
        model=lambda: model,
        reader=lambda: reader,
    )


def an_engine(texts: Sequence[str] = TEXTS) -> FakeEngine:
    engine = FakeEngine()
    engine.found = tuple(
        replace(a_passage(f"{place}.md", text), chunk_id=f"{place}.md#00000") for place, text in enumerate(texts)
    )
    return engine


def a_registry(*steps: type[Step]) -> Registry:
    return Registry([*BUILT_IN, FakeSource, *steps])


def fake_pipelines(*steps: type[Step], folder: Path | None = None, services: Services | None = None) -> Pipelines:
    return Pipelines(services or fake_services(), a_registry(*steps), folder)


class Noting:
    """A watcher that remembers."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.ends: list[int] = []
        self.progress: list[tuple[int, int]] = []
        self.lines: list[str] = []

    def began(self, planned: PlannedStep) -> None:
        self.begun.append(planned.number)

    def progressed(self, done: int, total: int) -> None:
        self.progress.append((done, total))

    def logged(self, text: str) -> None:
        self.lines.append(text)

    def ended(self, planned: PlannedStep, state: PipelineState) -> None:  # noqa: ARG002
        self.ends.append(planned.number)


def body_of(*steps: Any, query: str = "What turns blades?") -> dict[str, Any]:
    """Return a body; a step is an id, or a pair of id and parameters, or a whole object."""
    written = [
        step
        if isinstance(step, dict)
        else {"id": step}
        if isinstance(step, str)
        else {"id": step[0], "parameters": step[1]}
        for step in steps
    ]
    return {"query": query, **{str(number): step for number, step in enumerate(written, start=1)}}


def run_body(
    body: dict[str, Any],
    *steps: type[Step],
    services: Services | None = None,
    cache: RowCache | None = None,
    watcher: Noting | None = None,
) -> PipelineState:
    """Check a body and run it to its end."""
    services = services or fake_services()
    plan = read_plan(body, a_registry(*steps), services)
    runner = Runner(services, cache)
    return runner.run(plan, watcher or Noting(), threading.Event())


def run_step(texts: Iterable[str], *steps: Any, query: str = "What turns blades?", **services: Any) -> PipelineState:
    """Run steps over these texts, which a corpus brings."""
    return run_body(
        body_of("corpus_datasource", *steps, query=query), services=fake_services(an_engine(list(texts)), **services)
    )


def cancel_in_call(server: ScriptedLLM, body: dict[str, Any], watcher: Noting) -> BaseException | None:
    """Run a body with the server's model, cancel it while a call runs, and return how it ended."""
    services = fake_services(model=a_server_model(server))
    plan, stop = read_plan(body, a_registry(), services), threading.Event()
    outcome: list[BaseException] = []

    def run() -> None:
        try:
            Runner(services, None).run(plan, watcher, stop)
        except BaseException as error:  # noqa: BLE001  # looked at by the test
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert server.wait_until(lambda now: bool(now.open_streams))
    stop.set()
    thread.join(10)
    assert server.wait_until(lambda now: not now.open_streams)
    return outcome[0] if outcome else None


def a_server_model(server: ScriptedLLM) -> LoadedModel:
    """Return the model of a scripted server."""
    llm = LLMSettings(provider="openai", base_url=server.base_url, model="scripted", timeout_s=30)
    return connect_openai(llm)


def a_model(reply: Callable[[str], str], *, context_tokens: int = 4096, label: str = "fake at home") -> LoadedModel:
    """Return a model that makes its reply of the prompt; its tokens are words."""
    return LoadedModel(ReplyingLLM(reply=reply), label, lambda: context_tokens, lambda text: len(text.split()))


def a_handler(services: Services | None = None) -> StepHandler:
    """Return a handler for a step that is called by itself."""
    return StepHandler(
        1,
        services or fake_services(),
        cache=None,
        stop=threading.Event(),
        tell=lambda _done, _total: None,
        note=lambda _line: None,
    )
