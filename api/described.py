"""What `/openapi.json` says of replies beyond the models of the routes: failures, and types that are not JSON.

`app.py` puts `FAILURES` on every route and `KEY_REFUSED` on those behind a key; a route names its own types by `typed`.
"""

from typing import Any

from api.errors import ErrorDetail

Responses = dict[int | str, dict[str, Any]]

_ERROR = {"type": "object", "properties": {"error": ErrorDetail.model_json_schema()}, "required": ["error"]}
_OPENAI_ERROR = {"type": "object", "properties": {"error": {"type": "object"}}, "required": ["error"]}
_PAGE = {"text/html": {"schema": {"type": "string"}}}
_OF_FAILURE = {"application/json": {"schema": _ERROR}, **_PAGE}

FAILURES: Responses = {
    "default": {
        "description": "A failure, as a page for browsers. 404: there is no such thing; 413: the body is too large; "
        "422: a value is refused; 409, 429, 503: not now, often with Retry-After.",
        "content": _OF_FAILURE,
    }
}
KEY_REFUSED: Responses = {
    401: {"description": "The key is missing or wrong.", "content": _OF_FAILURE},
    403: {"description": "The host, the web page or the path may not.", "content": _OF_FAILURE},
}
OPENAI_FAILURES: Responses = {
    "default": {
        "description": "A failure in OpenAI's form.",
        "content": {"application/json": {"schema": _OPENAI_ERROR}},
    }
}
OPENAI_KEY_REFUSED: Responses = {
    status: {**told, "content": OPENAI_FAILURES["default"]["content"]} for status, told in KEY_REFUSED.items()
}


def typed(*media_types: str, status: int = 200, description: str = "Successful Response") -> Responses:
    """Return what a route replies beside the type of its response class.

    Args:
        media_types: of the body; none if it has none.
        status: of the reply.
        description: of the reply.
    """
    content: dict[str, Any] = {media_type: {} for media_type in media_types}
    return {status: {"description": description, **({"content": content} if content else {})}}
