"""What servers that follow a script share: a loopback port, a thread with an event loop, the scripts.

    class ScriptedThing(ScriptedServer[Script]):
        async def _converse(self, reader, writer): ...  # asks `self._next_script()` how to answer

A test enters the server, asks it over HTTP, and sees what reached the wire. Subclasses write HTTP by hand, because the
faults are the point.
"""

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Self, TypeVar
from weakref import WeakSet

ScriptT = TypeVar("ScriptT")


class ScriptedServer(ABC, Generic[ScriptT]):
    """A server in a thread; a context manager.

    Args:
        scripts: at least one; how the requests to come are answered. The last one repeats.
        port: 0 takes a free one.
    """

    def __init__(self, scripts: list[ScriptT], port: int = 0) -> None:
        self._scripts = scripts
        self._port = port
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=type(self).__name__)
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: WeakSet[asyncio.StreamWriter] = WeakSet()

    def play(self, *scripts: ScriptT) -> None:
        """Set the scripts of the next requests."""
        self._scripts = list(scripts)

    def wait_until(self, reached: Callable[[Self], bool], timeout_s: float = 5.0) -> bool:
        """Wait for a state, e.g. `lambda server: server.requests`; return whether it was reached."""
        with self._changed:
            return self._changed.wait_for(lambda: reached(self), timeout_s)

    @property
    def base_url(self) -> str:
        """What goes into RAG_LLM__BASE_URL, RAG_EMBED__BASE_URL or RAG_RERANK__BASE_URL."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        serving = asyncio.run_coroutine_threadsafe(
            asyncio.start_server(self._serve, "127.0.0.1", self._port), self._loop
        )
        self._server = serving.result(5)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(5)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @abstractmethod
    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection, which is closed at the end."""

    def _next_script(self) -> ScriptT:
        return self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]

    async def _close(self) -> None:
        self._server.close()
        await self._turns()  # a connection that was just accepted gets its task
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()
        await self._turns()

    @staticmethod
    async def _turns() -> None:
        """Let the loop do what it has put off to its next turns: transports open and close there."""
        for _ in range(3):
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        task.add_done_callback(self._tasks.discard)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                await self._converse(reader, writer)
        finally:
            writer.close()
