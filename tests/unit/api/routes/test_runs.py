"""`/runs`: what is listed, what is served, and that no file leads the reader elsewhere or breaks the list."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.fakes.engines import FakeEngine
from tests.fakes.http import client_of

HEADER = {
    "started": "2026-05-01T10:00:00+00:00",
    "questions": "q.jsonl",
    "questions_sha256": "ab",
    "target": "in process",
    "corpus": "papers",
}
RESULTS: dict[str, Any] = {
    "metrics": {"mrr": {"family": "retrieval", "better": "higher", "about": "1 / rank."}},
    "main_metrics": ["mrr", "gone"],
    "aggregate": {"answerable": {"mrr": {"mean": 0.75, "n": 4, "of": 5}}, "unanswerable": {}},
    "questions": [{"id": "q1"}],
}


def written(folder: Path, name: str, header: Any = HEADER, results: Any = RESULTS, report: str = "<p>ok") -> Path:
    run = folder / name
    run.mkdir(parents=True)
    (run / "run.json").write_text(header if isinstance(header, str) else json.dumps(header))
    (run / "cases.jsonl").write_text("{}\n{}\n")
    if results is not None:
        (run / "eval_results.json").write_text(results if isinstance(results, str) else json.dumps(results))
        (run / "report.html").write_text(report)
    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "runs"
    found.mkdir()
    return found


@pytest.fixture
def client(folder: Path) -> TestClient:
    return client_of(FakeEngine(), serve={"runs": folder})


def listed(client: TestClient) -> dict[str, Any]:
    return {run["name"]: run for run in client.get("/runs").json()["runs"]}


def test_without_the_setting_nothing_is_shown_and_the_reply_names_it() -> None:
    client = client_of(FakeEngine())

    for path in ("/runs", "/runs/a/report"):
        reply = client.get(path)
        assert reply.status_code == 404
        assert "RAG_SERVE__RUNS" in reply.json()["error"]["detail"]
    assert client.get("/ui/config").json()["runs"] is False


def test_runs_are_listed_newest_first_with_the_figures_of_their_reports(client: TestClient, folder: Path) -> None:
    written(folder, "old", {**HEADER, "started": "2026-04-01T10:00:00+00:00"}, results=None)
    written(folder, "new")
    (folder / "no run").mkdir()
    (folder / "a file").write_text("x")

    shown = client.get("/runs").json()

    assert [run["name"] for run in shown["runs"]] == ["new", "old"]
    new, old = shown["runs"]
    assert (new["corpus"], new["asked"], new["has_report"], new["stale"]) == ("papers", 2, True, False)
    assert new["means"] == {"mrr": {"mean": 0.75, "n": 4, "of": 5}}
    assert new["main_metrics"] == ["mrr"]
    assert (old["has_report"], old["means"], old["problem"]) == (False, {}, None)
    assert shown["metrics"]["mrr"] == {"family": "retrieval", "better": "higher", "about": "1 / rank."}
    assert client.get("/ui/config").json()["runs"] is True


def test_a_run_scored_after_its_report_says_so(client: TestClient, folder: Path) -> None:
    run = written(folder, "a")
    (run / "scores.jsonl").write_text("{}\n")
    later_ns = (run / "eval_results.json").stat().st_mtime_ns + 1_000_000_000
    os.utime(run / "scores.jsonl", ns=(later_ns, later_ns))

    assert listed(client)["a"]["stale"] is True


def test_a_changed_report_is_read_again(client: TestClient, folder: Path) -> None:
    run = written(folder, "a")
    assert listed(client)["a"]["means"]["mrr"]["n"] == 4
    (run / "eval_results.json").write_text(json.dumps(RESULTS).replace('"n": 4', '"n": 15'))

    assert listed(client)["a"]["means"]["mrr"]["n"] == 15


@pytest.mark.parametrize(
    ("header", "results", "problem"),
    [
        ("{", RESULTS, "run.json is not what an evaluation writes"),
        ("[" * 100_000, RESULTS, "run.json is not what an evaluation writes"),
        ({**HEADER, "started": {"a": 1}}, RESULTS, "started: Input should be a valid string"),
        ({**HEADER, "corpus": "x" * 5000}, RESULTS, "corpus: String should have at most 200 characters"),
        (" " * 1_000_001, RESULTS, "at most 1,000,000 are read"),
        (HEADER, "[]", "eval_results.json is not what an evaluation writes"),
        (HEADER, "\xff", "eval_results.json is not what an evaluation writes"),
        (
            HEADER,
            '{"metrics": {}, "aggregate": {"answerable": {"a": {"mean": NaN, "n": 1, "of": 1}}}}',
            "finite number",
        ),
        (
            HEADER,
            '{"metrics": {}, "aggregate": {"answerable": {"a": {"mean": 1, "n": 1' + "0" * 9999 + "}}}}",
            "not what",
        ),
        (HEADER, {**RESULTS, "metrics": dict.fromkeys(map(str, range(501)), RESULTS["metrics"]["mrr"])}, "at most 500"),
    ],
    ids=["torn", "deep", "kind", "long", "huge", "list", "encoding", "nan", "digits", "many"],
)
def test_a_hostile_file_is_the_problem_of_its_run_alone(
    client: TestClient, folder: Path, header: Any, results: Any, problem: str
) -> None:
    written(folder, "good")
    written(folder, "bad", header, results)

    runs = listed(client)

    assert runs["good"]["problem"] is None
    assert problem in runs["bad"]["problem"]
    assert len(runs["bad"]["problem"]) < 300


def test_a_huge_results_file_is_not_read(client: TestClient, folder: Path) -> None:
    run = written(folder, "a")
    os.truncate(run / "eval_results.json", 64_000_001)
    os.truncate(run / "report.html", 64_000_001)

    assert "64,000,001 bytes" in listed(client)["a"]["problem"]
    assert "64,000,001 bytes" in client.get("/runs/a/report").json()["error"]["detail"]


def test_names_are_told_as_they_are(client: TestClient, folder: Path) -> None:
    written(folder, "<img src=x onerror=alert(1)>")
    os.mkdir(os.fsencode(folder) + b"/\xff\xfe")
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe")) / "run.json").write_text("{}")

    runs = listed(client)

    assert runs["<img src=x onerror=alert(1)>"]["problem"] is None
    assert runs["\ufffd\ufffd"]["problem"] == "The folder's name is not UTF-8."
    assert client.get("/runs/%3Cimg%20src=x%20onerror=alert(1)%3E/report").text == "<p>ok"


@pytest.mark.fault("E13")
def test_a_report_may_run_its_scripts_and_nothing_else(client: TestClient, folder: Path) -> None:
    written(folder, "a", report="<script>1</script>")

    reply = client.get("/runs/a/report")

    policy = reply.headers["content-security-policy"]
    assert reply.text == "<script>1</script>"
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert policy.startswith("sandbox allow-scripts; default-src 'none';")
    assert "same-origin" not in policy
    assert "connect-src" not in policy


@pytest.mark.fault("E13")
@pytest.mark.parametrize(
    "name",
    ["..", "%2e%2e", "..%2fsecret", "%2e%2e%2fsecret", "a%2f..%2f..%2fsecret", "%00", "absent", "link", "x" * 5000],
)
def test_no_name_leads_out_of_the_folder(client: TestClient, folder: Path, name: str) -> None:
    written(folder, "a")
    secret = written(folder.parent, "secret", report="secret")
    (folder / "link").symlink_to(secret, target_is_directory=True)
    (folder.parent / "report.html").write_text("secret")

    reply = client.get(f"/runs/{name}/report")

    assert reply.status_code == 404
    assert "secret" not in reply.text
    assert "link" not in listed(client)


@pytest.mark.parametrize("file_name", ["run.json", "eval_results.json", "report.html"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_plain_files_are_read(client: TestClient, folder: Path, file_name: str, kind: str) -> None:
    run = written(folder, "a")
    secret = written(folder.parent, "secret", {**HEADER, "corpus": "secret"}, report="secret")
    (run / file_name).unlink()
    match kind:
        case "link":
            (run / file_name).symlink_to(secret / file_name)
        case "pipe":
            os.mkfifo(run / file_name)
        case "folder":
            (run / file_name).mkdir()

    shown = listed(client)["a"]

    assert "secret" not in json.dumps(shown)
    if file_name == "report.html":
        assert shown["has_report"] is False
        assert client.get("/runs/a/report").status_code == 404
    elif file_name == "run.json":
        assert shown["problem"].startswith("run.json")
    else:
        assert shown["means"] == {}


def test_a_missing_folder_is_told(folder: Path) -> None:
    reply = client_of(FakeEngine(), serve={"runs": folder / "absent"}).get("/runs")

    assert reply.status_code == 404
    assert "RAG_SERVE__RUNS" in reply.json()["error"]["detail"]


def test_the_oldest_of_many_runs_are_left_out(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.web.run_files.MOST_RUNS", 2)
    for place, name in enumerate("abc"):
        run = written(folder, name)
        os.utime(run, (place, place))

    shown = client.get("/runs").json()

    assert {run["name"] for run in shown["runs"]} == {"b", "c"}
    assert shown["older"] == 1
