"""A judge that is down, slow, busy or broken: what is said, what is tried again, what is kept and what is left."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from errors import RagError
from eval.cases import Case
from eval.cells import Cell
from eval.rows import Row
from eval.run_folder import Header, RunFolder
from eval.scoring import judge_client
from eval.scoring.judge_client import DOWN_AFTER_ROWS, Judge
from eval.scoring.judged.scorer import Ask, Judged, JudgedScorer, Material
from eval.scoring.stage import score_run
from settings import JudgeSettings
from tests.failing import failing
from tests.servers.scripted_llm import Script, ScriptedLLM

GOOD = Script(text='{"score": 0.5}')
TOY = tuple(Judged(name, ("answer",), 1) for name in ("first", "second"))


def judge_of(url: str, cache: Path, **given: object) -> Judge:
    usual = {"base_url": url, "model": "m", "cache_dir": cache, "concurrency": 1}
    return Judge(JudgeSettings.model_validate({**usual, **given}))


def scorer_of(judge: Judge) -> JudgedScorer:
    """Return a scorer whose judge tells the score itself."""

    @asynccontextmanager
    async def asker(repeat: int) -> AsyncIterator[Ask]:
        async def ask(name: str, material: Material) -> float:
            read = lambda text: float(json.loads(text)["score"])  # noqa: E731
            return await judge.ask(f"{name}: {material.answer}", {"type": "object"}, str(repeat), read)

        yield ask

    return JudgedScorer("toy", TOY, judge, asker)


def rows(n: int) -> list[tuple[Case, Row]]:
    return [(Case(id=str(i), question="?"), Row(id=str(i), outcome="answered", answer=f"It is {i}.")) for i in range(n)]


def cells_of(judge: Judge, n: int = 1) -> dict[str, dict[str, Cell]]:
    return {id_: cells for id_, cells in scorer_of(judge).score(rows(n))}


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM(GOOD) as running:
        yield running


@pytest.fixture
def nobody() -> Iterator[str]:
    """Yield the URL of a port that nobody listens on."""
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"


def test_what_is_sent_names_model_temperature_and_schema(server: ScriptedLLM, tmp_path: Path) -> None:
    cells_of(judge_of(server.base_url, tmp_path, temperature=1, api_key="secret"))

    sent = server.requests[0]
    assert (sent["model"], sent["temperature"], server.keys[0]) == ("m", 1, "bearer secret")
    assert sent["messages"] == [{"role": "user", "content": "first: It is 0."}]
    assert sent["response_format"]["json_schema"]["schema"] == {"type": "object"}


@pytest.mark.parametrize(
    ("kind", "expected"), [("json_object", {"type": "json_object"}), ("text", None)], ids=["json_object", "text"]
)
def test_servers_that_know_no_schemas_are_not_sent_one(
    kind: str, expected: object, server: ScriptedLLM, tmp_path: Path
) -> None:
    cells_of(judge_of(server.base_url, tmp_path, response_format=kind))

    assert server.requests[0].get("response_format") == expected


@pytest.mark.fault("F2")
@pytest.mark.parametrize(
    ("script", "why"),
    [
        (Script(status=500), "failed (HTTP 500): The script says so."),
        (Script(status=401), "refused the key (HTTP 401)."),
        (Script(status=400), "rejected the request (HTTP 400): The script says so."),
        (Script(stall_after=0), "did not answer within 0.2 s."),
        (Script(text='{"score": 0', finish="length"), "The judge's reply was cut off at the server's limit of tokens"),
        (Script(text=" "), "The judge's reply is empty."),
        (Script(text='{"score": 7}'), "The score is 7, outside 0 to 1."),
        (Script(text='{"score": NaN}'), "The score is nan, outside 0 to 1."),
        (Script(cut_after=0), "ended its reply"),
    ],
    ids=["500", "401", "400", "slow", "cut off", "empty", "out of range", "NaN", "dropped"],
)
def test_each_way_to_fail_has_its_words_and_no_number(
    script: Script, why: str, server: ScriptedLLM, tmp_path: Path
) -> None:
    server.play(script)

    limit_s = 0.2 if script.stall_after is not None else 20
    cell = cells_of(judge_of(server.base_url, tmp_path, timeout_s=limit_s))["0"]["first"]

    assert cell.score is None
    assert why in (cell.failed or "")


def test_what_may_pass_is_tried_again(server: ScriptedLLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_client, "RETRIES", 1)
    server.play(Script(status=503, headers={"Retry-After": "0"}), GOOD)
    judge = judge_of(server.base_url, tmp_path)

    assert cells_of(judge)["0"]["first"].score == 0.5
    assert (judge.tally.tried_again, judge.tally.replies, judge.tally.failed) == (1, 2, 0)


def test_a_server_of_something_else_is_named_as_such(server: ScriptedLLM, tmp_path: Path) -> None:
    server.play(Script(status=201))
    judge = judge_of(server.base_url, tmp_path)

    cells = cells_of(judge, n=DOWN_AFTER_ROWS)

    assert (cells["0"]["first"].failed or "").partition(" sent no chat completion: ")[1]
    assert judge.given_up is not None
    assert "RAG_JUDGE__BASE_URL" in judge.given_up.remedy


@pytest.mark.parametrize("url", ["http://[::1", "http://", "http://wise:secret@127.0.0.1:1/v1"])
def test_an_address_that_is_none_is_said_without_its_secrets(url: str, tmp_path: Path) -> None:
    why = cells_of(judge_of(url, tmp_path, api_key="schlüssel"))["0"]["first"].failed or ""

    assert "cannot be reached" in why
    assert "secret" not in why


def test_a_reply_that_is_cut_off_was_paid_for(server: ScriptedLLM, tmp_path: Path) -> None:
    server.play(Script(text='{"score": 0', finish="length"))
    judge = judge_of(server.base_url, tmp_path)
    cells_of(judge)

    assert (judge.tally.replies, judge.tally.failed, judge.tally.completion_tokens) == (2, 2, 4)


@pytest.mark.fault("F2")
def test_an_outage_ends_the_judging_and_leaves_the_other_rows_for_the_next_call(nobody: str, tmp_path: Path) -> None:
    judge = judge_of(nobody, tmp_path)

    cells = cells_of(judge, n=50)

    assert len(cells) == DOWN_AFTER_ROWS
    assert judge.tally.failed == DOWN_AFTER_ROWS  # one try a row: the second metric is not tried
    assert {cell.failed for row in cells.values() for cell in row.values()} == {judge.given_up and judge.given_up.fact}
    assert judge.given_up is not None
    assert judge.given_up.remedy == "Start it, or correct RAG_JUDGE__BASE_URL."
    assert list(scorer_of(judge).score(rows(3), repeat=1)) == []


def test_a_judge_that_is_of_use_to_no_row_is_given_up_however_few_they_are(nobody: str, tmp_path: Path) -> None:
    judge = judge_of(nobody, tmp_path)

    assert len(cells_of(judge, n=2)) == 2
    assert judge.given_up is not None


def test_refusals_of_every_question_end_it_too_but_not_those_of_some(server: ScriptedLLM, tmp_path: Path) -> None:
    server.play(*[Script(status=400), GOOD] * 20)
    some = judge_of(server.base_url, tmp_path / "some")
    assert len(cells_of(some, n=10)) == 10
    assert some.given_up is None

    server.play(Script(status=400))
    every = judge_of(server.base_url, tmp_path / "every")
    assert len(cells_of(every, n=10)) == DOWN_AFTER_ROWS
    assert every.given_up is not None


def test_a_judge_that_comes_back_before_is_not_given_up(server: ScriptedLLM, tmp_path: Path) -> None:
    server.play(*[Script(status=503)] * (DOWN_AFTER_ROWS - 1), GOOD)

    cells = cells_of(judge_of(server.base_url, tmp_path), n=8)

    assert [cells[str(i)]["first"].score for i in range(8)] == [None] * (DOWN_AFTER_ROWS - 1) + [0.5] * 4


def test_as_many_rows_as_allowed_are_judged_at_once(nobody: str, tmp_path: Path) -> None:
    under_way: list[int] = [0]

    @asynccontextmanager
    async def asker(_: int) -> AsyncIterator[Ask]:
        together = asyncio.Barrier(3)

        async def ask(*_: object) -> float:
            under_way.append(under_way[-1] + 1)
            async with asyncio.timeout(10), together:
                pass
            under_way.append(under_way[-1] - 1)
            return 1.0

        yield ask

    scorer = JudgedScorer("toy", TOY, judge_of(nobody, tmp_path, concurrency=3), asker)

    assert len(list(scorer.score(rows(12)))) == 12
    assert max(under_way) == 3


def test_scores_after_an_outage_are_those_of_an_unbroken_run(server: ScriptedLLM, tmp_path: Path) -> None:
    server.play(Script(text=lambda request: json.dumps({"score": len(request["messages"][0]["content"]) % 7 / 7})))
    folder = RunFolder(tmp_path / "run")
    pairs = rows(12)
    folder.create(Header(started="", questions="", questions_sha256="", target=""), tuple(case for case, _ in pairs))
    with folder.writing():
        for _, row in pairs:
            folder.append_row(row)
        gone = judge_of("http://127.0.0.1:1/v1", tmp_path / "cache")
        score_run(folder, [scorer_of(gone)])
        assert len(folder.scores()) == DOWN_AFTER_ROWS
        score_run(folder, [scorer_of(judge_of(server.base_url, tmp_path / "cache", concurrency=3))])
        asked = len(server.requests)
        score_run(folder, [scorer_of(judge_of(server.base_url, tmp_path / "cache"))])

    assert folder.cells() == cells_of(judge_of(server.base_url, tmp_path / "other"), n=12)
    assert asked == 24


def test_a_cache_that_cannot_be_written_says_so(server: ScriptedLLM, tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")

    with failing("judge_cache_failed", match=r"cannot be kept in .*file.*RAG_JUDGE__CACHE_DIR"):
        judge_of(server.base_url, in_the_way)

    judge = judge_of(server.base_url, tmp_path / "cache")
    (tmp_path / "cache").rmdir()
    (tmp_path / "cache").write_text("")
    with pytest.raises(RagError, match="cannot be kept"):
        cells_of(judge)
