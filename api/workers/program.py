"""Start the service's workers under gunicorn, for `python main.py`.

Flow: `main.py` has settings and a bound socket -> **here**, gunicorn's parent, with `gunicorn.conf.py` -> workers,
which open the application as under `gunicorn main:app`. What a worker does is `group.py`'s business.
"""

import signal
import socket
from pathlib import Path
from typing import Any, NoReturn

from gunicorn.app.base import Application
from gunicorn.arbiter import Arbiter

_CONFIGURATION = Path(__file__).resolve().parents[2] / "gunicorn.conf.py"


class _Program(Application):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, app: Any, settings: dict[str, Any], folder: Path | None, watched: str | None) -> None:
        self._served, self._settings = app, settings
        self.folder, self.watched = folder, watched
        super().__init__()

    def load_config(self) -> None:
        self.load_config_from_file(str(_CONFIGURATION))
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        return self._served

    def run(self) -> None:
        _Parent(self).run()


class _Parent(Arbiter):  # type: ignore[misc]  # gunicorn has no types
    """Ends with the status of a single process that the same signal ended; gunicorn alone says 0."""

    _status = 0

    def handle_term(self) -> None:
        self._status = 128 + signal.SIGTERM
        super().handle_term()

    def handle_int(self) -> None:
        self._status = 128 + signal.SIGINT
        super().handle_int()

    def halt(self, reason: str | None = None, exit_status: int = 0) -> None:
        super().halt(reason, exit_status or self._status)


def run_workers(
    app: Any, listener: socket.socket, workers: int, folder: Path | None = None, watched: str | None = None
) -> NoReturn:
    """Serve with several workers until a signal comes.

    Args:
        app: for each of them.
        listener: the socket, which becomes gunicorn's.
        workers: how many.
        folder: what was ingested at the start, if anything.
        watched: the corpus to keep in step with it, if any.

    Raises:
        SystemExit: at the end, with 143 after SIGTERM and 130 after SIGINT.
    """
    settings = {
        "bind": f"fd://{listener.detach()}",
        "workers": workers,
        "worker_class": "uvicorn.workers.UvicornWorker",
        "control_socket_disable": True,
        "proc_name": "treeline",
    }
    _Program(app, settings, folder, watched).run()
    raise SystemExit
