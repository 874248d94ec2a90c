"""A server of embeddings and reranking that does what a script says: answers, stalls, breaks off, lies.

    with ScriptedModels() as server:
        embed(server.base_url)
        server.play(Script(status=429, headers={"Retry-After": "7"}), Script())
    assert server.requests[0].body["input"]

It listens on a free loopback port, in its own thread, and speaks OpenAI's `/v1/embeddings`, Cohere's `/v1/rerank` and
`/rerank`, and TEI's `/rerank` (told by its `texts`). `play` sets the scripts of the requests to come; the last one
repeats. HTTP is written by hand, because the faults are the point.

As a process, for a trial by hand:

    python -m tests.servers.scripted_models [--port N] [--vectors words|other|at_once|minilm] [--per-text-ms MS]

It prints `... on http://127.0.0.1:PORT/v1` and serves until it is stopped.
"""

import argparse
import asyncio
import json
import re
import signal
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from zlib import crc32

import numpy as np
import numpy.typing as npt

from settings import load_settings
from tests.fakes.embedding import word_vector
from tests.servers.scripted_server import ScriptedServer

Vectors = npt.NDArray[np.float32]
Fault = Literal["nan", "zeros", "short", "wrong_dimension", "uneven", "repeated_index", "garbage", "other_json"]


def by_words(texts: list[str]) -> Vectors:
    """Return unit vectors of 64 numbers: texts that share words are alike."""
    return np.array([word_vector(text) for text in texts], np.float32)


def by_another_model(texts: list[str]) -> Vectors:
    """Return vectors of the same length that have nothing in common with `by_words`."""
    turned = np.random.default_rng(1).normal(size=(64, 64))
    return (by_words(texts) @ turned).astype(np.float32)


def at_once(texts: list[str]) -> Vectors:
    """Return vectors of 384 numbers, looked up in a table: next to no work for the server."""
    return _TABLE[[crc32(text.encode()) % len(_TABLE) for text in texts]]


_TABLE: Vectors = np.random.default_rng(2).normal(size=(997, 384)).astype(np.float32)


def by_common_words(question: str, text: str) -> float:
    """Return the share of the question's words that the text has."""
    asked, said = (set(re.findall(r"\w+", one.lower())) for one in (question, text))
    return len(asked & said) / max(1, len(asked))


class Request(NamedTuple):
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Script:
    """How one request is answered.

    Attributes:
        status: other than 200: an error body is sent.
        error: that body.
        headers: extra response headers.
        stall: send nothing, and wait for the client to leave.
        drip: send the reply's head, and then never the rest.
        cut: drop the connection: `before` the reply, or in the `middle` of it.
        fault: what is wrong with a reply that is a success.
        numbers: vectors as lists of numbers, also where base64 was asked for.
        shuffled: results in another order than asked; each says its index.
        tokens: the usage that is told; none if None.
    """

    status: int = 200
    error: bytes = b'{"error": {"message": "The script says so.", "type": "scripted"}}'
    headers: dict[str, str] = field(default_factory=dict)
    stall: bool = False
    drip: bool = False
    cut: Literal["before", "middle"] | None = None
    fault: Fault | None = None
    numbers: bool = False
    shuffled: bool = False
    tokens: int | None = None


class ScriptedModels(ScriptedServer[Script]):
    """The server; a context manager.

    Args:
        vectors: texts -> what they are embedded as; assign `vectors` to swap the model.
        scores: question, text -> relevance.
        port: 0 takes a free one.
        per_text_s: pause for each text of a request, as a model would take time.

    Attributes:
        requests: in order.
        open_requests: being answered at this moment.
        most_open: the most there were.
    """

    def __init__(
        self,
        *scripts: Script,
        vectors: Callable[[list[str]], Vectors] = by_words,
        scores: Callable[[str, str], float] = by_common_words,
        port: int = 0,
        per_text_s: float = 0,
    ) -> None:
        super().__init__(list(scripts) or [Script()], port)
        self.vectors = vectors
        self.requests: list[Request] = []
        self.open_requests = self.most_open = 0
        self._scores = scores
        self._per_text_s = per_text_s
        self._computing = asyncio.Lock()  # one model computes one batch at a time

    def _count(self, change: int) -> None:
        with self._changed:
            self.open_requests += change
            self.most_open = max(self.most_open, self.open_requests)
            self._changed.notify_all()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await self._answer(reader, writer):
            pass

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; return whether the connection serves another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        path = head.split(" ", 2)[1]
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        headers = {name.lower(): value for name, value in headers.items()}
        body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
        script = self._next_script()
        with self._changed:
            self.requests.append(Request(path, headers, body))
        self._count(1)
        try:
            return await self._reply(reader, writer, script, path, body)
        finally:
            self._count(-1)

    async def _reply(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        script: Script,
        path: str,
        body: dict[str, Any],
    ) -> bool:
        if script.stall:
            await reader.read(1)  # returns when the client leaves
            return False
        if script.cut == "before":
            writer.transport.abort()
            return False
        if script.status != 200:
            data = script.error
        elif path.endswith("/embeddings"):
            data = await self._embedded(script, body)
        elif path.endswith("/rerank"):
            data = self._reranked(script, body)
        else:
            script, data = Script(status=404), b'{"error": {"message": "There is nothing here."}}'
        lines = [f"HTTP/1.1 {script.status} Scripted", "Content-Type: application/json", f"Content-Length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in script.headers.items()]
        writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        if script.drip:
            await writer.drain()
            await reader.read(1)
            return False
        if script.cut == "middle":
            writer.write(data[: len(data) // 2])
            await writer.drain()
            writer.transport.abort()
            return False
        writer.write(data)
        await writer.drain()
        return True

    async def _embedded(self, script: Script, body: dict[str, Any]) -> bytes:
        texts = body["input"]
        async with self._computing:
            if self._per_text_s:
                await asyncio.sleep(self._per_text_s * len(texts))
            vectors = _spoilt(np.array(self.vectors(texts)[:, : body.get("dimensions")], np.float32), script.fault)
        if script.fault in _OTHER_REPLIES:
            return _OTHER_REPLIES[script.fault]
        in_base64 = body.get("encoding_format") == "base64" and not script.numbers
        rows: list[Any] = [b64encode(row.tobytes()).decode() if in_base64 else row.tolist() for row in vectors]
        if script.fault == "uneven":
            rows[-1] = [1.0, 2.0]
        index = [0 if script.fault == "repeated_index" else place for place in range(len(rows))]
        data = [{"object": "embedding", "index": at, "embedding": row} for at, row in zip(index, rows, strict=True)]
        if script.shuffled:
            data.reverse()
        reply: dict[str, Any] = {"object": "list", "model": body.get("model"), "data": data}
        if script.tokens is not None:
            reply["usage"] = {"prompt_tokens": script.tokens, "total_tokens": script.tokens}
        return json.dumps(reply).encode()

    def _reranked(self, script: Script, body: dict[str, Any]) -> bytes:
        if script.fault in _OTHER_REPLIES:
            return _OTHER_REPLIES[script.fault]
        by_tei = "texts" in body
        key = "score" if by_tei else "relevance_score"
        scores = [self._scores(body["query"], text) for text in body["texts" if by_tei else "documents"]]
        if script.fault == "nan":
            scores[-1] = float("nan")
        if script.fault == "short":
            scores = scores[:-1]
        results = [
            {"index": 0 if script.fault == "repeated_index" else place, key: score}
            for place, score in enumerate(scores)
        ]
        results.sort(key=lambda result: -result[key])
        return json.dumps(results if by_tei else {"id": "scripted", "results": results}).encode()


_OTHER_REPLIES: dict[Fault | None, bytes] = {
    "garbage": b"<html>not what you think</html>",
    "other_json": b'{"error": "a success that is none", "error_type": "scripted"}',
}


def _spoilt(vectors: Vectors, fault: Fault | None) -> Vectors:
    match fault:
        case "nan":
            vectors[-1, 0] = np.nan
        case "zeros":
            vectors[-1] = 0
        case "wrong_dimension":
            return vectors[:, :-1]
        case "short":
            return vectors[:-1]
    return vectors


def _by_minilm(texts: list[str]) -> Vectors:
    from index.build import Embedding  # noqa: PLC0415  # seconds to import, and only a trial by hand needs it

    if not _packaged:
        _packaged.append(Embedding(load_settings({}, None)).embedder)
    encoded: Vectors = _packaged[0].encode_documents(texts)
    return encoded


_packaged: list[Any] = []
_MODELS = {"words": by_words, "other": by_another_model, "at_once": at_once, "minilm": _by_minilm}


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m tests.servers.scripted_models")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--vectors", choices=_MODELS, default="words")
    parser.add_argument("--per-text-ms", type=float, default=0)
    arguments = parser.parse_args()
    model = _MODELS[arguments.vectors]
    model(["first"])
    waiting = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, waiting)
    with ScriptedModels(vectors=model, port=arguments.port, per_text_s=arguments.per_text_ms / 1000) as server:
        sys.stderr.write(f"The scripted model server answers on {server.base_url}\n")
        sys.stderr.flush()
        signal.sigwait(waiting)


if __name__ == "__main__":
    main()
