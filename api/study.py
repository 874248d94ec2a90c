"""Note what people do, for a user study: off unless the settings turn it on, and nothing personal unless they say so.

Flow: server -> `security/` -> **here**, beside the routes: what was searched, opened, said in a chat or judged is noted
once the reply is complete -> `index/feedback/study.py`, in the background. A full disk costs events and a warning in
the log, never an answer. Neither addresses nor keys are read.
"""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.background import BackgroundWriter
from errors import RagError
from index.feedback.study import Kind, StudyEvent, StudyLog
from query_engine.text.well_formed import well_formed
from settings import StudySettings

SESSION_HEADER, SESSION_COOKIE = "x-study-session", "study_session"
SEARCHES = frozenset(
    "/run /evaluate /query /query/stream /answer /retrieve /vector /hybrid /react /react_streaming /agent/research "
    "/v1/chat/completions /v1/responses /task/run /task/enqueue".split()
)
DOCUMENTS, CHAT = "/documents/", "/task/chat/"
MAX_BODY_BYTES = 1_000_000
MAX_TEXT_CHARS = 8000
MAX_SUBJECT_CHARS = 1000
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FIRST_ERROR = 400


class Study:
    """The events of a service.

    Args:
        settings: whether, and what.
        folder: the index folder, which holds the file.

    Attributes:
        settings: as given.
    """

    def __init__(self, settings: StudySettings, folder: Path) -> None:
        self.settings = settings
        self._log = StudyLog(folder)
        self._writer = BackgroundWriter("study", "events", "An event of the user study was not noted")

    def note(self, event: StudyEvent) -> None:
        """Keep an event soon; returns immediately."""
        self._writer.write(lambda: self._log.note(event))

    def log(self) -> StudyLog:
        """Wait for pending events, then return the log.

        Raises:
            RagError: there is no study.
        """
        if self.settings.notes == "nothing":
            raise RagError(
                "This service notes no user study.",
                "Set RAG_STUDY__NOTES=events and start it again.",
                "study_unavailable",
            )
        self._writer.wait()
        return self._log

    def close(self) -> None:
        """Write what waits, and let go of the file; blocks."""
        self._writer.close()
        self._log.close()


class StudyNotes:
    """ASGI middleware: notes the events that succeed, and gives each browser a session until it is closed.

    Args:
        app: what stands behind it.
        study: keeps the events.
        clock: seconds since 1970.
    """

    def __init__(self, app: ASGIApp, study: Study, clock: Callable[[], float] = time.time) -> None:
        self._app = app
        self._study = study
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and note it at its end."""
        kind = _kind(scope) if scope["type"] == "http" else None
        if kind is None:
            await self._app(scope, receive, send)
            return
        given = _session(Headers(scope=scope))
        session = given or secrets.token_hex(16)
        began_s, status, body = self._clock(), 0, bytearray()

        async def reading() -> Message:
            message = await receive()
            if len(body) <= MAX_BODY_BYTES:
                body.extend(message.get("body", b""))
            return message

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if given is None:
                    cookie = f"{SESSION_COOKIE}={session}; Path=/; HttpOnly; SameSite=Lax"
                    MutableHeaders(scope=message).append("set-cookie", cookie)
            await send(message)

        texts = self._study.settings.notes == "texts"
        await self._app(scope, reading if texts or kind == "verdict" else receive, sending)
        if 0 < status < _FIRST_ERROR:
            seconds = round(max(0.0, self._clock() - began_s), 3)
            told = _told(scope, kind, bytes(body), texts=texts)
            self._study.note(StudyEvent(began_s, session, kind, seconds=seconds, **told))


def _kind(scope: Scope) -> Kind | None:
    method, path = scope["method"], scope["path"]
    if method == "POST":
        return "search" if path in SEARCHES else "verdict" if path == "/feedback" else None
    if method != "GET":
        return None
    return "open" if path.startswith(DOCUMENTS) else "chat" if path.startswith(CHAT) else None


def _session(headers: Headers) -> str | None:
    try:
        cookie = SimpleCookie(headers.get("cookie", "")).get(SESSION_COOKIE)
    except CookieError:
        cookie = None
    named = headers.get(SESSION_HEADER) or (cookie.value if cookie else "")
    return named if _SESSION.fullmatch(named) else None


def _told(scope: Scope, kind: Kind, body: bytes, *, texts: bool) -> dict[str, str]:
    """Return `route`, `subject`, `verdict` and `text` of an event, the last empty unless `texts`."""
    path, subject, verdict, text = scope["path"], "", "", ""
    given = _object(body)
    if kind == "open":
        path, subject = f"{DOCUMENTS}{{doc_id}}", path.removeprefix(DOCUMENTS)
    elif kind == "chat" and path != f"{CHAT}new":
        # The id opens the chat; its digest tells chats apart.
        path, subject = f"{CHAT}{{chat_id}}", hashlib.sha256(path.removeprefix(CHAT).encode()).hexdigest()[:16]
        text = parse_qs(scope["query_string"].decode("latin-1")).get("message", [""])[0]
    elif kind == "verdict":
        subject = str(given.get("answer_id") or given.get("retrieval_id") or "")
        verdict, text = str(given.get("verdict", "")), str(given.get("text") or "")
    elif kind == "search":
        text = _asked(given)
    return {
        "route": f"{scope['method']} {path}",
        "subject": well_formed(subject)[:MAX_SUBJECT_CHARS],
        "verdict": verdict,
        "text": well_formed(text)[:MAX_TEXT_CHARS] if texts else "",
    }


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _asked(given: dict[str, Any]) -> str:
    """Return the question of a body, under the name that its route has for it."""
    inner = given.get("pipeline")
    given = inner if isinstance(inner, dict) else given
    named = next((given[name] for name in ("question", "query", "topic") if isinstance(given.get(name), str)), "")
    messages = given.get("messages")
    if not named and isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        content = messages[-1].get("content")
        return content if isinstance(content, str) else ""
    return named
