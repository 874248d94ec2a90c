"""The words for each way a model server fails: a fact, a remedy and a code that warnings carry.

Flow: `openai.py` recognises the failure -> **here** -> an `LLMError`. Pure.
"""

from errors import LLMError


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


def refused(status: int, said: str) -> LLMError:
    """The server answered with an error status and the words `said`."""
    match status:
        case 401 | 403:
            # The server's own words may repeat the key.
            return LLMError(
                f"The language model server refused the key (HTTP {status}).",
                "Set RAG_LLM__API_KEY.",
                code="llm_key_refused",
            )
        case 404:
            return LLMError(
                "The language model server does not know the model or the address (HTTP 404).",
                "Check RAG_LLM__MODEL, and that RAG_LLM__BASE_URL ends in /v1.",
                code="llm_not_found",
            )
        case 429:
            return LLMError(
                "The language model server takes no more requests for now (HTTP 429).",
                "Wait, or raise the server's limits.",
                code="llm_busy",
            )
        case 503:
            return LLMError(
                "The language model server is not available for now (HTTP 503).",
                "Wait until it has loaded its model, or start another one.",
                code="llm_unavailable",
            )
        case _ if status >= 500:
            return LLMError(
                f"The language model server failed (HTTP {status}).",
                "Look at the server's log, then retry.",
                code="llm_server_error",
            )
        case _:
            return LLMError(
                f"The language model server rejected the request (HTTP {status}): {_short(said)}.",
                "Check RAG_LLM__MODEL, RAG_LLM__CONTEXT_TOKENS and RAG_LLM__MAX_NEW_TOKENS against the server.",
                code="llm_rejected",
            )


def _short(message: str) -> str:
    return " ".join(message.split())[:200].rstrip(".")


def unreachable() -> LLMError:
    """No connection, after all tries."""
    return LLMError(
        "The language model server cannot be reached.",
        "Start it, or correct RAG_LLM__BASE_URL.",
        code="llm_unreachable",
    )


def reported(message: str) -> LLMError:
    """The stream itself told of an error."""
    return LLMError(
        f"The language model server reported an error while it answered: {_short(message)}.",
        "Look at the server's log, then retry.",
        code="llm_reported",
    )
