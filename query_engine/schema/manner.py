"""How a client wants a language model to write. A pure value; quotes are written without it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manner:
    """What a client asks of the writing; what it leaves out is left to the settings.

    Attributes:
        instructions: stand beside those of the prompt; of long ones the beginning.
        max_tokens: of the answer, at least 1; `RAG_LLM__MAX_NEW_TOKENS` remains the most.
        temperature: 0 to 2.
    """

    instructions: str = ""
    max_tokens: int | None = None
    temperature: float | None = None

    def sampling(self) -> dict[str, float]:
        """Return the arguments that the models' `stream_chat` takes for it; none for what is left to the settings."""
        wished = {"max_tokens": self.max_tokens, "temperature": self.temperature}
        return {name: value for name, value in wished.items() if value is not None}


AS_SET = Manner()
"""Nothing is asked for."""
