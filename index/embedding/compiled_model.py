"""A network compiled by OpenVINO for the CPU.

Flow: the embedding model (`openvino.py`, `token_vectors.py`) and the reader (`query_engine/reader/model.py`) compile
their networks **here**. It imports none of LlamaIndex, so that a service compiles while it imports that.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import openvino

from errors import ModelError
from index.embedding.cpu import int8_options

Result = TypeVar("Result")

# Shapes whose code stays in memory: what OpenVINO keeps for a model's stream, and its oneDNN for the process. Their own
# limits let the 176 shapes of batches and widths grow a service by 580 MB; these by 160, at 3 to 5 % more time.
KEPT_SHAPES = {"CPU_RUNTIME_CACHE_CAPACITY": "64"}
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128")  # read when the first model is compiled


class CompiledModel:
    """A compiled model that survives an inference without memory.

    OpenVINO's nodes stay half prepared when one of their allocations fails, and then fail for every later input. So the
    model is compiled again after a failure, and asked once more. Safe from many threads.

    Args:
        make: compiles; blocks.
    """

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = Lock()
        self._compiled = make()

    @property
    def inputs(self) -> list[str]:
        """The names of its inputs."""
        return [port.any_name for port in self._compiled.inputs]

    def run(self, work: Callable[[Any], Result]) -> Result:
        """Return what `work` returns when it is given the compiled model.

        Raises:
            Exception: from `work`, with a freshly compiled model; or from compiling.
        """
        compiled = self._compiled
        try:
            return work(compiled)
        except (RuntimeError, MemoryError):
            with self._lock:
                if self._compiled is not compiled:
                    return work(self._compiled)
                made = self._make()
                result = work(made)  # alone, as every first inference has to be
                self._compiled = made
                return result


def compile_model(path: Path, options: dict[str, str], changed: Callable[[Any], Any] = lambda graph: graph) -> Any:
    """Return the model at `path`, as `changed` returns it, compiled for the CPU with OpenVINO's `options`.

    Raises:
        ModelError: it cannot be loaded.
    """
    # OpenVINO gives the thread that compiles another stack for signals, and takes it away with the model. Of two models
    # the second one puts back the first one's, which may be gone by then: the next signal would end the process. So the
    # thread is one that no signal meets.
    try:
        with ThreadPoolExecutor(1) as elsewhere:
            core = openvino.Core()
            graph = changed(core.read_model(path))
            return elsewhere.submit(core.compile_model, graph, "CPU", options | KEPT_SHAPES | int8_options()).result()
    except RuntimeError as error:
        raise ModelError(
            f"The converted model {path} cannot be loaded: {str(error).splitlines()[0]}.",
            f"Delete {path.parent}; it is made again at the next start.",
        ) from error
