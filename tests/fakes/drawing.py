"""Tasks of the drawing child that a test can follow."""

import base64
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ingestion.reading.child import Items, Task


def crashing(_argument: str) -> Task:
    """Note each request as a line of the file it names, and die."""

    def draw(request: Mapping[str, Any]) -> Items:
        with Path(request["path"]).open("a") as file:
            file.write("asked\n")
        os.kill(os.getpid(), signal.SIGKILL)
        yield {}, 1

    return draw


def crashing_over_some(_argument: str) -> Task:
    """Note the page of each request in the file it names; draw it, but die over files whose name begins with `bad`."""

    def draw(request: Mapping[str, Any]) -> Items:
        path = Path(request["path"])
        with path.open("a") as file:
            file.write(f"{request['page']}\n")
        if path.name.startswith("bad"):
            os.kill(os.getpid(), signal.SIGKILL)
        yield {"image": base64.b64encode(b"image").decode()}, 1

    return draw
