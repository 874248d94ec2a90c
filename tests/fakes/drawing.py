"""Tasks of the drawing child that a test can follow."""

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
