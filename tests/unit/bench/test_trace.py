"""What a profiled piece of the product counts as."""

import asyncio
from threading import Thread
from typing import Any

from bench.trace import profiled
from settings import HOME

SOURCE = """
class Room:
    def size(self):
        return sum(n for n in [n for n in range(3)])

async def numbers():
    yield Room().size()

async def read():
    return [n async for n in numbers()]
"""


def made(file: str) -> dict[str, Any]:
    """Return the names of a module that claims to be `file`."""
    names: dict[str, Any] = {}
    exec(compile(SOURCE, HOME / file, "exec"), names)
    return names


def test_functions_of_the_product_count_once_in_any_thread_and_others_not() -> None:
    product, test = made("api/made.py"), made("tests/made.py")

    with profiled() as trace:
        product["Room"]().size()
        trace.on = True
        made("eval/imported.py")
        asyncio.run(test["read"]())
        for _ in range(2):
            thread = Thread(target=lambda: asyncio.run(product["read"]()))
            thread.start()
            thread.join()

    assert trace.entered() == {"api/made.py": ["Room.size", "async generator numbers", "read"]}
    assert trace.figures() == {"files": 1, "functions": 3, "async_generators": 1}
