"""Ask a service by several clients at once.

Flow: `latency.py` and `load.py` say what is asked, and read the replies -> **here**, threads and connections.
"""

import http.client
import json
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from queue import Empty, SimpleQueue
from urllib.parse import urlsplit

from errors import RagError

HTTP_TIMEOUT_S = 60
SHOWN_BYTES = 200

Read = Callable[[http.client.HTTPResponse, float], None]
"""Reads one reply to its end; told when the question was sent. Raises `HTTPException` if it is no answer."""


class RefusedError(RagError):
    """The service did not answer a question, so its throughput means nothing."""

    code = "refused"


def ask_all(url: str, path: str, questions: Sequence[str], clients: int, read: Read) -> float:
    """POST each question once to `path`, by so many threads at once; return the seconds until the last reply.

    Raises:
        RefusedError: one was not answered.
    """
    waiting: SimpleQueue[str] = SimpleQueue()
    for question in questions:
        waiting.put(question)
    refused: list[str] = []

    def ask() -> None:
        # One connection a client, and the plainest client there is: it shares the processor with the service.
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=HTTP_TIMEOUT_S)
        try:
            while not refused:
                body = json.dumps({"question": waiting.get_nowait()})
                started = time.perf_counter()
                connection.request("POST", path, body, {"content-type": "application/json"})
                read(_good(connection.getresponse()), started)
        except Empty:
            return
        except (OSError, http.client.HTTPException) as error:
            refused.append(str(error) or type(error).__name__)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall_s = time.perf_counter() - started
    if refused:
        raise RefusedError(f"POST {url}{path} was not answered: {refused[0]}", "Ask it by hand, with the same body.")
    return wall_s


def _good(reply: http.client.HTTPResponse) -> http.client.HTTPResponse:
    if reply.status != HTTPStatus.OK:
        raise http.client.HTTPException(f"{reply.status}: {reply.read(SHOWN_BYTES).decode(errors='replace')}")
    return reply
