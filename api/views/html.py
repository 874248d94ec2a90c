"""Render the few HTML pages: a document with the cited span marked, and errors for people in a browser.

Flow: a stored document -> **here** -> HTML. What is shown is the routes' business.

Documents come from anywhere, so a page can run nothing: every value is escaped, there are no scripts, and the content
security policy allows only this module's own style sheet, by its hash.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

_FOLDER = Path(__file__).parent / "templates"


class Pages:
    """The page templates, loaded once."""

    def __init__(self) -> None:
        style = (_FOLDER / "style.css").read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self._templates = Environment(
            loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._templates.globals["style"] = style
        self._headers = {
            "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'none'",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Vary": "Accept",
        }

    def document(self, **values: Any) -> HTMLResponse:
        """Return the page of a document; `values` are the names in `document.html`."""
        return self._page("document.html", 200, values)

    def error(self, status: int, detail: str) -> HTMLResponse:
        """Return a page that says what is wrong."""
        return self._page("error.html", status, {"detail": detail})

    def _page(self, template: str, status: int, values: dict[str, Any]) -> HTMLResponse:
        html = self._templates.get_template(template).render(values)
        return HTMLResponse(html, status, headers=self._headers)
