"""Name the emotion that speaks from each document, or none.

Flow: a text column -> **here**: words of a lexicon are counted -> a column of short facts. The lexicon, for
English, is a part of Empath's (`emotion_words.txt`; MIT, `emotion_words.LICENSE`), whose package has had no release
since 2016.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from index.lexical.language import question_language
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, parameter
from pipelines.state import PipelineState
from pipelines.step import RowStep
from pipelines.steps.lemmatizing import dictionary_form

EMOTIONS = ("sadness", "joy", "love", "anger", "fear", "surprise")
LEXICON = Path(__file__).with_name("emotion_words.txt")
NONE = "none"
# The least count of an emotion's words, and their least share of all words, for it to be named.
LEAST_WORDS, LEAST_SHARE = 1.0, 0.02
# As much as the classifier could read for which this step stands in mosaicRAG.
MOST_WORDS = 400
_WORD = re.compile(r"[a-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")


class EmotionStep(RowStep):
    """Names the emotion."""

    id = "basic_sentiment_analysis"
    name = "Basic Sentiment Analyser"
    category = "Metadata Analysis"
    description = (
        "Names the emotion of each document: sadness, joy, love, anger, fear, surprise, or none. By Empath's lexicon "
        "(English, MIT licence)."
    )
    roles = ("chip",)

    class Parameters(RowStep.Parameters):
        """Where it writes."""

        output_column: ColumnName = parameter("sentiment", "Output column", "Column that is added.", column="writes")

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column; texts of which nothing can be said are a warning."""
        named = super().transform(state, handler)
        left = sum(value is None for value in named.values(self.given.output_column))
        if left:
            handler.warn(f"Of {left} of {state.count} texts no emotion can be told: they are not English.")
        return named

    def transform_row(self, text: Any, state: PipelineState, handler: StepHandler) -> str | None:  # noqa: ARG002
        """Return an emotion, `none`, or nothing where it cannot be told."""
        return by_lexicon(text)


def by_lexicon(text: str) -> str | None:
    """Return the emotion that most words speak of; `none` if hardly any do, None for a text that is not English."""
    words = _WORD.findall(text.lower())[:MOST_WORDS]
    if _LETTERS.search(text) and (not words or question_language(text) != "en"):
        return None
    lexicon, votes = _lexicon(), dict.fromkeys(EMOTIONS, 0.0)
    for word in words:
        emotions = lexicon.get(word) or lexicon.get(dictionary_form(word, "en")) or ()
        for emotion in emotions:
            # A word of two emotions says half as much of each.
            votes[emotion] += 1 / len(emotions)
    second, first = sorted(votes, key=votes.__getitem__)[-2:]
    sure = votes[first] > votes[second] and votes[first] >= max(LEAST_WORDS, LEAST_SHARE * len(words))
    return first if sure else NONE


@cache
def _lexicon() -> dict[str, tuple[str, ...]]:
    """Return the emotions of each word."""
    found: dict[str, tuple[str, ...]] = {}
    emotion = ""
    for entry in LEXICON.read_text(encoding="utf-8").split():
        if entry.endswith(":"):
            emotion = entry[:-1]
        else:
            found[entry] = (*found.get(entry, ()), emotion)
    return found
