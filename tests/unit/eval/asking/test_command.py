"""The command from its arguments to its exit code, against a service on loopback; nothing is scored by models here."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.__main__ import main
from eval.run_folder import RunFolder
from tests.servers.evaluated_service import Asked, EvaluatedService, Reply, Script, a_reply

QUESTIONS = [{"id": f"q{number}", "question": f"What is {number}?", "answer": "It."} for number in range(1, 8)]


class Tried:
    """Runs the command in a separate folder.

    Attributes:
        questions, out: the paths that it is given.
    """

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.questions = folder / "questions.jsonl"
        self.out = folder / "run"
        self._capsys = capsys
        self.ask_for(QUESTIONS)

    def ask_for(self, questions: list[dict[str, Any]]) -> None:
        self.questions.write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")

    def run(self, url: str, *more: str) -> tuple[int, str, str]:
        """Return exit code, stdout and stderr."""
        command = ["run", str(self.questions), "--url", url, "--out", str(self.out), "--attempts", "1", "--no-scores"]
        code = main([*command, *more])
        shown = self._capsys.readouterr()
        return code, shown.out, shown.err

    @property
    def outcomes(self) -> dict[str, str]:
        return {id_: row.outcome for id_, row in RunFolder(self.out).rows().items()}


@pytest.fixture
def tried(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tried:
    monkeypatch.chdir(tmp_path)
    return Tried(tmp_path, capsys)


def answering(**scripts: Script) -> Script:
    """Answer everything, and these ids as told."""

    def script(asked: Asked, call: int) -> Reply:
        chosen = scripts.get(asked["iid"])
        return chosen(asked, call) if chosen else a_reply(asked)

    return script


def down(asked: Asked, call: int) -> Reply:
    del asked, call
    return Reply({"error": {"detail": "The model is down."}}, 503)


def test_a_run_is_asked_kept_and_told(tried: Tried) -> None:
    script = answering(q2=lambda asked, _: a_reply(asked, "I don’t know."), q3=lambda asked, _: a_reply(asked, "", x=1))
    with EvaluatedService(script) as service:
        code, out, err = tried.run(service.url, "--concurrency", "1")

    assert code == 0
    assert service.asked == [f"q{number}" for number in range(1, 8)]
    assert tried.outcomes == {f"q{number}": "declined" if number == 2 else "answered" for number in range(1, 8)}
    assert f"7 questions of `questions.jsonl`, asked {service.url}" in out
    assert "python -m eval report" in out
    assert "only its replies can be judged" in err
    assert err.index("7 questions with an answer") < err.index("100 %: 7 of 7 asked, 1 declined")
    header = RunFolder(tried.out).header()
    assert (header.target, header.corpus, header.questions) == (service.url, None, "questions.jsonl")


@pytest.mark.promise("E21")
def test_the_arguments_of_bedrock_rag_eval_mean_the_same(tried: Tried) -> None:
    asked: list[Asked] = []

    def script(question: Asked, call: int) -> Reply:
        del call
        asked.append(question)
        return a_reply(question)

    with EvaluatedService(script) as service:
        given = ["--dataset", str(tried.questions), "--api-url", service.url, "--top-k", "4", "--no-scores"]
        code = main(["run", *given, "--out", str(tried.out)])

    assert code == 0
    assert {question["top_k"] for question in asked} == {4}
    header = RunFolder(tried.out).header()
    assert (header.questions, header.target, header.settings["top_k"]) == ("questions.jsonl", service.url, 4)


def test_what_failed_is_told_with_exit_code_1_and_asked_again_by_the_same_command(tried: Tried) -> None:
    def down_once(asked: Asked, call: int) -> Reply:
        return a_reply(asked) if call else down(asked, call)

    with EvaluatedService(answering(q4=down_once)) as service:
        code, out, _ = tried.run(service.url)
        assert code == 1
        assert "## No reply: 1 question" in out
        assert "- `q4`: The service replied with status 503: The model is down." in out

        code, out, err = tried.run(service.url)

    assert code == 0
    assert "No reply" not in out
    assert "6 of 7 questions have a reply already" in err
    assert service.asked.count("q4") == 2
    assert len(service.asked) == 8
    assert set(tried.outcomes.values()) == {"answered"}


def test_a_service_that_dies_midway_stops_the_run_and_the_rest_is_asked_when_it_is_back(tried: Tried) -> None:
    dead = {f"q{number}": lambda asked, call: Reply(None) if call == 0 else a_reply(asked) for number in range(2, 8)}
    with EvaluatedService(answering(**dead)) as service:
        code, out, err = tried.run(service.url, "--concurrency", "1")
        assert (code, out) == (1, "")
        assert "error[outage]: 5 questions in a row got no reply" in err
        assert "the same command continues where this one stopped" in err
        assert list(tried.outcomes.values()) == ["answered", *["failed"] * 5]
        asked_before = len(service.asked)

        # q7, which was never asked, comes first; it breaks off once, as the others did.
        code, _, _ = tried.run(service.url, "--concurrency", "1")

    assert code == 1
    assert service.asked[asked_before:] == ["q7", "q2", "q3", "q4", "q5", "q6"]
    assert tried.outcomes == {f"q{number}": "answered" for number in range(1, 7)} | {"q7": "failed"}


def test_a_megabyte_of_answer_survives(tried: Tried) -> None:
    text = "word " * 210_000
    with EvaluatedService(answering(q2=lambda asked, _: a_reply(asked, text))) as service:
        code, _, _ = tried.run(service.url)

    assert code == 0
    assert RunFolder(tried.out).rows()["q2"].answer == text


def test_a_run_is_not_gone_on_with_for_other_questions_or_another_service(tried: Tried) -> None:
    with EvaluatedService(answering()) as service, EvaluatedService(answering()) as other:
        tried.run(service.url)

        code, _, err = tried.run(other.url)
        assert code == 1
        assert f"it asked {service.url}, and now {other.url} is named" in err

        code, _, err = tried.run(service.url, "--limit", "3")
        assert code == 1
        assert "now another selection of 3 is chosen (--limit, --split)" in err

        tried.ask_for(QUESTIONS[:6])
        code, _, err = tried.run(service.url)
        assert code == 1
        assert "the questions of questions.jsonl were others" in err
        assert "--out FOLDER" in err

    assert other.asked == []
    assert len(service.asked) == 7


def test_a_finished_run_asks_one_question_again_to_see_that_the_system_is_the_same(tried: Tried) -> None:
    fingerprint = "f1"

    def script(asked: Asked, _: int) -> Reply:
        return a_reply(asked, fingerprint=fingerprint)

    with EvaluatedService(script) as service:
        tried.run(service.url)
        code, out, _ = tried.run(service.url)
        assert code == 0
        assert "fingerprint f1" in out
        assert len(service.asked) == 8

        fingerprint = "f2"
        code, _, err = tried.run(service.url)

    assert code == 1
    assert "have the fingerprint f1, this one has f2" in err


def test_without_a_service_nothing_is_begun(tried: Tried) -> None:
    code, out, err = tried.run("http://127.0.0.1:9")

    assert (code, out) == (1, "")
    assert "error[preflight]: Nothing answers at http://127.0.0.1:9" in err
    assert not RunFolder(tried.out).exists()


def test_bad_questions_are_refused_before_anything_is_asked(tried: Tried) -> None:
    tried.questions.write_text('{"id": "a", "question": "What?"}\n{"id": "b", "ques', encoding="utf-8")
    with EvaluatedService(answering()) as service:
        code, out, err = tried.run(service.url)

    assert (code, out, service.asked) == (1, "", [])
    assert "Line 2" in err
    assert not tried.out.exists()


def test_questions_with_pages_cannot_be_sent_to_a_service(tried: Tried) -> None:
    tried.ask_for([{"id": "q1", "question": "What?", "pages": [{"url": "http://a/", "html": "<p>A</p>"}]}])

    code, _, err = tried.run("http://127.0.0.1:9")

    assert code == 1
    assert "1 of the questions come with their own pages" in err
    assert "Leave out --url" in err


def test_where_a_model_has_to_write_quotes_are_failures(tried: Tried) -> None:
    def script(asked: Asked, _: int) -> Reply:
        return a_reply(asked, synthesizer="extractive" if asked["iid"] == "q2" else "openai")

    with EvaluatedService(script) as service:
        code, out, _ = tried.run(service.url, "--require-llm")

    assert code == 1
    assert tried.outcomes["q2"] == "failed"
    assert "No language model wrote this answer, it is quotes." in out


def test_a_service_that_wants_a_key_is_shown_one_with_each_request_and_no_run_keeps_it(tried: Tried) -> None:
    with EvaluatedService(answering()) as service:
        code, out, err = tried.run(service.url, "--header", "Authorization: Bearer s3cret")

    assert code == 0
    assert service.keys == {"Bearer s3cret"}
    assert "s3cret" not in out + err + "".join(path.read_text() for path in tried.out.iterdir())


def test_a_run_without_a_name_gets_the_same_one_each_time(tried: Tried) -> None:
    with EvaluatedService(answering()) as service:
        for _ in range(2):
            main(["run", str(tried.questions), "--url", service.url, "--corpus", "papers", "--no-scores"])

    port = service.url.rpartition(":")[2]
    assert [path.name for path in Path("runs").iterdir()] == [f"questions-papers-127.0.0.1-{port}"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--url", "127.0.0.1:8000"],
        ["--url", "http://me:password@127.0.0.1:8000"],
        ["--header", "Authorization"],
        ["--concurrency", "0"],
        ["--attempts", "x"],
        ["--timeout-s", "-1"],
        ["--timeout-s", "nan"],
        ["--filter", "{"],
        ["--top-k", "0"],
        ["--dataset", "other.jsonl"],
    ],
)
def test_arguments_that_mean_nothing_are_a_usage_error(tried: Tried, arguments: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", str(tried.questions), *arguments])


def test_a_run_needs_questions_and_for_reports_scores(tried: Tried, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", "--url", "http://127.0.0.1:1"])

    assert main(["run", str(tried.questions), "--no-scores", "--reports", "reports"]) == 1
    assert "--no-scores" in capsys.readouterr().err


def test_a_filter_that_has_no_meaning_is_refused_before_anything_is_asked(tried: Tried) -> None:
    with EvaluatedService(answering()) as service:
        code, _, err = tried.run(service.url, "--filter", '{"filters": []}')

    assert (code, service.asked) == (1, [])
    assert "error[bad_filter]" in err
