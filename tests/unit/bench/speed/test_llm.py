import pytest

from bench.speed.llm import Written, measure_model, table
from errors import LLMError
from query_engine.llms.base import LoadedModel
from tests.fakes.llm import FakeLLM
from tests.fakes.tables import plain_rows

TEXTS = [f"Note {number} tells of wind and water." for number in range(200)]


def a_model(*says: str) -> LoadedModel:
    return LoadedModel(FakeLLM(says=list(says)), "a model", lambda: 4096, lambda text: len(text.split()))


def test_each_prompt_is_as_long_as_wanted_and_begins_in_another_way() -> None:
    model = a_model("one ", "two ", "three")

    written = measure_model(model, TEXTS, prompt_tokens=100, repeats=3)

    assert all(90 <= one.prompt_tokens <= 100 and one.answer_tokens == 3 for one in written)
    assert len(written) == 3
    assert isinstance(model.llm, FakeLLM)
    prompts = [messages[-1].content or "" for messages in model.llm.asked]
    assert len(prompts) == 4  # the first one warms the model up
    assert len({prompt[:2] for prompt in prompts}) == 4


def test_a_prompt_longer_than_all_texts_holds_them_all() -> None:
    (written,) = measure_model(a_model("one"), ["A short note."], prompt_tokens=1000, repeats=1)

    assert written.prompt_tokens < 30
    assert written.tokens_per_s is None


def test_a_model_that_writes_nothing_is_told() -> None:
    with pytest.raises(LLMError, match="wrote nothing"):
        measure_model(a_model(""), TEXTS, prompt_tokens=100, repeats=1)


def test_the_table_shows_medians() -> None:
    written = [Written(750, 256, first, rate) for first, rate in ((1.0, 40.0), (3.0, None), (1.5, 60.0))]

    assert plain_rows(table("a model", written))[-1] == "| a model | 3 | 750 | 256 | 1.50 | 50 |"
