from typing import Any

import pytest

from pipelines.running import FailedStepError
from tests.fakes.pipelines import Noting, an_engine, body_of, fake_services, run_body

TEXTS = [
    "Wind turbines have blades of glass fibre. The turbines turn.",
    "Turbines of the sea have long blades.",
    "Salt stores the heat of the sun, and of the sun alone.",
]


def enhanced(texts: list[str], *steps: Any, watcher: Noting | None = None) -> Any:
    services = fake_services(an_engine(texts))
    return run_body(body_of("corpus_datasource", *steps, query="What about wind?"), services=services, watcher=watcher)


def test_feedback_adds_the_words_of_the_first_documents_without_a_model() -> None:
    watcher = Noting()

    state = enhanced(TEXTS, ("query_enhancement", {"documents": 2, "words": 2}), watcher=watcher)

    assert state.query == "What about wind? turbines blades"
    assert watcher.lines == ["The query is now: What about wind? turbines blades"]
    assert state.enhancements == ()
    assert state.history[-1].warnings == ()


def test_the_steps_that_follow_ask_the_widened_query() -> None:
    texts = ["Wind blows from the sea.", "Sailors love the sea.", "The sea is cold for sailors in wind."]

    plain = enhanced(texts, "tf_idf_reranker")
    widened = enhanced(texts, ("query_enhancement", {"documents": 1}), "tf_idf_reranker")

    assert plain.values("score_2_cosine")[-1] == 0
    assert min(widened.values("score_3_cosine")) > 0


def test_documents_that_say_nothing_new_leave_the_query_with_a_warning() -> None:
    state = enhanced(["Wind.", "", "The wind of 1919."], "query_enhancement")

    assert state.query == "What about wind?"
    assert "no words that the query lacks" in state.history[-1].warnings[0]


def test_a_column_that_is_not_there_fails_the_step() -> None:
    with pytest.raises(FailedStepError, match="There is no column 'text'"):
        enhanced(TEXTS, ("query_enhancement", {"input_column": "text"}))
