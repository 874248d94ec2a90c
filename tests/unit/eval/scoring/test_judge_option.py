"""`--judge`: what its options ask for, what is told of the judging, and how far a judge disagrees with itself."""

import argparse
import io
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from errors import SettingsError
from eval.cases import Case
from eval.cells import failed, scored
from eval.rows import Row, Seen
from eval.run_folder import Header, RunFolder, Scored
from eval.scoring.judge_client import Judge, JudgeDownError, JudgeUnusableError, json_in
from eval.scoring.judge_option import Judging, add_judge_arguments
from eval.scoring.judged.noise import noise
from eval.scoring.judged.scorer import Ask, JudgedScorer, Material
from eval.scoring.ragas_metrics import JUDGED
from settings import JudgeSettings, Settings, load_settings
from tests.servers.scripted_llm import Script, ScriptedLLM

WHO = JudgeSettings(base_url="http://127.0.0.1:1/v1", model="wise", concurrency=1)


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_judge_arguments(parser)
    return parser.parse_args(words)


def judging_of(
    tmp_path: Path, decide: Callable[[int, str, Material], float], repeats: int = 1, who: JudgeSettings = WHO
) -> Judging:
    """Return a judging by RAGAS's first two metrics, each of which `decide` decides."""
    judge = Judge(who.model_copy(update={"cache_dir": tmp_path / "cache"}))

    @asynccontextmanager
    async def asker(repeat: int) -> AsyncIterator[Ask]:
        async def ask(name: str, material: Material) -> float:
            return decide(repeat, name, material)

        yield ask

    return Judging(judge, [JudgedScorer("ragas", JUDGED[:2], judge, asker)], repeats)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a run of ten answered questions."""
    made = RunFolder(tmp_path / "run")
    cases = tuple(Case(id=str(n), question="?", answer="Yes") for n in range(10))
    made.create(Header(started="", questions="", questions_sha256="", target=""), cases)
    with made.writing():
        for case in cases:
            passages = (Seen(text="A passage"),)
            made.append_row(Row(id=case.id, outcome="answered", answer=f"It is {case.id}.", passages=passages))
    return made


def judged(judging: Judging, folder: RunFolder) -> str:
    with folder.writing():
        judging.score(folder, io.StringIO())
    return judging.describe(folder)


def test_without_the_option_nothing_is_judged() -> None:
    assert Judging.of(parsed(), Settings()) is None


@pytest.mark.parametrize("stray", [["--repeats", "3"], ["--deepeval-python", "python"]], ids=" ".join)
def test_an_option_of_judging_without_a_judge_is_no_silent_nothing(stray: list[str]) -> None:
    with pytest.raises(SettingsError, match=f"{stray[0]} does nothing without a judge. Add --judge"):
        Judging.of(parsed(*stray), Settings())


def test_a_judge_that_no_setting_names_is_asked_for() -> None:
    with pytest.raises(SettingsError, match="--judge needs RAG_JUDGE__BASE_URL and RAG_JUDGE__MODEL"):
        Judging.of(parsed("--judge"), Settings())
    with pytest.raises(SettingsError, match="--judge needs RAG_JUDGE__MODEL"):
        Judging.of(parsed("--judge"), load_settings({"RAG_JUDGE__BASE_URL": "http://127.0.0.1:1/v1"}, None))


def test_what_is_not_scored_is_told_with_its_commonest_reason(folder: RunFolder, tmp_path: Path) -> None:
    def junk_for_three(_: int, name: str, material: Material) -> float:
        if name == "faithfulness" and material.answer[-2] in "147":
            raise JudgeUnusableError("It is prose.", "Take another.")
        return 0.5

    told = judged(judging_of(tmp_path, junk_for_three), folder)

    assert "wise at 127.0.0.1:1:\n- 0 replies of the server\n" in told
    assert "- faithfulness: 7 of 10 rows scored. It is prose. (3 rows)" in told
    assert "answer_relevancy" not in told
    assert "given up" not in told


def test_a_judge_that_is_down_is_told_with_the_remedy(folder: RunFolder, tmp_path: Path) -> None:
    def down(*_: object) -> float:
        raise JudgeDownError("It is down.", "Start it.")

    judging = judging_of(tmp_path, down)
    told = judged(judging, folder)

    assert judging.given_up
    assert "- faithfulness, answer_relevancy: 0 of 10 rows scored. It is down. (5 rows)" in told
    assert "**The judge was given up, and rows are left.** It is down. Start it. Then the same command goes on" in told


def test_repeats_tell_how_far_the_judge_disagrees_with_itself(folder: RunFolder, tmp_path: Path) -> None:
    def moody(repeat: int, name: str, _: Material) -> float:
        return 0.4 + 0.1 * repeat if name == "faithfulness" else 0.5

    judging = judging_of(tmp_path, moody, repeats=3)
    told = judged(judging, folder)

    assert "| faithfulness     |   10 |     3 |       0.100 |       0.0316 |" in told
    assert "| answer_relevancy |   10 |     3 |       0.000 |       0.0000 |" in told
    assert folder.cells()["0"]["faithfulness"].score == pytest.approx(0.5)
    assert len(folder.scores()) == 30


def test_another_judge_judges_again_and_is_not_mixed_with_the_first(folder: RunFolder, tmp_path: Path) -> None:
    other = WHO.model_copy(update={"model": "other"})

    def down(*_: object) -> float:
        raise JudgeDownError("It is down.", "Start it.")

    def scores() -> set[float | None]:
        return {cell.score for row in folder.cells().values() for cell in row.values()}

    judged(judging_of(tmp_path, lambda *_: 0.25, repeats=2), folder)
    judged(judging_of(tmp_path, down, who=other), folder)
    assert scores() == {0.25}  # who says nothing replaces nothing

    judged(judging_of(tmp_path, lambda *_: 0.75, who=other), folder)
    assert scores() == {0.75}
    assert {line.by for line in folder.scores()} == {"other"}

    judged(judging_of(tmp_path, lambda *_: 0.25), folder)
    assert scores() == {0.25}


def test_progress_is_told_once_a_tenth_and_says_which_time(folder: RunFolder, tmp_path: Path) -> None:
    stream = io.StringIO()
    judging = judging_of(tmp_path, lambda *_: 0.5, repeats=2)

    with folder.writing():
        judging.score(folder, stream)

    lines = stream.getvalue().splitlines()
    assert len(lines) == 20
    assert lines[0].startswith(" 10 %: 1 of 10 scored: ragas, ")
    assert lines[-1] == "100 %: 10 of 10 scored: ragas, time 2, 0:00 left"


def test_noise_is_pooled_over_the_rows_that_were_scored_twice() -> None:
    def line(id_: str, repeat: int, value: float | None) -> Scored:
        cell = failed("junk") if value is None else scored(value)
        return Scored(id=id_, of="", family="ragas", repeat=repeat, cells={"m": cell})

    found = noise(
        [
            line("a", 0, 0.0),
            line("a", 1, 1.0),
            line("b", 0, 0.5),
            line("b", 1, 0.5),
            line("c", 0, 1),
            line("c", 1, None),
        ]
    )

    assert (found["m"].rows, found["m"].repeats) == (2, 2)
    assert found["m"].row_sd == pytest.approx((0.5 / 2) ** 0.5)  # variances 0.5 and 0
    assert found["m"].mean_sd == pytest.approx(0.5 / 2**0.5)


def test_a_model_that_is_too_weak_a_judge_is_told_as_such(folder: RunFolder, tmp_path: Path) -> None:
    with ScriptedLLM(Script(text="Well, it depends.")) as server:
        who = WHO.model_copy(update={"base_url": server.base_url, "cache_dir": tmp_path / "cache"})
        judge = Judge(who)

        @asynccontextmanager
        async def asker(_: int) -> AsyncIterator[Ask]:
            async def ask(name: str, material: Material) -> float:
                return float(await judge.ask(name + material.answer, {}, "0", json_in))

            yield ask

        scorer = JudgedScorer("ragas", JUDGED[:2], judge, asker)
        told = judged(Judging(judge, [scorer], 1), folder)

    assert "- 20 replies of the server: 20 tokens read, 60 written\n" in told
    assert "**Most replies were unusable.** This model is too weak a judge, or RAG_JUDGE__RESPONSE_FORMAT=json" in told
    assert "- faithfulness, answer_relevancy: 0 of 10 rows scored. The judge's reply is not a JSON object: '" in told
    assert "given up" not in told
