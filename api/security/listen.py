"""Where the service listens, and who may come in.

Flow: settings -> **here** -> a bound socket, before anything is loaded -> `main.py` serves on it.
"""

import logging
import socket

from errors import SettingsError
from loopback import is_loopback
from settings import ServeSettings

logger = logging.getLogger(__name__)


def require_auth_or_loopback(serve: ServeSettings) -> None:
    """Refuse to let other machines in without keys, unless the settings say so; then warn.

    Raises:
        SettingsError: the host is not a loopback address, there are no keys, and `open` is off.
    """
    if is_loopback(serve.host) or serve.asks_for_keys:
        return
    if not serve.open:
        raise SettingsError(
            f"RAG_SERVE__HOST={serve.host} lets other machines in, and the service asks nobody for a key.",
            "Set RAG_SERVE__KEYS or RAG_SERVE__KEYS_FILE, RAG_SERVE__OPEN=true if no keys are meant, or "
            "RAG_SERVE__HOST=127.0.0.1.",
        )
    logger.warning("Anyone who reaches %s can ask questions and read documents: no keys are required.", serve.host)


def bind(serve: ServeSettings) -> socket.socket:
    """Take the port, without accepting connections yet.

    Raises:
        SettingsError: the port is taken, or the host is none of this machine's.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in serve.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((serve.host, serve.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Cannot listen on {serve.host} port {serve.port}: {error.strerror}.",
            "Stop the program that listens there, or set RAG_SERVE__HOST and RAG_SERVE__PORT (0 takes a free port).",
        ) from error
    return listener


def url_of(listener: socket.socket) -> str:
    """Return the address under which this machine reaches the service."""
    return url_at(*listener.getsockname()[:2])


def url_at(host: str, port: int) -> str:
    """Return the address under which this machine reaches what listens on a host and port."""
    if host in {"0.0.0.0", "::"}:  # noqa: S104  # every address of this machine, so loopback too
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
