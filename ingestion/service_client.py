"""Have the service that holds a corpus do the work, over HTTP: one process at a time may open a corpus.

Flow: a command finds the corpus locked by a service -> **here** -> the service's `/ingest` and `/documents`.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import httpx

from errors import RagError
from ingestion.schema import Progress, RunOptions, Summary, Tell

TIMEOUT_S = 60.0
FINAL = ("done", "failed", "cancelled")
_PROGRESS = ("source", "reason", "files", "files_total", "bytes", "bytes_total", "documents", "leaves")


class ServiceClient:
    """A client of one service; use it as a context manager.

    Args:
        url: its base address, as the corpus's lock names it.
        headers: sent with every request: the key, if the service asks for one.
        transport: how it is reached, if not over the network.
        poll_s: pause between two looks at a job.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        poll_s: float = 0.5,
    ) -> None:
        self._poll_s = poll_s
        self._url = url
        # Not through a proxy: the service is on this machine.
        headers = {"Accept": "application/json", **(headers or {})}
        self._client = httpx.Client(
            base_url=url, headers=headers, timeout=TIMEOUT_S, transport=transport, trust_env=False
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ingest(
        self, path: Path, corpus: str, options: RunOptions, *, on_progress: Tell, stop: threading.Event
    ) -> Summary:
        """Have a path ingested; returns when it is done, or cancelled because `stop` was set.

        The job is looked at from time to time, so its progress names no outcome of single files.

        Raises:
            RagError: the service refuses, the job failed, or the service is gone.
        """
        asked: dict[str, Any] = {"root": options.root_name, "metadata": options.metadata, "limit": options.limit}
        asked["files"] = options.files
        flags = {"dry_run": options.dry_run, "prune": options.prune}
        body = {name: value for name, value in (asked | flags).items() if value}
        return self._job(body | {"path": str(path.resolve()), "corpus": corpus}, on_progress, stop)

    def retry_failed(self, corpus: str, *, on_progress: Tell, stop: threading.Event) -> Summary:
        """Have the files read again that could not be read; otherwise like `ingest`."""
        return self._job({"corpus": corpus, "retry": True}, on_progress, stop)

    def documents(self, corpus: str, limit: int, after: str | None, filters: str | None) -> dict[str, Any]:
        """Return one page of the corpus's documents: `documents`, and `next` to go on after; see `GET /documents`.

        Raises:
            RagError: the service refuses or is gone.
        """
        wanted = {"corpus": corpus, "limit": limit, "after": after, "filter": filters}
        return self._ask("GET", "/documents", params={name: value for name, value in wanted.items() if value})

    def document(self, corpus: str, doc_id: str) -> dict[str, Any]:
        """Return one document with its text.

        Raises:
            RagError: there is none, or the service is gone.
        """
        return self._ask("GET", f"/documents/{quote(doc_id, safe='')}", params={"corpus": corpus})

    def delete(self, corpus: str, filters: object, *, dry_run: bool) -> dict[str, Any]:
        """Delete the documents that meet a filter, or count them: `matched`, `deleted`, the first `doc_ids`.

        Raises:
            RagError: the filter is refused, or the service is gone.
        """
        return self._ask("POST", "/documents/delete", {"corpus": corpus, "filter": filters, "dry_run": dry_run})

    def drop(self, corpus: str) -> None:
        """Delete a corpus with all that belongs to it.

        Raises:
            RagError: it is in use, or the service is gone.
        """
        self._ask("DELETE", f"/corpora/{quote(corpus, safe='')}")

    def rename(self, old: str, new: str) -> None:
        """Give a corpus another name; otherwise like `drop`."""
        self._ask("PATCH", f"/corpora/{quote(old, safe='')}", {"name": new})

    def _job(self, body: dict[str, Any], on_progress: Tell, stop: threading.Event) -> Summary:
        job = self._ask("POST", "/ingest", body | {"wait": False})
        address, cancelled, told = f"/ingest/{job['job']}", False, None
        while job["state"] not in FINAL:
            if cancelled:
                time.sleep(self._poll_s)
            elif stop.wait(self._poll_s):
                self._ask("DELETE", address)
                cancelled = True
            job = self._ask("GET", address)
            progress = _progress(job["progress"])
            if progress and progress != told:
                on_progress(progress)
                told = progress
        if job["state"] == "failed":
            raise self._refused(job["error"])
        return _summary(job["result"], body)

    def _ask(
        self, method: str, path: str, json: object = None, params: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            reply = self._client.request(method, path, json=json, params=params)
            answer: dict[str, Any] = reply.json()
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            raise RagError(
                f"The service at {self._url}, which holds the corpus, does not answer: {error}.",
                "See its log; what it has committed stays.",
                "service_error",
            ) from error
        if reply.is_error:
            raise self._refused(answer.get("error") or {"code": reply.status_code, "detail": answer})
        return answer

    def _refused(self, error: Mapping[str, Any]) -> RagError:
        fact = f"The service at {self._url}, which holds the corpus, says {error['code']}:"
        return RagError(fact, str(error["detail"]), "service_error")


def _progress(raw: Mapping[str, Any] | None) -> Progress | None:
    """Return what a job tells; without an outcome, because most files pass unseen between two looks."""
    return Progress(outcome=None, **{name: raw[name] for name in _PROGRESS}) if raw else None


def _summary(result: Mapping[str, Any] | None, body: Mapping[str, Any]) -> Summary:
    if result is None:  # cancelled before it began
        return Summary(body["corpus"], stopped=True)
    return Summary(**{item.name: result[item.name] for item in fields(Summary)})
