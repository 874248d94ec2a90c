"""Render the few HTML pages: a document with the cited span marked, and errors for people in a browser.

Flow: a stored document -> `blocks.py` -> **here** -> HTML. What is shown is the routes' business.

Both look like the web page: its style sheet is put into them, so that an error has its looks even where a key is
missing. The text is there without JavaScript; `web/static/document.js` then renders Markdown in its place.

Documents come from anywhere, so nothing of them can run: every value is escaped, and the content security policy allows
only the page's own modules, and this style by its hash.
"""

import base64
import hashlib
import http.client
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from api.schemas.replies.corpora import DocumentReply
from api.views.blocks import blocks_of

_FOLDER = Path(__file__).parent / "templates"
_STYLES = (Path(__file__).parents[1] / "web" / "static" / "style.css", _FOLDER / "pages.css")
_MARKDOWN = frozenset(
    "markdown html docx mediawiki xlsx xls pptx odt ods odp epub rtf restructuredtext asciidoc org notebook xml".split()
)
"""The content types whose text is Markdown, as in `web/static/evidence.js`."""


class Pages:
    """The page templates, loaded once."""

    def __init__(self) -> None:
        style = "".join(path.read_text(encoding="utf-8") for path in _STYLES)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self._templates = Environment(
            loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        self._templates.globals["style"] = style
        self._csp = (
            f"default-src 'none'; script-src 'self'; style-src 'sha256-{digest}'; "
            "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        self._headers = {"Content-Security-Policy": self._csp, "Vary": "Accept"}

    def document(self, request: Request, document: DocumentReply, original_path: str) -> HTMLResponse:
        """Return the page of a document, whose original file, if it has one, is at `original_path`."""
        span = document.span
        blocks = blocks_of(document.text, (span.start, span.end) if span else None)
        markdown = document.content_type in _MARKDOWN
        values = document.to_dict() | {"blocks": blocks, "markdown": markdown, "original_path": original_path}
        return self._page("document.html", request, 200, values)

    def login(
        self, request: Request, next: str, *, signed_in_as: str | None = None, refused: bool = False
    ) -> HTMLResponse:
        """Return the form for a person's key; 401 where it was shown a wrong one.

        Args:
            request: its address is the form's.
            next: where the form sends the browser on, an address of this service.
            signed_in_as: name of the key that the browser has shown already.
            refused: the key was wrong.
        """
        values = {"next": next, "signed_in_as": signed_in_as, "refused": refused}
        page = self._page("login.html", request, 401 if refused else 200, values)
        page.headers["Content-Security-Policy"] = self._csp.replace("form-action 'none'", "form-action 'self'")
        # With `no-referrer` a form is sent with the origin `null`, which may write nothing.
        page.headers["Referrer-Policy"] = "same-origin"
        page.headers["Cache-Control"] = "no-store"
        return page

    def sign_in_first(self, request: Request) -> HTMLResponse:
        """Return the refusal for a browser without a key; the browser goes to the form by itself, and back."""
        address = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return self._page("sign_in_first.html", request, 401, {"next": address})

    def error(self, request: Request, status: int, detail: str, field: str | None = None) -> HTMLResponse:
        """Return a page that says what is wrong, and in which field of the request."""
        said = {"detail": detail, "field": field, "status": status, "phrase": http.client.responses.get(status, "")}
        return self._page("error.html", request, status, said)

    def _page(self, template: str, request: Request, status: int, values: dict[str, Any]) -> HTMLResponse:
        html = self._templates.get_template(template).render(values, root=_root(request))
        return HTMLResponse(html, status, headers=self._headers)


def _root(request: Request) -> str:
    """Return the way from the request's address up to the service's, which works behind a proxy's prefix too."""
    path: bytes = request.scope["raw_path"]
    return "../" * (path.count(b"/") - 1)
