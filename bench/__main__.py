"""`python -m bench MEASUREMENT`: measurements on data sets, beside the stock LlamaIndex recipe.

stdout holds one Markdown table, stderr the progress; the figures behind the table go to a JSON file below
`RAG_BENCH__DIR`. Exit codes: 0 done, 1 a foreseen failure, 2 usage, 130 stopped.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.arguments import choose_sets, parse, set_names
from bench.build import (
    answer_over_pages,
    measure_answers_under_load,
    measure_hostile_files,
    measure_ingestion,
    measure_latency,
    measure_rounds,
    open_engine,
    open_modes,
    open_stock,
    open_systems,
    open_web_systems,
    our_retrieval,
    stored_text,
)
from bench.datasets import SAMPLE, DataSet, NoDataSetError, find_sets
from bench.machine import describe, machine
from bench.quality import compare, retrieval
from bench.quality.retrieval import OURS, STOCK
from bench.speed import hostile_table, ingest_table, latency_table, load_table
from errors import run_command
from eval.cases import Case, read_cases
from eval.questions.reading import read_questions
from settings import VERSION, Settings, load_settings

if TYPE_CHECKING:
    from bench.quality.helpful.asking import Answered, System

_OURS = {True: OURS, False: f"{OURS}, leaves only"}


def main(argv: Sequence[str] | None = None, prog: str = "python -m bench") -> int:
    """Parse `argv`, run one measurement, translate its errors."""
    arguments = parse(argv, prog)
    measures = {
        "retrieval": _retrieval,
        "answers": _answers,
        "helpful": _helpful,
        "web": _web,
        "research": _research,
        "research-route": _research_route,
        "crag": _crag,
        "ingest": _ingest,
        "hostile": _hostile,
        "http-embedding": _http_embedding,
        "latency": _latency,
        "load": _load,
        "compare": _compare,
        "grounding": _grounding,
        "reach": _reach,
        "scoring": _scoring,
        "page": _page,
        "pipelines": _pipelines,
        "model": _model,
        "pdf-tables": _pdf_tables,
    }
    return run_command(lambda: measures[arguments.command](arguments, load_settings()))


def _retrieval(arguments: argparse.Namespace, settings: Settings) -> int:
    merge = [True, False] if arguments.merge is None else [arguments.merge]
    comparisons = []
    for data_set in choose_sets(arguments, settings):
        cases = _cases(data_set, arguments.limit)
        with open_engine(data_set, settings) as engine:
            ours = {_OURS[merged]: our_retrieval(engine, settings, merge=merged) for merged in merge}
            if arguments.ours_only:
                comparisons.append(retrieval.compare(data_set.name, cases, ours))
                continue
            with closing(open_stock(data_set, engine, settings)) as stock:
                comparisons.append(retrieval.compare(data_set.name, cases, {STOCK: stock.retrieve, **ours}))
    print(retrieval.table(comparisons))
    _keep("retrieval", {comparison.name: comparison.to_dict() for comparison in comparisons}, settings)
    return 0


def _answers(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.quality import answers, answers_table  # noqa: PLC0415  # for the reason that `build.py` gives
    from eval.similarity import Similarity  # noqa: PLC0415  # likewise
    from eval.vectors import Vectors  # noqa: PLC0415  # likewise
    from index.build import Embedding  # noqa: PLC0415

    chosen = choose_sets(arguments, settings)
    cases = {data_set.name: _cases(data_set, arguments.limit) for data_set in chosen}
    embedding = Embedding(settings)
    similarity = Similarity(Vectors(lambda: embedding.embedder))
    answered: dict[str, list[answers.Answered]] = {}
    for data_set in chosen:
        asked = list(answers.questions_for(data_set.name, cases))
        with open_engine(data_set, settings) as engine:
            answered[data_set.name] = asyncio.run(answers.answer_all(asked, engine, stored_text(engine), similarity))
    print(answers_table.quality_table(answered), end="\n\n")
    print(answers_table.silence_table(answered))
    _keep("answers", {name: [row.to_dict() for row in rows] for name, rows in answered.items()}, settings)
    return 0


def _helpful(arguments: argparse.Namespace, settings: Settings) -> int:
    systems_over = partial(open_systems, settings=settings, ours_only=arguments.ours_only)
    return _ask_naturally("helpful", arguments, settings, systems_over)


def _web(arguments: argparse.Namespace, settings: Settings) -> int:
    systems_over = partial(open_web_systems, settings=settings, pages=arguments.pages)
    return _ask_naturally("web", arguments, settings, systems_over)


def _ask_naturally(
    measurement: str,
    arguments: argparse.Namespace,
    settings: Settings,
    systems_over: "Callable[[DataSet], Iterator[System]]",
) -> int:
    """Ask the natural questions of the sets; keep the figures under the measurement's name."""
    from bench.quality.helpful import asking, sets, table  # noqa: PLC0415  # for the reason that `build.py` gives

    data = arguments.data or settings.bench.data or Path()
    names, absent = sets.choose(data, set_names(arguments))
    for name in absent:
        print(f"{name}: skipped, it is not in {data}", file=sys.stderr)
    corpora, lacking = sets.read_asked(data, names, arguments.limit, arguments.half)
    for lacked, ids in lacking.items():
        print(f"{lacked}: {len(ids)} questions skipped, {data / lacked} holds no corpus", file=sys.stderr)
    answered: dict[str, dict[str, list[asking.Answered]]] = {}
    for corpus in corpora:
        for system in systems_over(corpus.data_set):
            for name, cases in corpus.cases.items():
                rows = asyncio.run(asking.ask_all(cases, system, corpus.score))
                answered.setdefault(name, {}).setdefault(system.name, []).extend(rows)
    for name, systems in answered.items():
        print(f"{name}\n\n{table.table(systems, sets.MEASURES[name])}\n")
    print(f"{describe(machine())}.")
    figures = {
        name: {system: table.figures(rows, sets.MEASURES[name]) for system, rows in systems.items()}
        for name, systems in answered.items()
    }
    _keep(measurement, figures, settings)
    for name, systems in answered.items():
        for label, rows in systems.items():
            _keep_rows(settings.bench.dir / measurement / name / f"{label.replace(' ', '_')}.jsonl", rows)
    return 0


def _research(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.quality import research  # noqa: PLC0415  # for the reason that `build.py` gives
    from bench.quality.helpful import asking, sets  # noqa: PLC0415  # likewise

    data = arguments.data or settings.bench.data or Path()
    names, _ = sets.choose(data, set_names(arguments))
    wanted = [name.strip() for name in arguments.corpora.split(",")]
    corpora = [one for one in sets.read_asked(data, names, arguments.limit)[0] if one.data_set.name in wanted]
    if not corpora:
        raise NoDataSetError(f"No question of {', '.join(names)} is about {arguments.corpora}.", "Name other corpora.")
    single: list[asking.Answered] = []
    agent: list[asking.Answered] = []
    for corpus in corpora:
        with open_modes(corpus.data_set, settings) as modes:
            for cases in corpus.cases.values():
                rows = asyncio.run(asking.ask_in_turn(cases, modes, corpus.score))
                single, agent = single + rows[0], agent + rows[1]
    print(f"{research.table(single, agent)}\n")
    questions = [case.question for cases in corpora[0].cases.values() for _, case in cases]
    overhead = asyncio.run(measure_rounds(corpora[0].data_set, settings, questions[: research.QUESTIONS]))
    print(f"{overhead.line()}\n\n{describe(machine())}.")
    figures = {"single": research.figures(single), "agent": research.figures(agent), "overhead": asdict(overhead)}
    _keep("research", figures, settings)
    for name, kept in (("single", single), ("agent", agent)):
        _keep_rows(settings.bench.dir / "research" / f"{name}.jsonl", kept)
    return 0


def _research_route(_arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.speed import research_route  # noqa: PLC0415  # for the reason that `build.py` gives

    [sample], _ = find_sets(None, [])
    with open_engine(sample, settings) as engine:
        measured = asyncio.run(research_route.measure(engine, settings))
    print(f"{research_route.table(measured)} {describe(machine())}.")
    _keep("research-route", {"topics": [one.to_dict() for one in measured]}, settings)
    return 0


def _crag(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.quality import crag  # noqa: PLC0415  # for the reason that `build.py` gives

    path = crag.find_file(arguments.data or settings.bench.data or Path())
    cases = read_questions(path, format_name="crag", limit=arguments.limit)
    rows = asyncio.run(answer_over_pages(cases, settings))
    print(crag.table(rows))
    print(f"\n{describe(machine())}.")
    _keep("crag", {path.name: [row.to_dict() for row in rows]}, settings)
    return 0


def _ingest(arguments: argparse.Namespace, settings: Settings) -> int:
    sizes = {"documents": arguments.documents, "repeats": arguments.repeats, "scale": arguments.scale}
    measured = [measure_ingestion(data_set, settings, **sizes) for data_set in choose_sets(arguments, settings)]
    print(ingest_table.table(measured))
    print(f"\nMedian (smallest–largest) of {arguments.repeats} runs in turn. {describe(machine())}.")
    _keep("ingest", {one.name: one.to_dict() for one in measured}, settings)
    return 0


def _hostile(arguments: argparse.Namespace, settings: Settings) -> int:
    found = measure_hostile_files(settings, arguments.size_mb)
    print(hostile_table.table(found))
    print(f"\nEach file through its own service. {describe(machine())}.")
    _keep("hostile", {"hostile": [one.to_dict() for one in found]}, settings)
    return 0


def _http_embedding(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.speed import http_embedding  # noqa: PLC0415  # for the reason that `build.py` gives

    texts = [path.read_text(encoding="utf-8") for path in sorted((SAMPLE / "corpus").rglob("*.md"))]
    measured = http_embedding.measure(texts, settings, arguments.texts, arguments.repeats)
    print(http_embedding.table(measured))
    embed = settings.embed
    print(
        f"\nMedian (smallest–largest) of {arguments.repeats} runs in turn; {embed.concurrency} requests of up to "
        f"{embed.batch_texts} texts at once. {describe(machine())}."
    )
    _keep("http-embedding", {one.name: one.to_dict() for one in measured}, settings)
    return 0


def _latency(arguments: argparse.Namespace, settings: Settings) -> int:
    sizes = {"clients": arguments.clients, "rounds": arguments.rounds, "scale": arguments.scale}
    measured = [measure_latency(data_set, settings, **sizes) for data_set in choose_sets(arguments, settings)]
    print(latency_table.table(measured))
    print(f"\nEach question {arguments.rounds} times, the systems in turn. {describe(machine())}.")
    _keep("latency", {one.name: one.to_dict() for one in measured}, settings)
    return 0


def _load(arguments: argparse.Namespace, settings: Settings) -> int:
    sizes = {"clients": arguments.clients, "rounds": arguments.rounds}
    measured = [
        measure_answers_under_load(data_set, settings, **sizes) for data_set in choose_sets(arguments, settings)
    ]
    print(load_table.table(measured, arguments.clients))
    print(f"\nEach question once a round, {arguments.rounds} rounds. {describe(machine())}.")
    _keep("load", {one.name: one.to_dict() for one in measured}, settings)
    return 0


def _grounding(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.build import measure_grounding, measure_written  # noqa: PLC0415  # likewise
    from bench.quality import grounding  # noqa: PLC0415  # for the reason that `build.py` gives

    sets = choose_sets(arguments, settings)
    counts = [arguments.count // len(sets) + (place < arguments.count % len(sets)) for place in range(len(sets))]
    fates = {
        one.name: measure_grounding(one, settings, count, arguments.seed)
        for one, count in zip(sets, counts, strict=True)
    }
    print(grounding.table(fates))
    for data_set in sets if arguments.ask else ():
        print(f"\n{data_set.name}: {measure_written(data_set, settings, arguments.ask)}")
    _keep("grounding", {name: [fate.to_dict() for fate in rows] for name, rows in fates.items()}, settings)
    return 0


def _reach(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.build import measure_reach  # noqa: PLC0415  # for the reason that `build.py` gives
    from bench.quality import reach  # noqa: PLC0415  # likewise

    sets = choose_sets(arguments, settings) if arguments.data else []
    measured = measure_reach(sets, settings, arguments.rows, arguments.seed)
    print(reach.table(measured))
    print(f"\nFirst {reach.FIRST} of each leaf's own search. {describe(machine())}.")
    _keep("reach", {name: [one.to_dict() for one in found] for name, (_, found) in measured.items()}, settings)
    return 0


def _scoring(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.build import measure_scoring  # noqa: PLC0415  # likewise
    from bench.speed import scoring  # noqa: PLC0415  # for the reason that `build.py` gives

    measured = {one.name: measure_scoring(one, settings, arguments.rows) for one in choose_sets(arguments, settings)}
    for name, figures in measured.items():
        print(f"{name}: {figures.rows} rows, {figures.words / figures.rows:.0f} words an answer\n")
        print(scoring.table(figures), end="\n\n")
    print(f"{describe(machine())}.")
    _keep("scoring", {name: asdict(one) for name, one in measured.items()}, settings)
    return 0


def _page(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.build import measure_page  # noqa: PLC0415  # for the reason that `build.py` gives
    from bench.speed import page_table  # noqa: PLC0415  # likewise

    measured = measure_page(settings, arguments.repeats)
    print(page_table.table(measured))
    print(f"\nMedian (smallest–largest) of {arguments.repeats} loads. {describe(machine())}.")
    _keep("page", {"page": measured.to_dict()}, settings)
    return 0


def _pipelines(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.build import measure_pipelines, measure_whole_pipeline  # noqa: PLC0415  # for `build.py`'s reason
    from bench.speed import pipelines, whole_pipeline  # noqa: PLC0415  # likewise

    measured = measure_pipelines(settings, arguments.repeats)
    print(pipelines.table(measured), end="\n\n")
    whole = measure_whole_pipeline(settings)
    print(whole_pipeline.table(whole))
    print(f"\n{describe(machine())}.")
    _keep("pipelines", {**{str(one.rows): asdict(one) for one in measured}, "whole": asdict(whole)}, settings)
    return 0


def _model(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.speed.llm import measure_model, table  # noqa: PLC0415  # for the reason that `build.py` gives
    from query_engine.llms.build import build_model  # noqa: PLC0415  # likewise

    model = build_model(settings)
    texts = [path.read_text(encoding="utf-8") for path in sorted((SAMPLE / "corpus").rglob("*.md"))]
    written = measure_model(model, texts, arguments.tokens, arguments.repeats)
    print(table(model, written))
    print(f"\n{describe(machine())}.")
    _keep("model", {model.label: [one.to_dict() for one in written]}, settings)
    return 0


def _pdf_tables(arguments: argparse.Namespace, settings: Settings) -> int:
    from bench.quality.pdf_tables import measure  # noqa: PLC0415  # for the reason that `build.py` gives

    measured = measure.measure(arguments.data or settings.bench.data or Path())
    print(measure.table(measured))
    _keep("pdf-tables", {f"{one.group}: {one.name}": asdict(one.score) for one in measured}, settings)
    return 0


def _compare(arguments: argparse.Namespace, _settings: Settings) -> int:
    before, after = compare.read_figures(arguments.before), compare.read_figures(arguments.after)
    cells = compare.cells_of(before, after)
    for line in compare.changed_settings(before, after) or ["no setting differs"]:
        print(line, file=sys.stderr)
    for name in sorted(before["sets"].keys() ^ after["sets"].keys()):
        print(f"{name}: skipped, only one of the files holds it", file=sys.stderr)
    print(compare.table(cells))
    return 0


def _cases(data_set: DataSet, limit: int | None) -> tuple[Case, ...]:
    return read_cases(data_set.questions)[:limit]


def _keep_rows(path: Path, rows: Sequence["Answered"]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    in_order = sorted(rows, key=lambda row: row.place)
    path.write_text("".join(f"{json.dumps(row.to_dict(), ensure_ascii=False)}\n" for row in in_order))
    print(f"answers: {path}", file=sys.stderr)


def _keep(name: str, sets: dict[str, Any], settings: Settings) -> None:
    figures = {
        "version": VERSION,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "settings": settings.model_dump(
            mode="json", include={"chunk", "embed", "ingest", "retrieval", "llm", "answer"}
        ),
        "sets": sets,
    }
    path = settings.bench.dir / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(figures, indent=1))
    print(f"figures: {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
