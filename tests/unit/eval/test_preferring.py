"""`prefer`: who won, with a judge that prefers by rule; ratings are the model's, and intervals hold the truth."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from eval.__main__ import main
from eval.preferring import intervals, ratings
from eval.run_folder import Header, RunFolder
from tests.fakes.eval_rows import answered, case, declined, unreplied
from tests.servers.scripted_judge import input_of, judgement
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

QUESTIONS = 12


@pytest.fixture(autouse=True)
def _settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_JUDGE__MODEL", "rule")
    monkeypatch.setattr("eval.scoring.judge_client.RETRIES", 0)


@pytest.fixture
def prefer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what runs `prefer` with the judge at a server, and returns its stdout; the exit code is checked."""

    def call(server: ScriptedLLM, *names: str, code: int = 0) -> str:
        monkeypatch.setenv("RAG_JUDGE__BASE_URL", server.base_url)
        assert main(["prefer", *(str(tmp_path / name) for name in names), "--judge"]) == code
        return capsys.readouterr().out

    return call


def make(folder: Path, lengths: list[int]) -> None:
    """Write a run whose answers have these numbers of words."""
    cases = tuple(case(str(n), answer="Yes.") for n in range(len(lengths)))
    run = RunFolder(folder)
    run.create(Header(started="", questions="q", questions_sha256="", target=""), cases)
    with run.writing():
        for n, length in enumerate(lengths):
            run.append_row(answered("word " * length, str(n)))


def cells(table: str, name: str) -> list[str]:
    """Return the first line of a table that begins with a run."""
    line = next(line for line in table.splitlines() if line.startswith("|") and f"/{name} " in line.split("|")[1])
    return [cell.strip() for cell in line.split("|")[1:-1]]


def pair(table: str, a: str, b: str) -> list[str]:
    """Return the line of a pair, without the names in front."""
    for line in table.splitlines():
        found = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(found) > 3 and found[0].endswith(f"/{a}") and found[1].endswith(f"/{b}"):
            return found[2:]
    raise AssertionError(table)


def test_the_better_run_leads_and_each_pair_is_asked_in_both_orders(tmp_path: Path, prefer: Callable[..., str]) -> None:
    make(tmp_path / "long", [9] * QUESTIONS)
    make(tmp_path / "short", [3] * QUESTIONS)
    make(tmp_path / "mixed", [9] * 6 + [1] * 6)
    with ScriptedLLM(Script(text=judgement)) as server:
        table = prefer(server, "long", "short", "mixed")

    assert pair(table, "long", "short")[:4] == ["12", "0", "0", "100 %"]
    assert pair(table, "long", "mixed")[:4] == ["6", "6", "0", "100 %"]
    assert pair(table, "short", "mixed")[:4] == ["6", "0", "6", "100 %"]
    assert pair(table, "long", "short")[-1].endswith("/long")
    assert pair(table, "short", "mixed")[-1] == "neither"
    assert int(cells(table, "long")[1]) > int(cells(table, "mixed")[1]) > int(cells(table, "short")[1])
    asked = [tuple(input_of(request)["items"][0].values()) for request in server.requests]
    assert set(asked) == {duel[::-1] for duel in asked}, "both orders"
    assert all(first != second for first, second in asked), "equal answers are not asked about"


def test_a_judge_that_prefers_what_stands_first_decides_nothing(tmp_path: Path, prefer: Callable[..., str]) -> None:
    make(tmp_path / "a", [3] * QUESTIONS)
    make(tmp_path / "b", [5] * QUESTIONS)
    with ScriptedLLM(Script(text=json.dumps({"labels": ["first"]}))) as server:
        table = prefer(server, "a", "b")

    assert pair(table, "a", "b") == ["0", "12", "0", "0 %", "+0.000 … +0.000", "neither"]
    assert cells(table, "a")[1] == cells(table, "b")[1] == "1000"


def test_only_questions_with_an_answer_and_a_reply_in_every_run_count(
    tmp_path: Path, prefer: Callable[..., str]
) -> None:
    for name in ("a", "b"):
        run = RunFolder(tmp_path / name)
        cases = (case("lost", answer="Yes."), case("none", answer=None), case("said", answer="Yes."))
        run.create(Header(started="", questions="q", questions_sha256="", target=""), cases)
        with run.writing():
            run.append_row(unreplied("lost") if name == "a" else answered("It is.", "lost"))
            run.append_row(declined("none"))
            run.append_row(declined("said") if name == "a" else answered("It is so, and has long been.", "said"))
    with ScriptedLLM(Script(text=judgement)) as server:
        table = prefer(server, "a", "b")

    assert pair(table, "a", "b")[:3] == ["0", "0", "1"]
    assert pair(table, "a", "b")[-1] == "too few to tell"


def test_unusable_judgements_are_counted_and_no_ties(tmp_path: Path, prefer: Callable[..., str]) -> None:
    make(tmp_path / "a", [3] * QUESTIONS)
    make(tmp_path / "b", [5] * QUESTIONS)

    def junk_once(request: Request) -> str:
        return "Hm." if len(server.requests) == 1 else judgement(request)

    with ScriptedLLM(Script(text=junk_once)) as server:
        table = prefer(server, "a", "b")

    assert "1 without a judgement" in table
    assert pair(table, "a", "b")[:3] == ["0", "0", "11"]


def test_a_judge_that_is_down_is_given_up(tmp_path: Path, prefer: Callable[..., str]) -> None:
    make(tmp_path / "a", [3] * QUESTIONS)
    make(tmp_path / "b", [5] * QUESTIONS)
    with ScriptedLLM(Script(status=503)) as server:
        told = prefer(server, "a", "b", code=1)

    assert "given up" in told
    assert len(server.requests) < QUESTIONS


def test_runs_of_other_questions_cannot_be_compared(tmp_path: Path, prefer: Callable[..., str]) -> None:
    make(tmp_path / "a", [3])
    with ScriptedLLM() as server:
        RunFolder(tmp_path / "b").create(
            Header(started="", questions="q", questions_sha256="", target=""), (case("other"),)
        )
        prefer(server, "a", "b", code=1)

    assert not server.requests


TIES = 0.3
ODDS = np.array([[1, 1.5, 3], [1 / 1.5, 1, 2], [1 / 3, 1 / 2, 1]])
SHARES = (1 - TIES) * ODDS / (1 + ODDS) + TIES / 2


def test_ten_wins_to_one_are_four_hundred_points() -> None:
    wins = np.array([[0.0, 1e6], [1e5, 0.0]])

    assert ratings(wins) == pytest.approx([1200, 800], abs=0.01)


def test_wins_are_expected_as_often_as_they_were_seen() -> None:
    wins = np.random.default_rng(1).integers(0, 40, (5, 5)).astype(float)
    wins[0, 1:], wins[1:, 0] = 500, 0
    np.fill_diagonal(wins, 0)

    strength = ratings(wins)

    expected = 1 / (1 + 10 ** ((strength[None, :] - strength[:, None]) / 400))
    seen = wins + 0.5 * (1 - np.eye(5))  # one tie more for each pair
    games = seen + seen.T
    assert (games * expected * (1 - np.eye(5))).sum(1) == pytest.approx(seen.sum(1), abs=1e-4)
    assert strength.mean() == pytest.approx(1000)
    assert np.isfinite(strength).all()


def test_intervals_hold_the_true_rating_in_92_to_98_of_100_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.preferring.RESAMPLES", 300)
    truth = ratings(1e7 * SHARES * (1 - np.eye(3)))
    held = []
    for seed in range(150):
        draws = np.random.default_rng(seed).random((60, 3, 3))
        decided = np.where(draws < SHARES - TIES / 2, 1.0, np.where(draws < SHARES + TIES / 2, 0.5, 0.0))
        upper = np.triu(decided, 1)
        wins = upper + np.tril(1 - decided.swapaxes(1, 2), -1)
        low, high = intervals(wins)
        held += ((low <= truth) & (truth <= high)).tolist()

    assert 0.92 <= np.mean(held) <= 0.98
