"""Which addresses a request may make the service ask: those that the settings name, and no others.

Flow: a step of a pipeline names a server -> `build.py` -> **here** -> the address that is asked. An address is allowed
if the operator wrote it down, wherever it leads; where the operator allows any, its name is resolved, and addresses of
private networks are refused.
"""

import socket
from urllib.parse import urlsplit

from errors import SettingsError
from index.documents.normalization import shorten_marks
from loopback import is_public
from settings import SourcesSettings

PORTS = {"http": 80, "https": 443}

ANY = "*"
"""As `RAG_SOURCES__MOSAIC_URL`: any public address that a step names; the settings have none."""

Server = tuple[str, str, int, str]


def server_of(url: str) -> Server | None:
    """Return what decides where an address leads: scheme, host, port, path; None if it is not a plain http(s) address.

    A user, a password, a query or a fragment make it none.
    """
    if shorten_marks(url) != url:
        return None
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    plain = not (parts.username or parts.password or parts.query or parts.fragment or "@" in parts.netloc)
    # A backslash is a slash to some clients and part of the host to others.
    if scheme not in PORTS or not host or not plain or "\\" in url or ".." in parts.path.split("/"):
        return None
    return scheme, host, port or PORTS[scheme], parts.path.rstrip("/")


def allowed_servers(settings: SourcesSettings) -> list[str]:
    """Return the addresses of `RAG_SOURCES__ALLOWED_URLS`."""
    return [url.strip() for url in (settings.allowed_urls or "").split(",") if url.strip()]


def is_allowed(url: str, settings: SourcesSettings) -> bool:
    """Say whether `RAG_SOURCES__ALLOWED_URLS` holds this address."""
    wanted = server_of(url)
    return wanted is not None and any(server_of(one) == wanted for one in allowed_servers(settings))


def chosen_server(source: str, given: str, configured: str | None, settings: SourcesSettings) -> str:
    """Return the address to ask.

    Args:
        source: the source's name, for the error.
        given: what the request names; empty takes the configured one.
        configured: the source's own address in the settings; None if there is none.
        settings: hold the allowed addresses.

    Raises:
        SettingsError: no address is set, or the one that the request names is not allowed.
    """
    field = f"RAG_SOURCES__{source.upper()}_URL"
    if configured == ANY and given:
        check_public(given)
        return given
    if not given:
        if configured is None or configured == ANY:
            raise SettingsError(f"The source {source!r} has no address.", f"Name an allowed `url`, or set {field}.")
        return configured
    if configured is not None and server_of(given) is not None and server_of(given) == server_of(configured):
        return configured
    if not is_allowed(given, settings):
        raise SettingsError(
            f"The address {given[:200]!r} is not allowed.",
            f"Leave `url` out to ask that of {field}, or have the operator add it to RAG_SOURCES__ALLOWED_URLS.",
        )
    return given


def check_public(url: str) -> None:
    """Refuse an address of this machine or a private network; its name is looked up now, and blocks.

    Raises:
        SettingsError: it is not a plain http(s) address, its name is unknown, or one of its addresses is not public.
    """
    server = server_of(url)
    try:
        found = socket.getaddrinfo(server[1], server[2], type=socket.SOCK_STREAM) if server else []
    except OSError:
        found = []
    if not found or not all(is_public(str(place[0])) for *_, place in found):
        raise SettingsError(
            f"The address {url[:200]!r} is not that of a public server.",
            "Name an http(s) address whose host is known and outside private networks.",
        )
