"""Emotions, by a lexicon."""

from typing import Any

import pytest

from errors import PipelineError
from pipelines.steps.emotion import EMOTIONS, _lexicon, by_lexicon
from tests.fakes.pipelines import run_step

ANGRY = "He was furious and shouted at the clerk; the outrage made everyone angry."


@pytest.mark.parametrize(
    ("text", "emotion"),
    [
        (ANGRY, "anger"),
        ("She cried for days after the funeral and felt lonely and miserable.", "sadness"),
        ("They were terrified of the storm and hid, trembling and afraid.", "fear"),
        ("He loves her dearly, adores her and kissed her with tender affection.", "love"),
        ("We were astonished and amazed: nobody expected this shocking news.", "surprise"),
        ("The team celebrated happily after the glorious win; fans were smiling, cheerful and full of joy.", "joy"),
        ("Wind turbines convert kinetic energy into electricity.", "none"),
        ("The happy machine " + "turns the blades of the wind turbine " * 20, "none"),
        ("", "none"),
        ("1919", "none"),
        ("Er war wütend und die Leute waren auch nicht froh.", None),
        ("これは風です。", None),
    ],
)
def test_the_lexicon_names_what_most_words_speak_of(text: str, emotion: str | None) -> None:
    assert by_lexicon(text) == emotion


def test_every_emotion_has_words() -> None:
    named = {emotion for emotions in _lexicon().values() for emotion in emotions}
    assert named == set(EMOTIONS)


def test_emotions_are_a_chip_and_other_languages_a_warning() -> None:
    state = run_step([ANGRY, "Der Wind und die Sonne sind nicht das Salz."], "basic_sentiment_analysis")

    assert state.values("sentiment") == ["anger", None]
    assert state.roles["sentiment"] == ("chip",)
    assert state.history[-1].warnings == ("Of 1 of 2 texts no emotion can be told: they are not English.",)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"input_column": "summary"}, "reads column 'summary'"),
        ({"output": "x"}, "nearest known one is 'output_column'"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(PipelineError, match=told):
        run_step([ANGRY], ("basic_sentiment_analysis", given))
