"""Data set -> what is measured on it: our engine, and the stock recipe over the very same texts.

Flow: `__main__.py` -> **here** -> `quality/retrieval.py`, `quality/answers.py`, `speed/ingest.py`, `speed/load.py`.
Indexes are kept below `RAG_BENCH__DIR`, one folder a data set, and brought up to date when a measurement opens them;
those of `ingest` are thrown away.

The engines are imported where they are opened: `ingest` measures programs from outside, and a library that this
process held as well would count less in theirs.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from bench.datasets import SAMPLE, DataSet, find_sets
from bench.quality.retrieval import OURS, STOCK, Retrieve
from bench.speed import hostile, latency, load
from bench.speed.ingest import Commands, Measured, Ours, measure, warm_up
from bench.speed.process import serving
from bench.speed.workload import read_texts, write_workload
from errors import IndexMismatchError
from eval.cases import Case, read_cases
from eval.metrics import BUDGETS_CHARS
from index.embedding.model import load_embedding_model
from ingestion.reading.files import list_files
from ingestion.reading.reader import Reader
from settings import Mode, Settings

if TYPE_CHECKING:
    from bench.baseline.llamaindex import StockRecipe
    from bench.quality.crag import Answered
    from bench.quality.grounding import Fate
    from bench.quality.helpful.asking import System
    from bench.quality.reach import Reach
    from bench.quality.research import Overhead
    from bench.speed.page import Measured as PageMeasured
    from bench.speed.pipelines import Overhead as StepOverhead
    from bench.speed.scoring import Scoring
    from bench.speed.whole_pipeline import WholePipeline
    from query_engine.build import Engines
    from query_engine.engine import Engine
    from query_engine.retrieval.multi_part import SearchContext
    from research.loop import Tools

CORPUS = "ours"
LONG_DOCUMENT = "coast.md"
PAGE_ANSWER_WORDS, PAGE_WORDS_PER_S = 600, 100.0
LOCAL_KEY = "local"
STOCK_MODEL = "minilm"
FORGETFUL = {"RAG_EMBED__KEPT_VECTORS": "0"}
# Long enough to be cut: what cuts it is loaded with the first such text.
WARM_UP = f"<html><body><p>{'An engine is warmed up before it is timed. ' * 200}</p></body></html>"


@contextmanager
def open_engine(data_set: DataSet, settings: Settings) -> Iterator["Engine"]:
    """Open an engine as `open_engines` does."""
    with open_engines(data_set, settings) as engines:
        yield engines.get()


@contextmanager
def open_engines(data_set: DataSet, settings: Settings) -> Iterator["Engines"]:
    """Bring the data set's corpus into its own index, and open engines of which it is the default.

    An index that was made with other settings, or holds documents that are gone, is rebuilt.

    Raises:
        RagError: from ingestion or the engine.
    """
    from ingestion.build import ingest  # noqa: PLC0415
    from query_engine.build import Engines  # noqa: PLC0415

    index = settings.index.model_copy(update={"dir": settings.bench.dir / data_set.name, "corpus": CORPUS})
    settings = settings.model_copy(update={"index": index})
    _tell(f"{data_set.name}: bringing {data_set.corpus} up to date")
    try:
        summary = ingest(data_set.corpus, settings, corpus=CORPUS)
    except IndexMismatchError:
        summary = ingest(data_set.corpus, settings, corpus=CORPUS, rebuild=True)
    engines = Engines(settings)
    try:
        # Ingestion keeps documents whose files are gone; a measurement must not find them.
        if engines.get().corpus.documents.count() != summary.new + summary.changed + summary.unchanged:
            engines.close()
            summary = ingest(data_set.corpus, settings, corpus=CORPUS, rebuild=True)
            engines = Engines(settings)
        for entry in (*summary.skipped, *summary.failed):
            _tell(f"left out: {entry['source']}: {entry['reason']}")
        yield engines
    finally:
        engines.close()


async def answer_over_pages(cases: Sequence[Case], settings: Settings) -> list["Answered"]:
    """Answer each question over its own pages, after one untimed page, as a service that is up would.

    Raises:
        RagError: from reading, embedding or the engine.
    """
    from bench.quality import crag  # noqa: PLC0415
    from ingestion.reading.pages import Page, read_pages  # noqa: PLC0415
    from query_engine.build import Engines  # noqa: PLC0415
    from query_engine.inquiry import Inquiry  # noqa: PLC0415

    answered = []
    engines = Engines(settings)
    with closing(engines), Reader(settings.ingest) as reader:
        with engines.for_documents(read_pages([Page("http://localhost/", WARM_UP)], reader)[0]) as engine:
            [event async for event in engine.stream(Inquiry("What is warmed up?"))]
        for case in cases:
            row = await crag.answer(case, lambda pages: read_pages(pages, reader), engines.for_documents)
            _tell(f"{row.score:+d} {row.total_s:.1f} s, {row.unread} unread: {case.question} -> {row.said[:160]}")
            answered.append(row)
    return answered


def open_stock(data_set: DataSet, engine: "Engine", settings: Settings) -> "StockRecipe":
    """Open the stock recipe over the texts of the engine's corpus, and build it if need be; close it after use."""
    from bench.baseline.llamaindex import StockRecipe  # noqa: PLC0415  # imports torch, which answers are measured without

    stored = engine.corpus.documents
    documents = [document for doc_id in stored.versions() if (document := stored.get(doc_id))]
    _tell(f"{data_set.name}: opening the stock recipe over {len(documents)} documents")
    folder = settings.bench.dir / data_set.name / STOCK
    return StockRecipe(documents, folder, load_embedding_model(STOCK_MODEL).folder)


def our_retrieval(engine: "Engine", settings: Settings, *, merge: bool) -> Retrieve:
    """Return our retrieval within the largest budget that is scored."""
    from query_engine.inquiry import Inquiry  # noqa: PLC0415

    options = settings.retrieval.model_copy(update={"budget_chars": max(BUDGETS_CHARS), "merge": merge})
    return lambda question: engine.retrieve(Inquiry(question), options).passages


def open_systems(data_set: DataSet, settings: Settings, *, ours_only: bool) -> "Iterator[System]":
    """Yield our engine, then the baselines unless `ours_only`, over one corpus; each is closed when the next one opens.

    The baselines search by another engine: one that knows the questions' vectors already would answer too fast.

    Raises:
        RagError: from ingestion or the engine.
    """
    from bench.quality.helpful import systems  # noqa: PLC0415
    from query_engine.inquiry import Inquiry  # noqa: PLC0415

    with open_engine(data_set, settings) as engine:
        yield systems.ours(engine, stored_text(engine))
    if ours_only:
        return
    leaves_only = settings.retrieval.model_copy(update={"merge": False})
    with open_engine(data_set, settings) as engine:
        text_of = stored_text(engine)
        yield systems.first_leaf(lambda question: engine.retrieve(Inquiry(question), leaves_only).passages, text_of)
        with closing(open_stock(data_set, engine, settings)) as stock:
            yield systems.stock(stock.retrieve, text_of)


def open_web_systems(data_set: DataSet, settings: Settings, pages: int) -> "Iterator[System]":
    """Yield our engine over the ingested corpus, then over what a local search service finds in its documents.

    The service finds whole documents by their words, as ClueWeb22's would, and speaks its protocol.

    Args:
        data_set: the corpus.
        settings: of our engine.
        pages: that the service is asked for.

    Raises:
        RagError: ingestion or the engine failed.
    """
    from bench.quality.helpful import systems  # noqa: PLC0415
    from bench.web.search_service import SearchService, doc_id_of  # noqa: PLC0415
    from query_engine.build import Engines  # noqa: PLC0415
    from sources.build import build_source_engine  # noqa: PLC0415

    with open_engine(data_set, settings) as engine:
        text_of = stored_text(engine)
        yield systems.ours(engine, text_of)
        stored = engine.corpus.documents
        documents = [document for doc_id in stored.versions() if (document := stored.get(doc_id))]
        with SearchService(documents, key=LOCAL_KEY) as service:
            asked = {"clueweb_url": service.url, "clueweb_key": SecretStr(LOCAL_KEY), "k": pages}
            settings = settings.model_copy(
                update={
                    "answer": settings.answer.model_copy(update={"sources": "clueweb"}),
                    "sources": settings.sources.model_copy(update=asked),
                }
            )
            with closing(Engines(settings)) as engines:
                from_sources = build_source_engine(engines, settings)
                assert from_sources is not None, "a source is set"
                yield systems.web(from_sources, text_of, doc_id_of)


@contextmanager
def open_modes(data_set: DataSet, settings: Settings) -> Iterator[list["System"]]:
    """Open our engine as two systems: asked in a single pass, and by the research loop."""
    from bench.quality.helpful import systems  # noqa: PLC0415

    with open_engine(data_set, settings) as engine:
        text_of = stored_text(engine)
        modes: tuple[Mode, Mode] = ("single", "agent")
        yield [systems.by_mode(engine, mode, settings, text_of) for mode in modes]


async def measure_rounds(data_set: DataSet, settings: Settings, questions: Sequence[str]) -> "Overhead":
    """Search in rounds for each question, with a model that replies at once, and take off the time of the searches.

    The first question loads what a first question loads, and is not counted.
    """
    from bench.quality.research import Overhead, ReplyingModel  # noqa: PLC0415
    from query_engine.inquiry import Inquiry  # noqa: PLC0415
    from query_engine.llms.base import LoadedModel  # noqa: PLC0415
    from query_engine.llms.helper import PromptHelper  # noqa: PLC0415
    from research.loop import Research  # noqa: PLC0415
    from research.modes import tools_of  # noqa: PLC0415

    model = LoadedModel(ReplyingModel(), "replying", settings.llm.context_tokens, lambda text: len(text) // 4)
    helper = PromptHelper(model, settings.llm.max_new_tokens)
    done: list[Research] = []
    with open_engine(data_set, settings) as engine:
        for question in questions:
            inquiry = Inquiry(question)
            tools = replace(tools_of(engine, inquiry, settings), helper=helper)

            def gather(text: str, context: "SearchContext", tools: "Tools" = tools) -> Research:
                done.append(Research(text, context, tools))
                return done[-1]

            [event async for event in engine.stream(inquiry, gather)]
    spent_ms = [
        (one.retrieval.timings_ms["retrieve"] - sum(each.timings_ms["search"] for each in one.rounds)) / len(one.rounds)
        for one in done[1:]
    ]
    return Overhead(tuple(spent_ms), sum(len(one.rounds) for one in done[1:]))


def stored_text(engine: "Engine") -> Callable[[str], str | None]:
    """Return a function from doc_id to the stored text, None if there is no such document."""

    def text_of(doc_id: str) -> str | None:
        document = engine.corpus.documents.get(doc_id)
        return document.text if document else None

    return text_of


def measure_ingestion(data_set: DataSet, settings: Settings, *, documents: int, repeats: int, scale: int) -> Measured:
    """Ingest the data set's first documents by the stock recipe and by ours; `scale` times as many by ours, if not 0.

    Raises:
        RagError: the corpus holds no document, or a program failed.
    """
    with tempfile.TemporaryDirectory(prefix="ingest-", dir=_made(settings.bench.dir)) as folder:
        scratch = Path(folder).resolve()
        with Reader(settings.ingest) as reader:
            texts = list(islice(read_texts(list_files(data_set.corpus), reader), documents * max(scale, 1)))
        workload = write_workload(texts, scratch / "documents", min(documents, len(texts)))
        measured = Measured(data_set.name, Ours(workload))
        if scale:
            larger = write_workload(texts, scratch / "more", workload.documents * scale)
            measured.scale, measured.scaled = scale, Ours(larger)
        for made in (measured.ours.workload, *([measured.scaled.workload] if measured.scaled else [])):
            _tell(
                f"{data_set.name}: {made.documents} documents of {made.text_mb:.1f} MB, {made.prepared} made into text "
                f"beforehand, {made.repeated} repeated with their words shuffled"
            )
        commands = Commands(read_cases(data_set.questions)[0].question, load_embedding_model(STOCK_MODEL).folder)
        _tell(f"{data_set.name}: warming up on one document, untimed")
        warm_up(commands, write_workload(texts, scratch / "one", 1).folder, scratch)
        return measure(measured, commands, scratch, repeats, _tell)


def measure_hostile_files(settings: Settings, size_mb: int) -> list[hostile.Hostile]:
    """Ingest hostile files through a running service, one service a file.

    Raises:
        ProgramFailedError: the service did not start.
    """
    with tempfile.TemporaryDirectory(prefix="hostile-", dir=_made(settings.bench.dir)) as folder:
        scratch = Path(folder).resolve()
        files, index = _made(scratch / "files"), _made(scratch / "index")
        return hostile.measure(files, index, size_mb, {"RAG_LLM__PROVIDER": "extractive"}, _tell)


def measure_page(settings: Settings, repeats: int) -> "PageMeasured":
    """Serve the sample corpus beside a long document, and open the page `repeats` times.

    The index is kept below `RAG_BENCH__DIR`, so that only the first measurement embeds.

    Raises:
        BrowserMissingError: Playwright or Chromium is not installed.
        RagError: from ingestion, or the service did not start.
    """
    from bench.speed import page, page_workload, scripted_model  # noqa: PLC0415
    from ingestion.build import ingest  # noqa: PLC0415

    page.require_browser()
    folder = _made(settings.bench.dir / "page").resolve()
    (_made(folder / "documents") / LONG_DOCUMENT).write_text(page_workload.long_document(), encoding="utf-8")
    index = settings.index.model_copy(update={"dir": folder / "index", "corpus": CORPUS})
    settings = settings.model_copy(update={"index": index})
    for source in (SAMPLE / "corpus", folder / "documents"):
        _tell(f"page: bringing {source} up to date")
        ingest(source, settings, corpus=CORPUS)
    with scripted_model.scripted_model(page_workload.long_answer(PAGE_ANSWER_WORDS), PAGE_WORDS_PER_S) as model_url:
        variables = {
            "RAG_INDEX__DIR": str(index.dir),
            "RAG_INDEX__CORPUS": CORPUS,
            "RAG_SERVE__PORT": "0",
            "RAG_LLM__PROVIDER": "openai",
            "RAG_LLM__MODEL": scripted_model.NAME,
            "RAG_LLM__BASE_URL": model_url,
            "RAG_LLM__GROUNDING": "false",
        }
        with serving([str(latency.MAIN)], variables) as url:
            return page.measure(url, LONG_DOCUMENT, repeats, _tell)


def measure_grounding(data_set: DataSet, settings: Settings, count: int, seed: int) -> "list[Fate]":
    """Plant sentences made from the data set's texts, `count` of each sort, and see which the synthesizer shows."""
    from bench.quality.grounding import judge  # noqa: PLC0415
    from bench.quality.planted_claims import plant  # noqa: PLC0415
    from index.build import Embedding  # noqa: PLC0415

    _tell(f"{data_set.name}: reading {data_set.corpus}")
    with Reader(settings.ingest) as reader:
        texts = [
            text.data.decode(errors="replace") for text in islice(read_texts(list_files(data_set.corpus), reader), 60)
        ]
    return judge(plant(texts, read_cases(data_set.questions), count, seed), Embedding(settings).embedder)


def measure_scoring(data_set: DataSet, settings: Settings, rows: int) -> "Scoring":
    """Make a run of that many rows out of the data set's texts, and score it without a language model.

    Raises:
        NoDataSetError: none of its texts has six sentences.
    """
    from bench.speed.scoring import make_run, measure  # noqa: PLC0415
    from eval.scoring.build import offline_scorers  # noqa: PLC0415

    _tell(f"{data_set.name}: making {rows} rows of {data_set.corpus}")
    with Reader(settings.ingest) as reader, tempfile.TemporaryDirectory(dir=_made(settings.bench.dir)) as folder:
        texts = [text.data.decode(errors="replace") for text in read_texts(list_files(data_set.corpus), reader)]
        return measure(make_run(texts, rows, Path(folder) / "run"), offline_scorers(settings))


def measure_pipelines(settings: Settings, repeats: int) -> "list[StepOverhead]":
    """Run pipelines of steps that need no corpus and no model."""
    from bench.speed.pipelines import NoCorpora, measure  # noqa: PLC0415
    from pipelines.build import without_models  # noqa: PLC0415

    return measure(without_models(NoCorpora(), settings).services, repeats)


def measure_whole_pipeline(settings: Settings) -> "WholePipeline":
    """Run the first pipeline of the guide for each question of the sample; its tasks and cache are thrown away."""
    from bench.speed.whole_pipeline import measure  # noqa: PLC0415
    from pipelines.build import Pipelines, services_of  # noqa: PLC0415
    from pipelines.registry import all_steps  # noqa: PLC0415

    (sample,), _ = find_sets(None)
    index = settings.index.model_copy(update={"corpus": CORPUS})
    with (
        open_engines(sample, settings) as engines,
        tempfile.TemporaryDirectory(prefix="pipeline-", dir=_made(settings.bench.dir)) as folder,
    ):
        services = services_of(engines, settings.model_copy(update={"index": index}))
        pipelines = Pipelines(services, all_steps(None), Path(folder))
        with closing(pipelines):
            return measure(engines.get(), pipelines.tasks, [case.question for case in read_cases(sample.questions)])


def measure_reach(
    sets: Sequence[DataSet], settings: Settings, rows: int, seed: int
) -> "dict[str, tuple[float, list[Reach]]]":
    """Ingest each set, or a corpus of near-alike rows where there is none, and search for its leaves.

    Returns:
        Name -> seconds that the ingestion took, and what was found.
    """
    from bench.quality.reach import measure, write_crowded  # noqa: PLC0415
    from index.build import Embedding, open_corpus  # noqa: PLC0415
    from ingestion.build import ingest  # noqa: PLC0415

    measured = {}
    with tempfile.TemporaryDirectory(prefix="reach-", dir=_made(settings.bench.dir)) as folder:
        texts = {data_set.name: data_set.corpus for data_set in sets}
        if not texts:
            texts = {f"{rows:,} near-alike rows": Path(folder) / "crowded"}
            write_crowded(Path(folder) / "crowded", rows, seed)
        for place, (name, path) in enumerate(texts.items()):
            index = settings.index.model_copy(update={"dir": Path(folder) / f"index{place}"})
            own = settings.model_copy(update={"index": index})
            _tell(f"{name}: ingesting {path}")
            summary = ingest(path, own, corpus=CORPUS)
            with closing(open_corpus(CORPUS, own, Embedding(own).manifest)) as corpus:
                corpus.open_derived()
                _tell(f"{name}: searching for its leaves")
                measured[name] = (summary.duration_s, measure(corpus, seed))
    return measured


def measure_written(data_set: DataSet, settings: Settings, questions: int) -> str:
    """Have a real language model answer the first questions, and say how its sentences fared."""
    from bench.quality.grounding import write  # noqa: PLC0415
    from index.build import Embedding  # noqa: PLC0415
    from query_engine.llms.build import build_model  # noqa: PLC0415
    from query_engine.schema.citations import Checked  # noqa: PLC0415
    from query_engine.synthesis.build import build_synthesizer  # noqa: PLC0415

    if settings.llm.provider == "extractive":
        settings = settings.model_copy(update={"llm": settings.llm.model_copy(update={"provider": "openvino"})})
    model = build_model(settings)
    sums, lost = Checked(), 0
    from query_engine.inquiry import Inquiry  # noqa: PLC0415

    with open_engine(data_set, settings) as engine:
        synthesizer = build_synthesizer(settings, model, Embedding(settings).embedder)
        for case in read_cases(data_set.questions)[:questions]:
            checked = write(synthesizer, case.question, engine.retrieve(Inquiry(case.question)).passages)
            checked = checked or Checked()
            lost += checked == Checked()
            sums.supported += checked.supported
            sums.replaced += checked.replaced
            sums.dropped += checked.dropped
    total = sums.supported + sums.replaced + sums.dropped
    return (
        f"{model.label} wrote {total} sentences for {questions} questions: {sums.supported} supported, {sums.replaced} "
        f"replaced by a quote, {sums.dropped} left out; {lost} answers failed or were declined."
    )


def measure_latency(
    data_set: DataSet, settings: Settings, *, clients: int, rounds: int, scale: int
) -> latency.Measured:
    """Ask the stock recipe and ours in turn; ours over a corpus `scale` times as large as well, if not 0.

    Raises:
        RagError: an index cannot be built, or a program failed.
    """
    questions = [case.question for case in read_cases(data_set.questions)]
    stock = ["stock", str(settings.bench.dir / data_set.name / STOCK), str(load_embedding_model(STOCK_MODEL).folder)]
    measured = latency.Measured(data_set.name, {}, clients)
    with open_engine(data_set, settings) as engine:
        documents = engine.corpus.documents
        open_stock(data_set, engine, settings).close()
        measured.systems[STOCK] = latency.Times(documents.count())
        measured.systems[OURS] = latency.Times(documents.count(), documents.leaf_count())
        if scale:
            name = _larger(engine, settings, data_set.name, scale)
            sizes = scale * documents.count(), scale * documents.leaf_count()
            measured.systems[f"{OURS}, ×{scale}"] = latency.Times(*sizes)
    corpora = [CORPUS, *([name] if scale else [])]
    # Each question is asked several times, and shall be embedded each time.
    variables = [_service_variables(settings, data_set.name, corpus) | FORGETFUL for corpus in corpora]
    programs = [(stock, {}), *((["ours"], of_corpus) for of_corpus in variables)]
    with ExitStack() as stack:
        _tell(f"{data_set.name}: asking {len(questions)} questions in turn, {rounds} times after a warm-up")
        workers = [stack.enter_context(latency.working(*program)) for program in programs]
        latency.ask_in_turn(dict(zip(measured.systems, workers, strict=True)), measured.systems, questions, rounds)
    _tell(f"{data_set.name}: asking /retrieve by 1 and by {clients} clients, {rounds} times")
    measured.per_s = latency.measure_throughput(variables[0], questions, clients, rounds)
    return measured


def measure_answers_under_load(data_set: DataSet, settings: Settings, *, clients: int, rounds: int) -> load.Measured:
    """Ask our service the data set's questions, by one client and by several at once.

    Raises:
        RagError: the index cannot be built, or the service failed.
    """
    with open_engine(data_set, settings):
        questions = [case.question for case in read_cases(data_set.questions)]
    _tell(f"{data_set.name}: asking /run by 1 and by {clients} clients, {rounds} times, a new service each time")
    variables = _service_variables(settings, data_set.name, CORPUS)
    return load.measure_load(data_set.name, questions, clients, rounds, variables)


def _larger(engine: "Engine", settings: Settings, set_name: str, scale: int) -> str:
    """Make the larger corpus, unless it is there; return its name."""
    from bench.speed.scaled_corpus import repeat_corpus  # noqa: PLC0415
    from index.build import open_corpus  # noqa: PLC0415

    corpus, name = engine.corpus, f"{CORPUS}-x{scale}"
    index = settings.index.model_copy(update={"dir": settings.bench.dir / set_name})
    settings = settings.model_copy(update={"index": index})
    for _ in range(2):
        with closing(open_corpus(name, settings, corpus.manifest, create=True)) as larger:
            if larger.documents.count() == scale * corpus.documents.count():
                return name
            if not larger.documents.count():
                repeat_corpus(corpus, larger, scale, _tell)
                return name
        shutil.rmtree(index.dir / name)  # one that was left half-made, or is of other documents
    raise AssertionError("an empty corpus was filled")


def _service_variables(settings: Settings, set_name: str, corpus: str) -> dict[str, str]:
    return {
        "RAG_INDEX__DIR": str((settings.bench.dir / set_name).resolve()),
        "RAG_INDEX__CORPUS": corpus,
        "RAG_SERVE__PORT": "0",
        "RAG_LLM__PROVIDER": "extractive",
    }


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
