"""Only questions that both runs asked in the same words, against the same references, are compared."""

import json
from pathlib import Path

import pytest

from eval.cells import scored
from eval.comparing.pairing import changes, join, read_run
from eval.rows import Row
from eval.run_folder import SCORES, RunFolder, RunFolderError
from tests.failing import failing
from tests.fakes.runs import case, write_run
from tests.unit.eval.comparing.pairs import questions, run


def test_questions_of_one_run_alone_are_left_out_and_told(tmp_path: Path) -> None:
    asked = questions(5)
    a = run(tmp_path / "a", asked[:4], {"doc@1": [1.0] * 4})
    b = run(tmp_path / "b", asked[1:], {"doc@1": [1.0] * 4})

    joined = join(read_run(a), read_run(b))

    assert [each.id for each in joined.cases] == ["q01", "q02", "q03"]
    assert (joined.only_a, joined.only_b) == (("q00",), ("q04",))


@pytest.mark.parametrize(
    "other",
    [
        case("q01", "What was 1?", "It is 1."),
        case("q01", "What is 1?", "It is 2."),
        case("q01", "What is 1?", "It is 1.", relevant_docs=("one.md",)),
        case("q01", "What is 1?", None),
    ],
    ids=["in other words", "against another answer", "against other documents", "without an answer"],
)
def test_a_question_that_became_another_one_is_left_out(tmp_path: Path, other: object) -> None:
    asked = questions(3)
    a = run(tmp_path / "a", asked, {"doc@1": [1.0] * 3})
    b = run(tmp_path / "b", [asked[0], other, asked[2]], {"doc@1": [1.0] * 3})  # type: ignore[list-item]

    joined = join(read_run(a), read_run(b))

    assert joined.altered == ("q01",)
    assert [each.id for each in joined.cases] == ["q00", "q02"]


def test_another_category_is_no_other_question(tmp_path: Path) -> None:
    a = run(tmp_path / "a", questions(2), {"doc@1": [1.0] * 2})
    b = run(tmp_path / "b", questions(2, category="easy"), {"doc@1": [1.0] * 2})

    assert len(join(read_run(a), read_run(b)).cases) == 2


@pytest.mark.parametrize(
    ("others", "why"),
    [
        (("x1", "x2"), "no id stands in both"),
        (("q00", "q01"), "their 2 common ids name other questions or references"),
    ],
)
def test_runs_without_a_common_question_are_refused(tmp_path: Path, others: tuple[str, str], why: str) -> None:
    a = run(tmp_path / "a", questions(2), {"doc@1": [1.0] * 2})
    b = run(tmp_path / "b", [case(id_, "Who?", "Me.") for id_ in others], {"doc@1": [1.0] * 2})

    with failing("not_comparable", match=f"share no question: {why}.* same file of questions"):
        join(read_run(a), read_run(b))


def test_a_run_without_scores_says_how_to_make_them(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "a", questions(1), [Row(id="q00", outcome="answered", answer="It is 0.")], {})

    with failing("not_scored", match=r"has no scores.*python -m eval score .*/a"):
        read_run(folder)


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match="holds no run"):
        read_run(RunFolder(tmp_path / "nothing"))


def test_a_torn_last_line_costs_one_row_and_damage_is_told(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", questions(3), {"doc@1": [1.0] * 3})
    rows = folder.path / "rows.jsonl"
    rows.write_bytes(rows.read_bytes()[:-5])

    assert list(read_run(folder).rows) == ["q00", "q01"]

    rows.write_bytes(b'{"id": "q00", "outcome": "answ\n' + rows.read_bytes())
    with pytest.raises(RunFolderError, match=r"Line 1 of .*rows.jsonl is damaged"):
        read_run(folder)


def test_a_score_that_is_no_number_is_damage(tmp_path: Path) -> None:
    folder = run(tmp_path / "a", questions(1), {"doc@1": [0.25]})
    scores = folder.path / "scores.jsonl"
    scores.write_bytes(scores.read_bytes().replace(b"0.25", b"NaN"))

    with pytest.raises(RunFolderError, match=r"Line 1 of .*scores.jsonl is damaged"):
        read_run(folder)


def test_a_question_without_a_reply_counts_as_not_replied(tmp_path: Path) -> None:
    rows = [
        Row(id="q00", outcome="failed", answer=None, reason="down"),
        Row(id="q01", outcome="declined", answer="No."),
    ]
    cells = {"q01": {"retrieval": {"doc@1": scored(1)}}}

    run = read_run(write_run(tmp_path / "a", questions(2), rows, cells))

    assert {id_: of["replied"].score for id_, of in join(run, run).b.cells.items()} == {"q00": 0.0, "q01": 1.0}


def test_what_changed_is_told_by_its_dotted_name_and_dates_are_not(tmp_path: Path) -> None:
    common = {"started": "2026-01-01T00:00:00Z"}
    before = {"settings": {"retrieval": {"top_k": 20, "merge": True}}, "versions": {"python": "3.11.7"}}
    after = {"settings": {"retrieval": {"top_k": 5, "merge": True, "mode": None}}, "versions": {"python": "3.11.7"}}
    a = run(tmp_path / "a", questions(1), {"doc@1": [1.0]}, **before, **common)
    b = run(tmp_path / "b", questions(1), {"doc@1": [1.0]}, **after)

    assert changes(read_run(a), read_run(b)) == {
        "settings.retrieval.top_k": ("20", "5"),
        "settings.retrieval.mode": ("(untold)", "–"),
    }


def test_scores_of_an_earlier_format_are_refused_with_the_way_out(tmp_path: Path) -> None:
    old = run(tmp_path / "old", questions(2), {"doc@1": [1.0] * 2})
    lines = [json.loads(line) for line in (old.path / SCORES).read_text().splitlines()]
    (old.path / SCORES).write_text("".join(json.dumps({**line, "of": "an older digest"}) + "\n" for line in lines))

    with failing("not_scored", match=r"of an earlier format.*eval score"):
        read_run(old)
