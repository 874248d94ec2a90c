"""The ways in which a server of an embedding model or a reranker fails, in words: a fact and a remedy.

Flow: `index/embedding/openai_server.py` and `query_engine/retrieval/reranking/server.py` recognise the failure ->
**here** -> a `ModelError`. Language models have words of their own in `query_engine/llms/server_errors.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from errors import ModelError, ModelServerError

SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True)
class ModelServer:
    """One server, as its failures name it.

    Attributes:
        name: what it is, for example `embedding server`.
        url: its base URL.
        variables: prefix of its settings, for example `RAG_EMBED__`.
        key: its API key, which no error shows; empty if it has none.
    """

    name: str
    url: str
    variables: str
    key: str = ""

    def unreachable(self) -> ModelServerError:
        """No connection, or one that was cut before the reply was complete."""
        return ModelServerError(
            f"The {self.name} {self.url} does not answer.",
            f"Start it, or correct {self.variables}BASE_URL; nothing is damaged.",
        )

    def too_slow(self, limit_s: float) -> ModelServerError:
        """Nothing, or not the whole reply, within the limit."""
        return ModelServerError(
            f"The {self.name} {self.url} did not answer within {limit_s:.3g} s.",
            f"Look whether it is overloaded, lower {self.variables}BATCH_TEXTS, or raise {self.variables}TIMEOUT_S.",
        )

    def refused(self, status: int, said: str, pause_s: float | None = None) -> ModelError:
        """It answered with an error status; `said` are its own words, `pause_s` what its `Retry-After` says."""
        match status:
            case 401 | 403:  # its own words may repeat the key
                return ModelError(
                    f"The {self.name} {self.url} refused the key (HTTP {status}).", f"Set {self.variables}API_KEY."
                )
            case 404:
                return ModelError(
                    f"The {self.name} {self.url} knows no such model or address (HTTP 404){self._quoted(said)}.",
                    f"Check {self.variables}MODEL and {self.variables}BASE_URL.",
                )
            case 408 | 429:
                asked = "" if pause_s is None else f" and asks to wait {pause_s:g} s"
                return ModelServerError(
                    f"The {self.name} {self.url} takes no more requests for now (HTTP {status}){asked}.",
                    "Wait, or raise the server's limits.",
                    pause_s,
                )
            case _ if status >= 500:
                return ModelServerError(
                    f"The {self.name} {self.url} failed (HTTP {status}){self._quoted(said)}.",
                    "Look at the server's log, then try again.",
                    pause_s,
                )
            case _:
                return ModelError(
                    f"The {self.name} {self.url} rejected the request (HTTP {status}){self._quoted(said)}.",
                    f"Check {self.variables}MODEL, and the server's limits against {self.variables}BATCH_TEXTS.",
                )

    def garbage(self, what: str) -> ModelError:
        """It answered with success, but `what` the reply holds cannot be used."""
        return ModelError(
            f"The {self.name} {self.url} answered with {what}.",
            f"Check {self.variables}BASE_URL and {self.variables}MODEL, and the server's log.",
        )

    def _quoted(self, said: str) -> str:
        if self.key:
            said = said.replace(self.key, "…")
        words = " ".join(re.sub(r"[\x00-\x1f\x7f]", " ", said).split())[:SHOWN_CHARS].rstrip(".")
        return f": {words}" if words else ""


def asked_pause_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of a reply's `Retry-After`; None if it has none, or a date."""
    asked = headers.get("retry-after", "")
    return float(asked) if asked.isdecimal() else None


def said_by(body: object) -> str:
    """Return the message of an error body, in any of the forms that servers use; empty if there is none."""
    if not isinstance(body, dict):
        return ""
    error = body.get("error", body)
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail")
    return error if isinstance(error, str) else ""
