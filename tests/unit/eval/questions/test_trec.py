"""TREC's topics, qrels and runs, as trec_eval reads them."""

from pathlib import Path

import pytest

from eval.cases import BadCasesError, Case
from eval.questions import trec
from eval.questions.reading import read_questions

TOPICS = "301\tInternational organized crime\n302\tPoliomyelitis, and post-polio\n"
QRELS = "301 0 FT911-1 2\n301\t0\tFT911-2\t0\n302 0 FT911-3 1\n"
RUN = "301 Q0 FT911-2 1 3.5 bm25\n301 Q0 FT911-1 2 4.5 bm25\n302 Q0 FT911-9 1 1e-1 bm25\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text)
    return path


def test_topics_are_told_by_their_tab_and_take_their_grades_from_qrels(tmp_path: Path) -> None:
    cases = read_questions(written(tmp_path, TOPICS))
    path = written(tmp_path, QRELS)

    assert [(case.id, case.question) for case in cases] == [
        ("301", "International organized crime"),
        ("302", "Poliomyelitis, and post-polio"),
    ]
    judged = trec.with_qrels(cases, trec.read_qrels(path), path)
    assert [case.relevance for case in judged] == [{"FT911-1": 2.0}, {"FT911-3": 1.0}]


def test_a_run_is_ranked_by_score_as_trec_eval_does(tmp_path: Path) -> None:
    assert trec.read_run(written(tmp_path, RUN)) == {"301": ["FT911-1", "FT911-2"], "302": ["FT911-9"]}


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    case = Case(id="1", question="Which\twing?", relevance={"a.md": 2.0}, relevant_docs=("b.md",))
    other = Case(id="2", question="Why?", relevant_docs=("b c.md",))

    assert trec.read_topics(written(tmp_path, trec.topic_lines([case])))[0].question == "Which wing?"
    assert trec.read_qrels(written(tmp_path, trec.qrel_lines([case, other]))) == {
        "1": {"a.md": 2.0},
        "2": {"b%20c.md": 1.0},
    }
    rankings = {"1": ["a.md", "b.md"], "2": ["c.md"]}
    assert trec.read_run(written(tmp_path, trec.run_lines(rankings))) == rankings


@pytest.mark.parametrize("line", ["301 0 FT911-1", "301 0 FT911-1 high", "301 0 FT911-1 nan", "301 0 a b 1"])
def test_a_wrong_judgement_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(BadCasesError, match="Line 2 of"):
        trec.read_qrels(written(tmp_path, f"301 0 x 1\n{line}\n"))
