"""Tell addresses that only this machine has, or a private network, from public ones.

Flow: servers and clients of HTTP -> **here**. No proxy stands between two programs of one machine, so
clients ask such addresses directly and ignore the environment's proxy variables.
"""

import ipaddress
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach `host`; any name but `localhost` may lead outside."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def is_public(address: str) -> bool:
    """Say whether an IP address is one of the public internet: not of this machine, a private network or many hosts."""
    found = ipaddress.ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_global and not found.is_multicast


def may_use_proxy(url: str) -> bool:
    """Say whether a client of this address may go through a proxy: httpx's `trust_env`."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return True  # no address; the client that asks it says so
    return not is_loopback(host)
