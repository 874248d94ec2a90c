import math
from collections import Counter
from typing import Any

import pytest

from pipelines.row_cache import RowCache
from pipelines.state import PipelineState
from pipelines.steps.topics import topic_words
from tests.fakes.pipelines import an_engine, body_of, fake_services, run_body

WIND = ["Wind turbines turn in the wind.", "A wind turbine has blades.", "Blades of turbines catch the wind."]
SALT = ["Molten salt stores heat.", "Molten salt keeps heat at night."]
RAIN = ["Rain fills rivers."]


def over(texts: list[str], cache: RowCache | None = None, **parameters: Any) -> PipelineState:
    body = body_of("corpus_datasource", ("topic_modelling", parameters))
    return run_body(body, services=fake_services(an_engine(texts)), cache=cache)


def test_documents_about_one_thing_share_a_topic_that_its_words_name() -> None:
    state = over([WIND[0], SALT[0], WIND[1], RAIN[0], SALT[1], WIND[2]], topics=3)

    topics = state.values("topic")
    assert [topics.count(topic) for topic in topics] == [3, 2, 3, 1, 2, 3]
    assert set(topics[0].split(", ")) == {"wind", "turbines", "blades"}
    assert {"salt", "heat"} <= set(topics[1].split(", "))
    (row,) = state.aggregated
    lines = row["data"].splitlines()
    assert row["title"] == "Topics"
    assert lines[0].startswith(f"1. {topics[0]}: 3 documents. Words: ")
    assert lines[2].startswith(f"3. {topics[3]}: 1 document. Words: ")
    assert "chip" in state.roles["topic"]
    assert state.history[-1].warnings == ()


def test_the_same_table_gives_the_same_topics() -> None:
    texts = [*WIND, *SALT, *RAIN] * 3

    assert over(texts, topics=4).rows() == over(texts, topics=4).rows()


def test_fewer_documents_than_topics_is_a_warning() -> None:
    state = over([WIND[0], SALT[0], SALT[0]], topics=5)

    assert len(set(state.values("topic"))) == 2
    assert state.history[-1].warnings == ("5 topics were asked for, and there are 2 different texts: 2 at most.",)


def test_an_empty_text_has_no_topic_and_is_told() -> None:
    state = over([WIND[0], " ", SALT[0]], topics=2)

    assert [topic is None for topic in state.values("topic")] == [False, True, False]
    assert state.history[-1].warnings == ("1 of 3 documents have no text, and so no topic.",)


@pytest.mark.parametrize("texts", [[], [" ", ""]])
def test_no_texts_are_a_warning(texts: list[str]) -> None:
    state = over(texts)

    assert set(state.values("topic")) <= {None, ""}
    assert state.history[-1].warnings[-1] == "There are no texts to find topics in."
    assert state.aggregated == ({"title": "Topics", "data": ""},)


def test_texts_without_words_have_a_numbered_topic() -> None:
    state = over(["1919", "2023"], topics=2)

    assert state.values("topic") == ["(1)", "(2)"]


def test_words_are_weighed_by_share_and_rarity() -> None:
    texts = [Counter({"wind": 2, "heat": 2}), Counter({"heat": 3, "salt": 1})]
    mean = 4.0

    assert topic_words([[0], [1]], texts) == [["wind", "heat"], ["heat", "salt"]]
    assert 2 / 4 * math.log(1 + mean / 2) > 2 / 4 * math.log(1 + mean / 5)
    assert topic_words([[0, 1]], texts) == [["heat", "wind", "salt"]]


def test_vectors_are_kept() -> None:
    cache = RowCache(None, 1_000_000)

    over([*WIND, *SALT], cache, topics=2)
    again = over([*WIND, *SALT], cache, topics=3)

    assert again.history[-1].found == again.history[-1].looked_up == 5
