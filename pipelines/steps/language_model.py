"""Ask the language model of the service from a step: which model, how long, and what counts as no reply.

Flow: `language_model_reranking.py`, `model_marking.py`, `model_summaries.py`, `emotion.py` -> **here** ->
`query_engine/llms/`, which bounds prompts and replies. A call ends when the task is cancelled. A model that fails fails
the step; a reply that says nothing of use is the step's to judge.
"""

from typing import Any

from errors import LLMError, PipelineError
from pipelines.handler import StepHandler
from pipelines.parameters import parameter
from pipelines.services import Services
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import PromptHelper
from query_engine.runtime.deadline import Deadline

SETTINGS = "RAG_LLM__PROVIDER or RAG_LLM__QUERY_MODEL"
# The model answered, and nothing of what it wrote is of use: no failure of the server.
NOTHING_OF_USE = frozenset({"llm_empty", "llm_reasoning", "llm_unsupported"})


def model_parameter() -> Any:
    """Declare which language model a step asks."""
    return parameter("", "LLM model", "The service's language model; empty stands for it.")


def check_model(services: Services, wanted: str) -> LoadedModel:
    """Return the language model of the service.

    Args:
        services: of the service.
        wanted: the model's name, which must be that of the loaded one; empty stands for it.

    Raises:
        PipelineError: there is none, or another one.
    """
    model = services.model()
    if model is None:
        raise PipelineError(
            "This service has no language model.", f"Start it with {SETTINGS} set, or leave the step out."
        )
    # A label is the name, a space, and the place.
    if wanted and wanted != model.label and not model.label.startswith(f"{wanted} "):
        raise PipelineError(
            f"The language model {wanted!r} is not loaded.",
            f"Leave `model` out to ask the one that is, or start the service with {SETTINGS} naming it.",
        )
    return model


def check_method(services: Services, method: str, wanted: str) -> None:
    """Refuse a method `model` without its model, and a model that another method would pass over.

    Raises:
        PipelineError: says which.
    """
    if method == "model":
        if services.model() is None:
            raise PipelineError(
                "This service has no language model.",
                f"Choose another `method`, or start the service with {SETTINGS} set.",
            )
        check_model(services, wanted)
    elif wanted:
        raise PipelineError(
            f"The method {method!r} asks no language model, yet `model` names {wanted!r}.",
            "Set `method` to `model`, or leave `model` out.",
        )


class ModelCalls:
    """The language model, as one step asks it.

    Args:
        handler: of the step.
        wanted: the parameter `model` of the step.

    Attributes:
        name: of the model and its place; part of the row cache's keys.
        helper: bounds what goes into a prompt.
    """

    def __init__(self, handler: StepHandler, wanted: str) -> None:
        model, self._settings = check_model(handler.services, wanted), handler.services.settings
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
