"""`python -m eval run` is killed, started again, and ends with the rows of a run that was never stopped."""

import json
import signal
import threading
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest

from eval.rows import Row
from eval.run_folder import RunFolder
from tests.e2e.conftest import BETZ
from tests.e2e.program import Process, Program, run
from tests.servers.evaluated_service import Asked, EvaluatedService, Reply, a_reply

pytestmark = pytest.mark.slow

QUESTIONS = 60
# Replies after which the run is killed, counted over all starts; four are under way at a time.
KILLS = (1, 23, 24, 58)
IN_CORPUS = [
    {"id": "betz", "question": BETZ, "answer": "Albert Betz, 59.3 per cent"},
    {"id": "rance", "question": "When did the barrage of La Rance open?", "answer": "In 1966"},
    {"id": "storage", "question": "How much energy does pumped storage return?", "answer": "80 per cent"},
    {"id": "wine", "question": "How do I get a red wine stain out of a tablecloth?", "answer": None},
]
PAGE = "<html><body><h1>Ulm</h1><p>The tower of the minster of Ulm is 161.53 metres tall.</p></body></html>"
OVER_PAGES = {
    "id": "ulm",
    "question": "How tall is the tower of the minster of Ulm?",
    "answer": "161.53 metres",
    "pages": [{"url": "http://example.org/ulm", "html": PAGE}, {"url": "http://example.org/nothing", "html": ""}],
}


class KilledService(EvaluatedService):
    """Answers at once, and kills who asks as soon as it was asked often enough.

    Args:
        kills: numbers of questions, rising; each kills one asker.
    """

    def __init__(self, kills: Sequence[int]) -> None:
        self._kills = list(kills)
        self._asker: Process | None = None
        self._asking = threading.Condition()
        super().__init__(self._reply)

    def start(self, arguments: Sequence[str], folder: Path) -> int:
        """Start an asker and return how it ended."""
        with Process(arguments, {}, folder) as asker:
            with self._asking:
                self._asker = asker
                self._asking.notify_all()
            return asker.exit_code()

    def _reply(self, asked: Asked, _: int) -> Reply:
        with self._asking:
            if self._kills and len(self.asked) >= self._kills[0]:
                self._asking.wait_for(lambda: self._asker is not None)
                assert self._asker is not None
                self._asker.signal(signal.SIGKILL)
                self._asker.exit_code()
                self._asker = None
                self._kills.pop(0)
        return a_reply(asked, f"The answer to {asked['iid']} is ünïque.", fingerprint="f1", contexts=["x" * 20_000])


def rows_of(folder: Path) -> list[str]:
    return sorted(row.content() for row in RunFolder(folder).rows().values())


def write_questions(path: Path, questions: Sequence[object]) -> Path:
    path.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    return path


@pytest.mark.promise("G13")
@pytest.mark.fault("F1")
def test_a_run_that_is_killed_many_times_ends_like_one_that_never_was(tmp_path: Path) -> None:
    asked = [{"id": f"q{number}", "question": f"What is {number}?", "answer": "It."} for number in range(QUESTIONS)]
    questions = write_questions(tmp_path / "questions.jsonl", asked)
    command = ["-m", "eval", "run", str(questions), "--no-scores", "--out"]
    with KilledService(()) as service:
        assert service.start([*command, "whole", "--url", service.url], tmp_path) == 0
    with KilledService(KILLS) as service:
        ends = [service.start([*command, "killed", "--url", service.url], tmp_path) for _ in range(len(KILLS) + 1)]

    assert ends == [-signal.SIGKILL] * len(KILLS) + [0]
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    lines = (tmp_path / "killed" / "rows.jsonl").read_bytes().splitlines()
    assert len(lines) == QUESTIONS, "no question was kept twice"
    assert len(service.asked) <= QUESTIONS + 5 * len(KILLS), "only what was under way is asked again"


def test_the_engine_in_process_is_killed_and_goes_on(variables: dict[str, str], folder: Path, tmp_path: Path) -> None:
    # A separate index: a service may hold the one that all tests here share.
    variables = {**variables, "RAG_INDEX__DIR": str(tmp_path / "index")}
    ingestion = run(["-m", "ingestion", str(folder / "sources")], variables, folder)
    assert ingestion.returncode == 0, ingestion.stderr
    questions = write_questions(tmp_path / "questions.jsonl", [*IN_CORPUS, OVER_PAGES])
    command = ["-m", "eval", "run", str(questions), "--no-scores", "--out"]
    with Process([*command, str(tmp_path / "killed")], variables, folder) as killed:
        killed.wait_for(r"^ 40 %: 2 of 5 asked", 60)
        killed.signal(signal.SIGKILL)
        killed.exit_code()

    again = run([*command, str(tmp_path / "killed")], variables, folder)
    whole = run([*command, str(tmp_path / "whole")], variables, folder)

    assert (again.returncode, whole.returncode) == (0, 0), again.stderr + whole.stderr
    assert "of 5 questions have a reply already" in again.stderr
    assert rows_of(tmp_path / "killed") == rows_of(tmp_path / "whole")
    rows = RunFolder(tmp_path / "whole").rows()
    assert {id_: row.outcome for id_, row in rows.items()} == {
        "betz": "answered",
        "rance": "answered",
        "storage": "answered",
        "wine": "declined",
        "ulm": "answered",
    }
    assert {passage.doc_id for passage in rows["ulm"].passages} == {"http://example.org/ulm"}
    assert rows["ulm"].warnings[-1].startswith("page_unread: http://example.org/nothing")
    assert all(is_timed(row) for row in rows.values())
    assert "| have none      |         1 |        0 |                 0 |        1 |" in whole.stdout


def is_timed(row: Row) -> bool:
    return row.first_record_s is not None and 0 < row.first_record_s < row.seconds


def test_the_corpus_of_a_running_service_is_evaluated_through_it(
    service: Program, variables: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    questions = write_questions(tmp_path / "questions.jsonl", IN_CORPUS[:1])
    command = ["-m", "eval", "run", str(questions), "--out", str(tmp_path / "run"), "--no-scores"]

    refused = run(command, variables, folder)
    assert refused.returncode == 1
    assert f"Ask it: add --url {service.url}" in refused.stderr

    asked = run([*command, "--url", service.url], variables, folder)

    assert asked.returncode == 0, asked.stderr
    assert "holds 4 chunks, fewer than 50" in asked.stderr
    (row,) = RunFolder(tmp_path / "run").rows().values()
    assert row.passages[0].doc_id == "wind.md"
    header = RunFolder(tmp_path / "run").header()
    assert (header.corpus, header.settings["index"]["documents"]) == ("default", 4)
    assert header.fingerprint == row.fingerprint != ""


def test_what_people_said_of_answers_becomes_questions_that_can_be_asked_again(
    service: Program, variables: dict[str, str], folder: Path, tmp_path: Path
) -> None:
    said = tmp_path / "said.jsonl"
    questions = tmp_path / "questions.jsonl"
    for question, verdict in ((BETZ, "good"), ("When did the barrage of La Rance open?", "bad")):
        answer = httpx.post(f"{service.url}/evaluate", json={"query": question, "iid": verdict}).json()
        body = {"answer_id": answer["answer_id"], "verdict": verdict}
        assert httpx.post(f"{service.url}/feedback", json=body).status_code == 200
    said.write_bytes(httpx.get(f"{service.url}/feedback").content)

    made = run(["-m", "eval", "cases", "--from-feedback", str(said), "--out", str(questions)], variables, folder)
    command = ["-m", "eval", "run", str(questions), "--out", str(tmp_path / "run"), "--url", service.url]
    asked = run(command, variables, folder)

    assert (made.returncode, asked.returncode) == (0, 0), made.stderr + asked.stderr
    rows = RunFolder(tmp_path / "run").rows()
    assert {row.outcome for row in rows.values()} == {"answered"}
    cases = RunFolder(tmp_path / "run").cases()
    assert {case.question for case in cases if case.answer} == {BETZ}  # a bad answer is not a reference
