"""Errors as OpenAI's clients read them: `{"error": {"message", "type", "param", "code"}}`.

Flow: `errors.py`, for every address below `/v1/` -> **here** -> JSON. A body that cannot be used is a 400 there, and a
corpus that does not exist is a model that does not exist.
"""

from typing import Any

PREFIX = "/v1/"
CODES = {
    "unknown_corpus": "model_not_found",
    "too_many_questions": "rate_limit_exceeded",
    "too_many_requests": "rate_limit_exceeded",
    "key_needed": "invalid_api_key",
}
TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
FIRST_SERVER_ERROR = 500


def status_of(status: int) -> int:
    """Return the status that OpenAI's API has for what this service says elsewhere with `status`."""
    return 400 if status == 422 else status


def to_error(status: int, message: str, code: str, param: str | None = None) -> dict[str, Any]:
    """Return the body of an error.

    Args:
        status: of HTTP, as `status_of` returns it; 200 for an error within a stream.
        message: for people.
        code: this service's own.
        param: the field it is about.
    """
    server_side = status >= FIRST_SERVER_ERROR or status == 200
    kind = "server_error" if server_side else TYPES.get(status, "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": CODES.get(code, code)}}
