"""RAGAS's metrics by a judge whose judgements are known: exact scores, and what bad replies leave of them."""

import json
import os
import re
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
import requests

from eval.cases import Case
from eval.cells import Cell, mean
from eval.rows import Row, Seen
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge
from eval.scoring.judged.scorer import JudgedScorer
from eval.scoring.ragas_metrics import ragas_scorer
from settings import JudgeSettings
from tests.failing import failing
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.servers.scripted_judge import judgement, schema_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM

NAMES = list(names_of("ragas"))
QUESTION = "Who built the mill?"
CASE = Case(id="1", question=QUESTION, answer="Ada built the mill. It stands in Kent")
PASSAGES = ("Ada built the mill", "Nothing of it", "Ada built the mill. It stands in Kent")
ANSWER = "Ada built the mill. It is blue. It has sails"
"""One of three statements is supported and right; one of the reference's two is said."""


def row(id_: str = "1", answer: str = ANSWER, *, passages: tuple[str, ...] = PASSAGES) -> Row:
    return Row(id=id_, outcome="answered", answer=answer, passages=tuple(Seen(text=text) for text in passages))


def judge_of(server: ScriptedLLM, cache: Path, **given: object) -> Judge:
    settings = JudgeSettings.model_validate({"base_url": server.base_url, "model": "m", "cache_dir": cache, **given})
    return Judge(settings)


def scorer_of(judge: Judge) -> JudgedScorer:
    return ragas_scorer(judge, lambda: WordHashEmbedding(model_name="words"))


def cells_of(scorer: JudgedScorer, *pairs: tuple[Case, Row], repeat: int = 0) -> dict[str, dict[str, Cell]]:
    return {id_: cells for id_, cells in scorer.score(pairs, repeat)}


def cosine(one: str, other: str) -> float:
    return float(np.dot(word_vector(one), word_vector(other)))


def test_every_score_is_the_one_that_follows_from_the_judgements(server: ScriptedLLM, tmp_path: Path) -> None:
    judge = judge_of(server, tmp_path)
    told: list[str] = []
    judge.tell = told.append

    cells = cells_of(scorer_of(judge), (CASE, row()))["1"]

    assert told == ["ragas: 1 row to judge, at most 16 questions to the judge"]
    assert judge.tally.replies + judge.tally.remembered == 16
    assert CASE.answer
    assert list(cells) == NAMES
    assert {name: cell.score for name, cell in cells.items()} == pytest.approx(
        {
            "faithfulness": 1 / 3,
            "answer_relevancy": cosine(QUESTION, f"What about {ANSWER}"),
            "context_precision": 1 / 3,  # only the third passage holds the whole reference
            "context_recall": 1.0,
            "answer_correctness": 0.75 * 0.4 + 0.25 * cosine(ANSWER, CASE.answer),
            "factual_correctness": 0.4,
        }
    )


def test_a_cell_that_the_row_or_the_case_does_not_allow_asks_nothing(server: ScriptedLLM, tmp_path: Path) -> None:
    declined = Row(id="2", outcome="declined", answer="I don't know.", passages=(Seen(text="Nothing of it"),))
    failed = Row(id="3", outcome="failed", answer=None, reason="HTTP 500")
    unanswerable = Case.model_validate({"id": "4", "question": "?", "answer": None})
    unknown = Case(id="5", question=QUESTION)

    cells = cells_of(
        scorer_of(judge_of(server, tmp_path)),
        (CASE.model_copy(update={"id": "2"}), declined),
        (CASE.model_copy(update={"id": "3"}), failed),
        (unanswerable, row("4")),
        (unknown, row("5", passages=())),
    )

    assert {name: cell.not_applicable for name, cell in cells["2"].items() if cell.score is None} == dict.fromkeys(
        ("faithfulness", "answer_relevancy", "answer_correctness", "factual_correctness"), "the service declined"
    )
    assert (cells["2"]["context_recall"].score, cells["2"]["context_precision"].score) == (0, 0)
    assert {cell.failed for cell in cells["3"].values()} == {"no reply: HTTP 500"}
    assert {cell.not_applicable for cell in cells["4"].values()} == {"the corpus does not answer the question"}
    assert {name: cell.not_applicable for name, cell in cells["5"].items() if cell.score is None} == {
        "faithfulness": "the service reports no passages",
        **dict.fromkeys(NAMES[2:], "the case has no reference answer"),
    }
    assert {schema_of(request) for request in server.requests} == {
        "ContextPrecisionOutput",
        "ContextRecallOutput",
        "AnswerRelevanceOutput",
    }


def test_the_judge_compares_with_the_answer_alone_whether_it_holds_a_word_or_not(
    server: ScriptedLLM, tmp_path: Path
) -> None:
    others = Case(id="1", question=QUESTION, alternatives=("Ada",))
    symbol = Case(id="2", question="Which operator increments?", answer="++")

    cells = cells_of(scorer_of(judge_of(server, tmp_path)), (others, row("1")), (symbol, row("2")))

    assert cells["1"]["answer_correctness"].not_applicable == "the case has no reference answer"
    assert cells["2"]["answer_correctness"].score is not None


@pytest.mark.fault("F2")
def test_junk_on_a_fifth_of_the_rows_changes_the_coverage_and_not_the_mean_of_the_rest(tmp_path: Path) -> None:
    pairs = [(CASE.model_copy(update={"id": str(n)}), row(str(n), f"{ANSWER}. Row {n}")) for n in range(10)]

    def junk_for_two(request: Request) -> str:
        said = json.dumps(request)
        return "Certainly! I think so." if "Row 3" in said or "Row 7" in said else judgement(request)

    with ScriptedLLM(Script(text=junk_for_two)) as server:
        cells = cells_of(scorer_of(judge_of(server, tmp_path)), *pairs)

    means = {name: mean(row_cells[name] for row_cells in cells.values()) for name in NAMES}
    assert (means["faithfulness"].n, means["faithfulness"].of) == (8, 10)
    assert means["faithfulness"].value == pytest.approx(1 / 4)
    assert (means["context_recall"].n, means["context_recall"].of) == (10, 10)
    assert means["factual_correctness"].value == pytest.approx(0.33)
    assert cells["3"]["faithfulness"].failed == "The judge's reply is not a JSON object: 'Certainly! I think so.'."


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("It is faithful, I would say.", "not a JSON object"),
        ('{"statements": [{"statement": "a", "reason": "b", "verdict": NaN}]}', "not a JSON object"),
        ('{"statements": [{"statement": "a", "reason": "b", "verdict": 7}]}', "verdict 7 is neither 0 nor 1"),
        ('{"statements": [{"statement": "a", "reason": "b", "verdict": 0.5}]}', "not what was asked for .*verdict"),
        ('{"statements": []}', "judges nothing"),
        ('{"answer": 1}', "not what was asked for .*statements.*Field required"),
        ("", "reply is empty"),
        ("[" * 100_000, "not a JSON object"),
    ],
    ids=["prose", "NaN", "out of range", "half", "nothing", "another shape", "empty", "deeply nested"],
)
def test_a_reply_that_is_no_judgement_fails_its_cell_and_is_asked_for_again(
    reply: str, why: str, tmp_path: Path
) -> None:
    def judge_badly(request: Request) -> str:
        return reply if schema_of(request) == "NLIStatementOutput" else judgement(request)

    with ScriptedLLM(Script(text=judge_badly)) as server:
        judge = judge_of(server, tmp_path)
        cells = cells_of(scorer_of(judge), (CASE, row()))["1"]
        assert judge.tally.failed == 2  # both metrics that ask for verdicts
        server.play(Script(text=judgement))
        asked = len(server.requests)
        mended = cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row()))["1"]

    assert cells["faithfulness"].failed is not None
    assert pytest.approx(1 / 3) == cells["context_precision"].score
    assert re.search(why, cells["faithfulness"].failed)
    assert mended["faithfulness"].score == pytest.approx(1 / 3)
    assert {schema_of(request) for request in server.requests[asked:]} == {
        "NLIStatementOutput",
        "ClaimDecompositionOutput",
    }


@pytest.mark.parametrize(
    "wrapped",
    ["```json\n{}\n```", "<think>Is {this} it?</think>\n{}", "Here it is: {} I hope it helps."],
    ids=["fence", "reasoning", "words around it"],
)
def test_a_judgement_is_found_within_what_models_put_around_it(wrapped: str, tmp_path: Path) -> None:
    def wrap(request: Request) -> str:
        return wrapped.replace("{}", judgement(request))

    with ScriptedLLM(Script(text=wrap)) as server:
        cells = cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row()))["1"]

    assert cells["faithfulness"].score == pytest.approx(1 / 3)


def test_an_answer_that_commits_to_nothing_is_not_relevant(server: ScriptedLLM, tmp_path: Path) -> None:
    cells = cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row(answer="nobody knows")))["1"]

    assert cells["answer_relevancy"].score == 0


def test_what_was_asked_once_is_remembered_but_not_by_a_repeat(server: ScriptedLLM, tmp_path: Path) -> None:
    first = cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row()))
    asked = len(server.requests)
    judge = judge_of(server, tmp_path)

    again = cells_of(scorer_of(judge), (CASE, row()))
    assert len(server.requests) == asked
    assert (judge.tally.replies, judge.tally.remembered) == (0, asked + 1)  # two metrics ask for the same statements
    repeated = cells_of(scorer_of(judge), (CASE, row()), repeat=1)

    assert first == again == repeated
    assert len(server.requests) == 2 * asked
    relevance = [request for request in server.requests if schema_of(request) == "AnswerRelevanceOutput"]
    assert len(relevance) == 2 * 3  # RAGAS takes three samples


def test_a_damaged_file_of_the_cache_is_asked_for_again(server: ScriptedLLM, tmp_path: Path) -> None:
    first = cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row()))
    for number, file in enumerate(sorted(tmp_path.rglob("*.json"))):
        file.write_bytes([b"", b'{"text": "x', b"\xff"][number % 3])

    assert cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row())) == first


def test_nothing_is_reported_and_no_connection_leaves_this_machine(
    server: ScriptedLLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    connect = socket.socket.connect

    def watch(self: socket.socket, address: tuple[str, int]) -> None:
        asked.append(address[0])
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", watch)
    monkeypatch.setattr(requests.Session, "request", lambda *_, **__: pytest.fail("something was reported"))

    cells_of(scorer_of(judge_of(server, tmp_path)), (CASE, row()))

    assert set(asked) == {"127.0.0.1"}
    assert os.environ["RAGAS_DO_NOT_TRACK"] == "true"


def test_without_ragas_the_way_to_get_it_is_told(
    server: ScriptedLLM, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ragas", None)

    with failing("ragas_missing", match=r"not installed\. Install it: pip install -e '\.\[eval\]'"):
        scorer_of(judge_of(server, tmp_path))
