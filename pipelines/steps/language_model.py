"""Ask the language model of the service from a step: which model, how long, and what counts as no reply.

Without a language model, or with another one than it names, a step goes on by other means, and warns.

Flow: `language_model_reranking.py`, `model_marking.py`, `model_summaries.py` -> **here** -> `query_engine/llms/`, which
bounds prompts and replies. A call ends when the task is cancelled. A model that fails fails the step; a reply that says
nothing of use is the step's to judge.
"""

from pathlib import Path
from typing import Any

from errors import LLMError
from pipelines.handler import StepHandler
from pipelines.parameters import parameter
from pipelines.services import Services
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.runtime.deadline import Deadline
from query_engine.synthesis.build import EXTRACTIVE, QUOTES

# The model answered, and nothing of what it wrote is of use: no failure of the server.
NOTHING_OF_USE = frozenset({"llm_empty", "llm_reasoning"})


def model_parameter() -> Any:
    """Declare which language model a step asks."""
    return parameter(
        "",
        "LLM model",
        "The service's language model, by its name; empty stands for it. Another name: the step goes on without a "
        "language model and warns.",
    )


def has_model(handler: StepHandler, wanted: str, instead: str) -> bool:
    """Say whether the step asks the language model; where it cannot, a warning says what is done instead.

    Args:
        handler: of the step.
        wanted: the parameter `model`; empty stands for the model that is there.
        instead: what the step does without one, as a sentence.
    """
    if _is_served(handler.services.model(), wanted):
        return True
    handler.warn(f"{_unserved(handler.services, wanted)} {instead}")
    return False


def asks_model(given: Any) -> bool:
    """Say whether the parameters of a step that also works without a language model want one.

    They do where `model` or `summarize_prompt` is set, as clients of mosaicRAG write it, unless `model` names quotes.
    """
    told = given.model or getattr(given, "summarize_prompt", "")
    return bool(told) and given.model not in {QUOTES, EXTRACTIVE}


def _is_served(model: LoadedModel | None, wanted: str) -> bool:
    if model is None or not wanted:
        return model is not None
    # A label is the name, ` at ` or ` on `, and the place.
    name = model.label.rpartition(" at ")[0] or model.label.rpartition(" on ")[0]
    return wanted in {model.label, name, Path(name).name}


def _unserved(services: Services, wanted: str) -> str:
    model = services.model()
    there = "the service has no language model" if model is None else f"the language model is {model.label!r}"
    return f"The model {wanted!r} is not served: {there}." if wanted else "The service has no language model."


class ModelCalls:
    """The language model, as one step asks it; see `has_model`.

    Args:
        handler: of the step.

    Attributes:
        model: as it was loaded.
        name: of the model and its place; part of the row cache's keys.
        helper: bounds what goes into a prompt.
    """

    def __init__(self, handler: StepHandler) -> None:
        model, self._settings = handler.services.model(), handler.services.settings
        assert model is not None, "`has_model` is asked first"
        self.model = model
        self._stop = handler.stop
        self.name = model.label
        self.helper = PromptHelper(model, self._settings.llm.max_new_tokens)

    def deadline(self) -> Deadline:
        """Return the time limit of the call that begins now: that of an answer."""
        return Deadline(self._settings.answer.deadline_s, stop=self._stop)

    def ask(self, prompt: str, *, one_line: bool = False) -> str:
        """Return the model's reply; empty where it wrote nothing of use.

        Raises:
            LLMError: the model failed.
            OutOfTimeError: the call took too long, or the task was cancelled.
        """
        try:
            return self.helper.ask(prompt, self.deadline(), one_line=one_line)
        except LLMError as error:
            if error.code in NOTHING_OF_USE:
                return ""
            raise
