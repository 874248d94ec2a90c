"""Tell the service's own hosts, and the web pages that may use it, from all others.

Flow: settings -> **here** -> `security/same_origin.py` refuses requests; `dependencies.py` takes no link's beginning
from a host that a client made up.
"""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import Request

from loopback import is_loopback
from settings import ServeSettings

_DEFAULT_PORTS = {"http": ":80", "https": ":443"}


class Hosts:
    """The hosts of a service.

    Args:
        serve: where it listens, and which other hosts are its own.
    """

    def __init__(self, serve: ServeSettings) -> None:
        self._public_url, self._asks_for_keys = serve.public_url, serve.asks_for_keys
        public = urlsplit(serve.public_url or "").netloc.lower()
        listed = (serve.allowed_hosts or "").lower().split(",")
        origins = (urlsplit(origin).netloc for origin in serve.known_origins())
        bound = f"[{serve.host}]" if ":" in serve.host else serve.host
        self._own = {host for host in (public, bound.lower(), *listed) if host}
        self._of_pages = {host for host in (public, *listed, *origins) if host}
        self.on_loopback = is_loopback(serve.host)

    def is_own(self, host: str) -> bool:
        """Say whether a `Host` is one of the settings, or on loopback a name of this machine."""
        name = _name(host)
        return bool(name) and ((self.on_loopback and is_loopback(name)) or _is_listed(host.lower(), name, self._own))

    def may_write(self, origin: str, host: str) -> bool:
        """Say whether a page of this `Origin` may write to this `Host`; `null` is the origin of a hidden page.

        A page of another port is another program's, on this machine too.
        """
        scheme, separator, sender = origin.lower().partition("://")
        name = _name(sender)
        if not separator or scheme not in _DEFAULT_PORTS or not name:
            return False
        port = _DEFAULT_PORTS[scheme]
        same = sender.removesuffix(port) == host.lower().removesuffix(port)
        return same or _is_listed(sender, name, self._of_pages)

    def base_url(self, request: Request) -> str:
        """Return what links to this service begin with.

        Where keys are asked for, a host that is not the service's own begins none: the links then have no host at all.
        """
        if self._public_url:
            return self._public_url
        if self._asks_for_keys and not self.is_own(request.headers.get("host", "")):
            return str(request.scope.get("root_path", ""))
        return str(request.base_url)


def _is_listed(host: str, name: str, known: Collection[str]) -> bool:
    """Say whether `host`, `NAME[:PORT]`, is known by itself, or its name with any port."""
    return host in known or name in known or f"[{name}]" in known


def _name(host: str) -> str:
    """Return the name in `NAME[:PORT]`, in lower case and without brackets; nothing if there is none."""
    try:
        parts = urlsplit(f"//{host}")
    except ValueError:
        return ""
    return "" if parts.path or parts.username is not None else (parts.hostname or "")
