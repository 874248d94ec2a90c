"""Name the emotion that speaks from each document, or none.

Flow: a text column -> **here**: words of a lexicon are counted, or the language model is asked -> a column of short
facts. The lexicon, for English, is a part of Empath's (`emotion_words.txt`; MIT, `emotion_words.LICENSE`), whose
package has had no release since 2016.
"""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from errors import LLMError
from index.lexical.language import question_language
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, parameter
from pipelines.services import Services
from pipelines.state import PipelineState
from pipelines.step import RowStep
from pipelines.steps.language_model import ModelCalls, check_model
from pipelines.steps.lemmatizing import dictionary_form
from query_engine.llms.helper import PromptHelper
from query_engine.runtime.deadline import Deadline

EMOTIONS = ("sadness", "joy", "love", "anger", "fear", "surprise")
LEXICON = Path(__file__).with_name("emotion_words.txt")
NONE = "none"
# The least count of an emotion's words, and their least share of all words, for it to be named.
LEAST_WORDS, LEAST_SHARE = 1.0, 0.02
# As much as the classifier could read for which this step stands in mosaicRAG.
MOST_WORDS = 400
MOST_TOKENS = 512
TRIES = 3
_WORD = re.compile(r"[a-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")

PROMPT = """Which emotion speaks from the text between the lines? Answer with one word of these, and nothing else: \
{emotions}.
---
{text}
---
The emotion:"""


class EmotionStep(RowStep):
    """Names the emotion."""

    id = "basic_sentiment_analysis"
    name = "Basic Sentiment Analyser"
    category = "Metadata Analysis"
    description = (
        "Names the emotion of each document: sadness, joy, love, anger, fear, surprise, or none. By Empath's lexicon "
        "(English, MIT licence), or by the service's language model."
    )
    roles = ("chip",)

    class Parameters(RowStep.Parameters):
        """How, and where it writes."""

        output_column: ColumnName = parameter("sentiment", "Output column", "Column that is added.", column="writes")
        method: Literal["lexicon", "model"] = parameter(
            "lexicon", "Method", "Words of a lexicon, English only; or the language model, where the service has one."
        )

    def check(self, services: Services) -> None:
        """Refuse the model where there is none."""
        if self.given.method == "model":
            check_model(services, "")

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column; texts of which nothing can be said are a warning."""
        named = super().transform(state, handler)
        left = sum(value is None for value in named.values(self.given.output_column))
        if left:
            why = "they are not English" if self.given.method == "lexicon" else "the model named none of the emotions"
            handler.warn(f"Of {left} of {state.count} texts no emotion can be told: {why}.")
        return named

    def fingerprint(self, handler: StepHandler) -> str:
        """Name the language model, where it is asked."""
        model = handler.services.model() if self.given.method == "model" else None
        return model.label if model else ""

    def transform_rows(self, rows: list[Any], state: PipelineState, handler: StepHandler) -> Iterable[str | None]:  # noqa: ARG002
        """Yield an emotion, `none`, or nothing where it cannot be told."""
        if self.given.method == "lexicon":
            yield from map(by_lexicon, rows)
            return
        calls = ModelCalls(handler)
        yield from (by_model(calls.helper, text, calls.deadline()) if text.strip() else NONE for text in rows)


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


def by_model(helper: PromptHelper, text: str, deadline: Deadline) -> str | None:
    """Return the emotion that the language model names; None if it names none of them in three tries.

    Raises:
        LLMError: the model failed at every try.
        OutOfTimeError: the deadline passed.
    """
    emotions = [*EMOTIONS, NONE]
    room = min(MOST_TOKENS, helper.prompt_tokens - helper.tokens(PROMPT))
    prompt = PROMPT.format(emotions=", ".join(emotions), text=helper.quoted(text, max(1, room)))
    failure: LLMError | None = None
    for _ in range(TRIES):
        try:
            said = helper.ask(prompt, deadline, one_line=True)
        except LLMError as error:
            failure = error
            continue
        failure = None
        named = [word for word in _WORD.findall(said.lower()) if word in emotions]
        if len(set(named)) == 1:
            return str(named[0])
    if failure is not None:
        raise failure
    return None


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
