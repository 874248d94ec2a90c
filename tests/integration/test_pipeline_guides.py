"""`docs/pipelines.md`: its bodies and its step run as they stand, and give what is shown.

`PYTHONPATH=. python tests/integration/test_pipeline_guides.py FOLDER`, an empty folder, writes that into it.
"""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingestion.build import ingest
from pipelines.body import read_plan
from pipelines.build import services_of
from pipelines.file import read_file
from pipelines.registry import all_steps
from pipelines.running import Runner
from pipelines.services import Services
from pipelines.state import PipelineState
from query_engine.build import Engines
from settings import Settings, load_settings
from tests.fakes.pipelines import Noting
from tests.servers.mosaic import MosaicServer, sample

HOME = Path(__file__).parents[2]
GUIDE = HOME / "docs" / "pipelines.md"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Iterator[Services]:
    settings = settings_in(tmp_path_factory.mktemp("guides"), model_cache)
    with closing(sample_engines(settings)) as engines:
        yield services_of(engines, settings)


def test_there_are_four_bodies() -> None:
    assert len(blocks("json")) == 4


def test_the_body_with_a_foreign_source_runs(services: Services) -> None:
    with MosaicServer(sample()) as server:
        sources = services.settings.sources.model_copy(update={"mosaic_url": server.url})
        foreign = replace(services, settings=services.settings.model_copy(update={"sources": sources}))
        state = run(json.loads(blocks("json")[3]), foreign)

    assert state.values("id") == ["storm"]
    assert "wind turbine turn in the storm" in state.texts("lemmatized")[0].lower()


@pytest.mark.parametrize("number", range(3))
def test_a_body_finds_what_it_is_about(services: Services, number: int) -> None:
    state = run(json.loads(blocks("json")[number]), services)

    about = ("wind/", ("storage/", "electricity/", "water/"), "heat/")[number]
    assert 5 <= state.count <= 10
    assert any(doc_id.startswith(about) for doc_id in state.values("doc_id"))
    assert [snapshot.warnings for snapshot in state.history if snapshot.warnings] == []


def test_the_best_ranking_of_the_first_body_holds_the_answer(services: Services) -> None:
    state = run(json.loads(blocks("json")[0]), services)

    assert "at best 16/27" in state.texts("full-text")[0]
    assert state.values("_reranking_rank_1_") == [1, 2, 3, 4, 5]


def test_the_summary_is_the_one_that_is_shown(services: Services) -> None:
    assert blocks("text")[0] == f"{summary(services)}\n"


@pytest.mark.promise("D23")
def test_the_step_gives_what_is_shown(services: Services, tmp_path: Path) -> None:
    assert blocks("text")[1] == f"{years(services, tmp_path)}\n"


def test_the_step_has_thirty_lines_at_most() -> None:
    assert len(blocks("python")[0].splitlines()) <= 30


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)


def settings_in(folder: Path, models: Path) -> Settings:
    environ = {
        "RAG_INDEX__DIR": str(folder / "index"),
        "RAG_PIPELINES__DIR": str(folder / "pipelines"),
        "RAG_EMBED__CACHE_DIR": str(models),
    }
    return load_settings(environ, None)


def sample_engines(settings: Settings) -> Engines:
    ingest(HOME / "data" / "corpus", settings, corpus="default")
    return Engines(settings)


def run(body: Any, services: Services, steps: Path | None = None) -> PipelineState:
    plan = read_plan(body, all_steps(steps), services)
    return Runner(services, None).run(plan, Noting(), threading.Event())


def summary(services: Services) -> str:
    """Return the summary that the third body gives."""
    state = run(json.loads(blocks("json")[2]), services)
    return str(state.aggregated[0]["data"])


def years(services: Services, folder: Path) -> str:
    """Return the column that the guide's own step adds."""
    (folder / "years.py").write_text(blocks("python")[0])
    (folder / "years.yaml").write_text(blocks("yaml")[0])
    return "\n".join(run(read_file(folder / "years.yaml"), services, folder).texts("years"))


if __name__ == "__main__":
    place = Path(sys.argv[1])
    with closing(sample_engines(settings_in(place, HOME / "var" / "models"))) as opened:
        found = services_of(opened, settings_in(place, HOME / "var" / "models"))
        for old, new in zip(blocks("text"), (summary(found), years(found, place)), strict=True):
            GUIDE.write_text(GUIDE.read_text().replace(old, f"{new}\n"))
