"""Ask a client for its key.

Flow: a route that depends on **this** -> refused, or on to the route. Without keys in the settings everybody may pass;
that such a service listens on loopback only is `listen.py`'s business.

Programs send `Authorization: Bearer KEY`, as OpenAI's do, or the header `Api-Key`, as ASK-xDD's do. A browser that
follows a citation can do neither, so it may send the key as the password of basic authentication, with any name.
"""

import binascii
from base64 import b64decode
from secrets import compare_digest
from typing import Annotated

from fastapi import Depends, Header

from api.dependencies import Service, ServiceDep
from errors import KeyNeededError, KeyRefusedError

FACT = "The key is missing or wrong."
REMEDY = "Send one of the service's keys as `Authorization: Bearer KEY`, or as the header Api-Key; a command of this "
REMEDY += "project sends the first one of its RAG_SERVE__KEYS."

SentKey = Annotated[str | None, Header()]


async def require_key(service: ServiceDep, api_key: SentKey = None, authorization: SentKey = None) -> None:
    """Compare what the headers hold with the keys of the settings.

    Raises:
        KeyNeededError: there are keys, and it is none of them.
    """
    if not _may_pass(service, api_key, authorization):
        raise KeyNeededError(FACT, REMEDY)


async def require_key_as_ask_xdd(service: ServiceDep, api_key: SentKey = None, authorization: SentKey = None) -> None:
    """Do the same where clients expect another status.

    Raises:
        KeyRefusedError: there are keys, and it is none of them.
    """
    if not _may_pass(service, api_key, authorization):
        raise KeyRefusedError(FACT, REMEDY)


KeyRequired = Depends(require_key)
AskXddKeyRequired = Depends(require_key_as_ask_xdd)


def _may_pass(service: Service, api_key: str | None, authorization: str | None) -> bool:
    known = service.settings.serve.known_keys()
    sent = [key.encode() for key in (api_key, _authorized(authorization or "")) if key]
    # All are compared, whichever fits: how long it takes tells nothing.
    return not known or any([compare_digest(one, key.encode()) for one in sent for key in known])


def _authorized(header: str) -> str:
    """Return the key that a header `Authorization` holds, or nothing."""
    scheme, _, value = header.partition(" ")
    match scheme.lower():
        case "bearer":
            return value.strip()
        case "basic":
            try:
                return b64decode(value).decode().partition(":")[2]
            except (binascii.Error, ValueError):
                return ""
        case _:
            return ""
