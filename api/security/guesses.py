"""Count the wrong keys that come from an address, so that nobody can try one after the other.

Flow: `keyring.py` finds no key -> **here**. An address with too many is refused before its next key is looked at: the
refusal of a right one looks the same. Each process counts by itself.
"""

import ipaddress
import math
import secrets
import time
from collections.abc import Callable

from cachetools import TTLCache

from errors import TooManyRequestsError

MOST_WRONG = 10
"""From one address within `WINDOW_S`. A program that sends one wrong key again and again has sent one."""
WINDOW_S = 60.0
MAX_ADDRESSES = 10_000
"""That are remembered, each with `MOST_WRONG` keys; the one that was silent longest is forgotten first."""
# What one customer of a provider has at least.
_IPV6_PREFIX = 64


class Guesses:
    """The wrong keys of the last `WINDOW_S`. Not safe for threads; it lives on the event loop.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._tried: TTLCache[str, dict[str, float]] = TTLCache(MAX_ADDRESSES, WINDOW_S, timer=clock)

    def check(self, address: str) -> None:
        """Refuse an address that has sent too many wrong keys.

        Raises:
            TooManyRequestsError: so it is.
        """
        recent = self._recent(_network(address))
        if len(recent) >= MOST_WRONG:
            raise TooManyRequestsError(
                "Too many wrong keys came from your address.",
                "Send one of the service's keys after the seconds that the header Retry-After names.",
                max(1, math.ceil(min(recent.values()) + WINDOW_S - self._clock())),
            )

    def note(self, address: str, sha256: str, *, by_hand: bool) -> None:
        """Count a wrong key.

        Args:
            address: where it came from.
            sha256: of the key.
            by_hand: a person has sent it, so that the same one again counts again.
        """
        network = _network(address)
        guess = f"{sha256} {secrets.token_hex(8)}" if by_hand else sha256
        self._tried[network] = {**self._recent(network), guess: self._clock()}

    def _recent(self, network: str) -> dict[str, float]:
        since_s = self._clock() - WINDOW_S
        return {guess: at_s for guess, at_s in self._tried.get(network, {}).items() if at_s > since_s}


def _network(address: str) -> str:
    """Return the address, or the network of IPv6 addresses that one client has to choose from."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
