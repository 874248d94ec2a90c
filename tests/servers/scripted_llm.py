"""An OpenAI-compatible model server that does what a script says: speaks, stalls, breaks off, lies.

    with ScriptedLLM(Script(text="The answer is 42 [1].")) as server:
        ask(server.base_url)
    assert server.requests[0]["messages"]

It listens on a free loopback port, in its own thread, and counts what reaches the wire. `play` sets the scripts of
the requests to come; the last one repeats. HTTP is written by hand, because the faults are the point.
"""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from tests.servers.scripted_server import ScriptedServer

Request = dict[str, Any]


def echo(request: Request) -> str:
    """Answer with the last message."""
    return str(request["messages"][-1]["content"])


def obey(request: Request) -> str:
    """Do what any text of the prompt demands: repeat what follows the last "say:" of the last message."""
    demands = re.findall(r"say: *(.+)", echo(request), re.IGNORECASE)
    return str(demands[-1]) if demands else "Nothing was demanded."


@dataclass(frozen=True)
class Script:
    """How one request is answered.

    Attributes:
        text: the answer, or a function that makes it from the request's body. It is sent word by word.
        reasoning: sent before the answer, as `reasoning_content`.
        token_s: pause before each piece.
        stall_after: stop sending after so many pieces, and wait for the client to leave; 0: before the first. An
            answer that is not streamed counts as one piece, here and below.
        cut_after: drop the connection after so many pieces.
        garbage_after: send `garbage` instead of the next piece after so many pieces.
        garbage: a raw line.
        endless: start over at the end of the text, until the client leaves.
        finish: the last chunk's finish_reason; None leaves the chunk and `[DONE]` out.
        status: other than 200: an error body is sent and nothing else.
        error: that body; OpenAI's form if None.
        headers: extra response headers.
        content_type: replaces the stream's own.
    """

    text: str | Callable[[Request], str] = "It is so [1]."
    reasoning: str = ""
    token_s: float = 0.0
    stall_after: int | None = None
    cut_after: int | None = None
    garbage_after: int | None = None
    garbage: str = "data: {broken"
    endless: bool = False
    finish: str | None = "stop"
    status: int = 200
    error: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"


class ScriptedLLM(ScriptedServer[Script]):
    """The server; a context manager.

    Attributes:
        requests: bodies of the chat requests, in order.
        keys: their Authorization headers.
        tokens_sent: pieces of answers written, over all requests.
        open_streams: answers being sent at this moment.
    """

    model = "scripted"

    def __init__(self, *scripts: Script) -> None:
        super().__init__(list(scripts) or [Script()])
        self.requests: list[Request] = []
        self.keys: list[str] = []
        self.tokens_sent = 0
        self.open_streams = 0

    def _count(self, *, streams: int = 0, tokens: int = 0) -> None:
        with self._changed:
            self.open_streams += streams
            self.tokens_sent += tokens
            self._changed.notify_all()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request; every connection serves one."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if head.startswith("GET"):
            return await _send_json(writer, 200, {"object": "list", "data": [{"id": self.model, "object": "model"}]})
        request = json.loads(body)
        script = self._next_script()
        with self._changed:
            self.requests.append(request)
            self.keys.append(headers.get("authorization", ""))
            self._changed.notify_all()
        if script.status != 200:
            if script.error is not None:
                writer.write(_head(script.status, {"Content-Length": str(len(script.error))}) + script.error)
                return await writer.drain()
            error = {"error": {"message": "The script says so.", "type": "scripted"}}
            return await _send_json(writer, script.status, error, script.headers)
        if not request.get("stream"):
            if script.stall_after is not None:
                await reader.read(1)
                return None
            if script.cut_after is not None:
                writer.transport.abort()
                return None
            return await _send_json(writer, 200, _completion(script, request), script.headers)
        self._count(streams=1)
        # A client that leaves closes the connection; while nothing is being written, only a read notices that.
        left = asyncio.ensure_future(reader.read(1))
        sending = asyncio.ensure_future(self._stream(writer, script, request))
        try:
            await asyncio.wait({left, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            left.cancel()
            sending.cancel()
            await asyncio.gather(left, sending, return_exceptions=True)
            self._count(streams=-1)
        return None

    async def _stream(self, writer: asyncio.StreamWriter, script: Script, request: Request) -> None:
        writer.write(
            _head(200, {"Content-Type": script.content_type, "Transfer-Encoding": "chunked", **script.headers})
        )
        await _send_chunk(writer, _event({"role": "assistant", "content": ""}))
        if script.reasoning:
            await _send_chunk(writer, _event({"reasoning_content": script.reasoning}))
        for sent, piece in enumerate(_pieces(script, request)):
            if sent == script.stall_after:
                await asyncio.Event().wait()
            if sent == script.cut_after:
                writer.transport.abort()
                return
            await asyncio.sleep(script.token_s)
            if sent == script.garbage_after:
                await _send_chunk(writer, script.garbage.encode() + b"\n\n")
            else:
                await _send_chunk(writer, _event({"content": piece}))
                self._count(tokens=1)
        if script.finish is not None:
            await _send_chunk(writer, _event({}, script.finish))
            if request.get("stream_options", {}).get("include_usage"):
                counted = {**_completion(script, request), "object": "chat.completion.chunk", "choices": []}
                await _send_chunk(writer, f"data: {json.dumps(counted)}\n\n".encode())
            await _send_chunk(writer, b"data: [DONE]\n\n")
        await _send_chunk(writer, b"")


def _pieces(script: Script, request: Request) -> Iterator[str]:
    text = script.text if isinstance(script.text, str) else script.text(request)
    words = re.findall(r"\S+\s*|\s+", text)
    return cycle(words) if script.endless else iter([*words, ""] if script.garbage_after == len(words) else words)


def _completion(script: Script, request: Request) -> dict[str, Any]:
    text = script.text if isinstance(script.text, str) else script.text(request)
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": len(text.split()), "total_tokens": 1 + len(text.split())}
    return {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": ScriptedLLM.model,
        "choices": [{"index": 0, "message": message, "finish_reason": script.finish}],
        "usage": usage,
    }


def _event(delta: dict[str, str], finish: str | None = None) -> bytes:
    chunk = {
        "id": "scripted",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": ScriptedLLM.model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(chunk)}\n\n".encode()


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [
        f"HTTP/1.1 {status} Scripted",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def _send_chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
    await writer.drain()


async def _send_json(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    data = json.dumps(body).encode()
    length = {"Content-Type": "application/json", "Content-Length": str(len(data)), **(headers or {})}
    writer.write(_head(status, length) + data)
    await writer.drain()
