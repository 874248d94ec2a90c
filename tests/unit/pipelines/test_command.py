from pathlib import Path

import pytest

from errors import PipelineError, StepError
from pipelines.__main__ import main, run_plan
from pipelines.body import plain, read_plan
from pipelines.console import ConsoleWatcher
from pipelines.file import read_file
from tests.fakes.pipelines import a_registry, body_of, fake_services, scripted

YAML = """
pipeline:
  query: What turns blades?
  1: {id: fake_source}
  2: {id: tf_idf_reranker, parameters: {query: rain}}
  3:
    id: word_counter
"""


def test_steps_in_yaml_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(YAML)

    body = plain(read_file(tmp_path / "p.yaml"))

    assert list(body) == ["query", "1", "2", "3"]


def test_files_in_json_are_read(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text('{"1": {"id": "fake_source"}}')

    assert read_file(tmp_path / "p.json") == {"1": {"id": "fake_source"}}


@pytest.mark.parametrize("text", ["a: [", b"\xff\xfe\xfa"])
def test_what_is_no_file_of_a_pipeline_is_refused(tmp_path: Path, text: str | bytes) -> None:
    (tmp_path / "p.yaml").write_bytes(text.encode() if isinstance(text, str) else text)

    with pytest.raises(PipelineError, match="neither YAML nor JSON"):
        read_file(tmp_path / "p.yaml")
    with pytest.raises(PipelineError, match="cannot be read"):
        read_file(tmp_path / "none.yaml")


def test_the_table_is_shown_after_each_step(tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(YAML)
    services = fake_services(pipelines={"dir": str(tmp_path)})
    plan = read_plan(read_file(tmp_path / "p.yaml"), a_registry(), services, query="Rain?")
    lines: list[str] = []

    run_plan(plan, services, ConsoleWatcher(3, lines.append, rows=2))

    heads = [line.partition(", 0.")[0] for line in lines if line.startswith("## ")]
    assert heads == [
        "## 1/3 Texts: 3 documents",
        "## 2/3 TF-IDF-Reranker: 3 documents",
        "## 3/3 Word Counter: 3 documents",
    ]
    assert lines[-1] == (
        "| _original_ranking_ | _reranking_rank_1_ | wordCount |\n| --- | --- | --- |\n| 3 | 1 | 5 |\n| 1 | 2 | 3 |\n"
        "… and 1 more\n"
    )


def test_a_step_that_fails_ends_the_run(tmp_path: Path) -> None:
    def broken() -> None:
        raise ZeroDivisionError("by nought")

    services = fake_services(pipelines={"dir": str(tmp_path)})
    plan = read_plan(body_of("fake_source", "scripted"), a_registry(scripted(broken)), services)

    with pytest.raises(StepError, match=r"ZeroDivisionError in step 2 \(scripted\): by nought"):
        run_plan(plan, services, ConsoleWatcher(2, lambda _: None))


def test_the_steps_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--steps"]) == 0

    out = capsys.readouterr().out
    assert "tf_idf_reranker (Rerankers): " in out
    assert '    similarity_metric = "Cosine": How query and document are compared.' in out


def test_a_file_is_needed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([])

    assert "name a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "&a\n1: {id: corpus_datasource}\n2: *a\n",
        "&a\npipeline: *a\n",
        "1: {id: corpus_datasource, parameters: &p {filters: *p}}\n",
        "1: {id: metadata_filter, parameters: {value: 2020-01-01}}\n",
    ],
    ids=["a step", "the pipeline", "a parameter", "a date"],
)
def test_a_file_that_holds_itself_or_a_date_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.yaml").write_text(text)

    with pytest.raises(PipelineError, match="holds what JSON cannot"):
        read_file(tmp_path / "p.yaml")
