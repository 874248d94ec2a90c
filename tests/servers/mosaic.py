"""A stand-in of a MOSAIC service: `/search` over a few indexes, `/full-text` by id.

    with MosaicServer({"arts": [hit("1", "Wind turns blades.")]}) as server:
        ask(server.url)
        server.fails["/full-text"] = 503
    assert server.requests[0] == ("/search", {"q": "wind", "limit": "5"})

A hit is found if it shares a word with the query. As a process, for a trial by hand:

    python -m tests.servers.mosaic [--port N]
"""

import argparse
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.threaded import QuietHandler, ThreadedServer

Hit = dict[str, Any]


def hit(name: str, text: str, **fields: Any) -> Hit:
    """Return a hit as the service gives it; `_text` is what `/full-text` knows."""
    return {
        "id": name,
        "url": f"https://mosaic.example/{name}",
        "title": f"Page {name}",
        "textSnippet": text[:20],
        "language": "eng",
        "warcDate": 1705353588000000,
        "wordCount": len(text.split()),
        "_text": text,
        **fields,
    }


class MosaicServer(ThreadedServer):
    """The service on a free loopback port, in threads.

    Attributes:
        requests: path and parameters of each, in order.
        fails: path -> status that it answers with.
        replies: path -> what it answers in place of the truth.
    """

    def __init__(self, indexes: Mapping[str, Sequence[Hit]], port: int = 0) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.fails: dict[str, int] = {}
        self.replies: dict[str, Any] = {}
        self._indexes = indexes
        super().__init__(_Handler, port)

    @property
    def url(self) -> str:
        """What goes into RAG_SOURCES__MOSAIC_URL."""
        return f"{super().url}/service/api"

    def reply_to(self, path: str, params: dict[str, str]) -> tuple[int, Any]:
        """Return status and reply."""
        self.requests.append((path, params))
        if path in self.fails:
            return self.fails[path], {"error": "scripted"}
        if path in self.replies:
            return 200, self.replies[path]
        if path == "/search":
            wanted, limit = _words(params.get("q", "")), int(params.get("limit", "20"))
            names = [params["index"]] if "index" in params else list(self._indexes)
            return 200, {"results": [{name: self._found(name, wanted, limit)} for name in names]}
        if path == "/full-text":
            texts = {one["id"]: one["_text"] for hits in self._indexes.values() for one in hits}
            name = params.get("id", "")
            return (200, {"id": name, "fullText": texts[name]}) if name in texts else (404, {})
        return 404, {}

    def _found(self, name: str, wanted: set[str], limit: int) -> list[Hit]:
        hits = [one for one in self._indexes.get(name, ()) if wanted & _words(one["_text"])]
        return [{field: value for field, value in one.items() if field != "_text"} for one in hits[:limit]]


class _Handler(QuietHandler):
    service: MosaicServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        params = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        status, reply = self.service.reply_to(parts.path.removeprefix("/service/api"), params)
        self.reply(status, json.dumps(reply).encode(), content_type="application/json")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


def sample() -> dict[str, list[Hit]]:
    """Return two indexes with pages about wind, two of which have a place."""
    graz = [{"locationName": "Graz", "locationEntries": [{"latitude": 47.07, "longitude": 15.44}]}]
    oslo = [{"locationName": "Oslo", "locationEntries": [{"latitude": 59.91, "longitude": 10.75}]}]
    storm = "Wind turbines turned in the storm, and the villagers were terrified and afraid of the falling blades."
    return {
        "arts": [
            hit("storm", f"Home\nContact\n{storm}\nImprint", locations=graz),
            hit(
                "blatt",
                "Der Wind dreht die Blätter der Turbinen, und die Wind turbines stehen.",
                language="deu",
                locations=oslo,
            ),
        ],
        "science": [
            hit("betz", "Albert Betz published the limit of wind turbines in 1919.", keywords=["wind", "Betz"])
        ],
    }


def main() -> None:
    """Serve the sample until the process is stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    server = MosaicServer(sample(), parser.parse_args().port)
    print(server.url, flush=True)  # noqa: T201
    server.serve()


if __name__ == "__main__":
    main()
