"""The child process in which files are parsed and texts are cut: takes a request, answers in batches, obeys its limits.

Flow: `sandbox.py` -> pipe -> **here** -> a task such as `reading` -> batches of items -> pipe -> `sandbox.py`.

Started as `python -m ingestion.reading.child FD TIMEOUT_S MEMORY_MB MEMORY_SETTING TASK ARGUMENT`. Messages are JSON,
so a compromised parser cannot run code in the other process. The alarm clock is this process's own and has no
handler: the kernel ends a task that overstays even inside C code, and also when the program that asked is gone.
"""

import importlib
import json
import logging
import resource
import signal
import sys
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.reading.containers import Begun
from ingestion.reading.options import ReadOptions

# What a task finds for a request: JSON-ready values, each with its weight in characters.
Items = Iterator[tuple[dict[str, Any], int]]
Task = Callable[[Mapping[str, Any]], Items]
Parser = Callable[[Path, str, ReadOptions], Iterator[Document | LeftOut | UnreadableError | Begun]]

_BATCH_ITEMS = 500
_BATCH_CHARS = 1_000_000
_BATCH_S = 1.0
SENT_AT_ONCE = _BATCH_CHARS
"""Weight of an item that ends its batch: what comes after it may end this process."""


def reading(parser_name: str) -> Task:
    """Return the task that reads files by the parser named `module:function`.

    Its request is `{"path", "doc_id", "options"}`; an item is a document's fields, `{"left_out": [doc_id, reason]}`,
    `{"started": [number, doc_id]}` or
    `{"unreadable": [fact, remedy]}`, which ends with the `doc_id` that is lost where that is known.
    """
    parser: Parser = _named(parser_name)

    def read(request: Mapping[str, Any]) -> Items:
        for item in parser(Path(request["path"]), request["doc_id"], ReadOptions(**request["options"])):
            if isinstance(item, Document):
                yield _sent(item), len(item.text)
            elif isinstance(item, LeftOut):
                yield {"left_out": item}, 1
            elif isinstance(item, Begun):
                yield {"started": item}, SENT_AT_ONCE
            else:
                yield _refusal(item), 1

    return read


def _sent(document: Document) -> dict[str, Any]:
    values = {item.name: getattr(document, item.name) for item in fields(document)}
    return values | {"structure": b64encode(document.structure.to_bytes()).decode()}


def serve(connection: Connection, task: Task, timeout_s: float) -> None:
    """Answer requests until the other side hangs up.

    A request begins a task, one of no more than `limit_s` asks for its next batch, which may take that long. The
    answer is `{"items": [...], "more": bool, "retire": bool, "left_s": float}`: what it left of them. After `retire`
    this process takes no more requests.
    """
    items: Items = iter(())
    while True:
        try:
            request = json.loads(connection.recv_bytes())
        except (EOFError, ConnectionResetError):  # it hung up, or was killed with an answer unread
            return
        limit_s = request.pop("limit_s")
        if request:
            items = task(request)
        # The interval never comes: it tells readers, who may ask for as much time again (`clock.py`), how long that is.
        signal.setitimer(signal.ITIMER_REAL, limit_s, timeout_s)
        reply = _next_batch(items)
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.send_bytes(reply)


def _next_batch(items: Items) -> bytes:
    """Take the next items and encode them; an error becomes the last item."""
    batch: list[dict[str, Any]] = []
    chars = 0
    begun_s = time.monotonic()
    try:
        for item, weight in items:
            batch.append(item)
            chars += weight
            if len(batch) >= _BATCH_ITEMS or chars >= _BATCH_CHARS or time.monotonic() - begun_s >= _BATCH_S:
                return _encode(batch, more=True)
        return _encode(batch)
    except UnreadableError as error:
        return _encode([*batch, _refusal(error)])
    except MemoryError:
        return _encode([_refusal(_out_of_memory())], retire=True)  # memory may be fragmented, or held by the parser
    except Exception as error:  # noqa: BLE001 - parsers meet hostile files; none of them may end the run
        fact = f"The parser failed ({type(error).__name__}: {error})."
        return _encode([*batch, _refusal(UnreadableError(fact, "Check or convert the file."))])


def _out_of_memory() -> UnreadableError:
    limit_mb = resource.getrlimit(resource.RLIMIT_AS)[0] // 1_000_000
    return UnreadableError(
        f"It needs more than {limit_mb} MB of memory.", "Split the file, or raise RAG_INGEST__PARSE_MEMORY_MB."
    )


def _refusal(error: UnreadableError) -> dict[str, Any]:
    return {"unreadable": [error.fact, error.remedy, *([error.doc_id] if error.doc_id else [])]}


def _encode(batch: list[dict[str, Any]], *, more: bool = False, retire: bool = False) -> bytes:
    left_s, _ = signal.getitimer(signal.ITIMER_REAL)
    return json.dumps({"items": batch, "more": more, "retire": retire, "left_s": left_s}).encode()


def _named(name: str) -> Any:
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def main() -> None:
    """Load the task, set the limits, say that we are ready, serve."""
    descriptor, timeout_s, memory_mb, task_name, argument = sys.argv[1:]
    task: Task = _named(task_name)(argument)
    logging.disable()  # libraries log what we report
    limit = int(memory_mb) * 1_000_000
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS has the name but refuses to set it
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with Connection(int(descriptor)) as connection:
        connection.send_bytes(b"ready")
        serve(connection, task, float(timeout_s))


if __name__ == "__main__":
    main()
