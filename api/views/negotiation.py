"""The two forms of a reply: JSON that can carry any text, and the choice of HTML for browsers; the header `Warning`.

Flow: a route's values -> **here** -> bytes.
"""

import json
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse

from api.schemas.replies.base import Reply

# Servers refuse long headers.
MAX_WARNING_CHARS = 1000


class JSONReply(JSONResponse):
    """JSON in UTF-8; a lone surrogate, which UTF-8 cannot hold, goes out as the JSON escape it came in as."""

    def render(self, content: Any) -> bytes:
        """Return the encoded body of a reply, or of other JSON-ready values."""
        return to_json(content.to_dict() if isinstance(content, Reply) else content)


def to_json(content: Any) -> bytes:
    """Return a value as JSON in UTF-8, as `JSONReply` sends it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Surrogates stand only inside JSON strings, where Python's `\\udXXX` is JSON's escape as well.
    return text.encode("utf-8", "backslashreplace")


def warning_header(warnings: Iterable[str]) -> dict[str, str]:
    """Return the header that tells what lowered the quality, or was not used; none where there is nothing to tell."""
    told = [" ".join(warning.split())[:MAX_WARNING_CHARS] for warning in warnings]
    # A header is ASCII. The warn code 299 of RFC 7234: of no particular kind, and to last.
    quoted = (one.encode("ascii", "replace").decode().replace("\\", "/").replace('"', "'") for one in told)
    return {"Warning": ", ".join(f'299 - "{one}"' for one in quoted)} if told else {}


def prefers_html(request: Request) -> bool:
    """Say whether the client names HTML and likes it at least as much as JSON; clients that name neither get JSON."""
    qualities = _qualities(request.headers.get("accept", ""))
    html = qualities.get("text/html", 0.0)
    return html > 0 and html >= qualities.get("application/json", 0.0)


def _qualities(accept: str) -> dict[str, float]:
    found = {}
    for part in accept.split(","):
        media_type, *parameters = (piece.strip().lower() for piece in part.split(";"))
        quality = next((p.removeprefix("q=") for p in parameters if p.startswith("q=")), "1")
        try:
            found[media_type] = float(quality)
        except ValueError:
            found[media_type] = 0.0
    return found
