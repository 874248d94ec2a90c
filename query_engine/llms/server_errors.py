"""The words for each way a stream fails: a fact, a remedy and a code that warnings carry. Refusals are `remote.py`'s.

Flow: `openai.py` recognises the failure -> **here** -> an `LLMError`. Pure.
"""

from errors import LLMError
from remote import SHOWN_CHARS


def garbage() -> LLMError:
    """The reply is JSON or HTML of another kind."""
    return LLMError(
        "The language model server sent something that is not a chat completion stream.",
        "Check that RAG_LLM__BASE_URL points at an OpenAI-compatible server and ends in /v1.",
        code="llm_wrong_type",
    )


def broken() -> LLMError:
    """A line of the stream cannot be parsed."""
    return LLMError(
        "The language model server sent broken JSON, which is not a chat completion stream.",
        "Look at the server's log, and at proxies before it.",
        code="llm_bad_json",
    )


def cut(received: int) -> LLMError:
    """The connection ended before the answer had; `received` pieces had come."""
    where = "in the middle of the answer" if received else "before the first word"
    return LLMError(
        f"The language model server ended its stream {where}.", "Look at the server's log, then retry.", code="llm_cut"
    )


def endless(what: str, code: str) -> LLMError:
    """More was sent than can belong to the answer."""
    remedy = "Look at the server: it does not keep to the limit."
    return LLMError(f"The language model server sent {what}.", remedy, code=code)


def stalled(timeout_s: float, received: int) -> LLMError:
    """Nothing came for `timeout_s`; `received` pieces had come before."""
    what = "no further token" if received else "no token"
    return LLMError(
        f"The language model server sent {what} for {timeout_s:g} s.",
        "Look whether it is overloaded, or raise RAG_LLM__TIMEOUT_S.",
        code="llm_stalled" if received else "llm_slow",
    )


def reported(message: str) -> LLMError:
    """The stream itself told of an error."""
    shown = " ".join(message.split())[:SHOWN_CHARS].rstrip(".")
    return LLMError(
        f"The language model server reported an error while it answered: {shown}.",
        "Look at the server's log, then retry.",
        code="llm_reported",
    )
