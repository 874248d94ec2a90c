"""Ask a client for its key.

Flow: a route that depends on **this** -> refused, or on to the route. Without keys in the settings everybody may pass;
that such a service listens on loopback only is `door.py`'s business.
"""

from secrets import compare_digest
from typing import Annotated

from fastapi import Depends, Header

from api.service import ServiceDep
from errors import KeyRefusedError


def require_key(service: ServiceDep, api_key: Annotated[str | None, Header()] = None) -> None:
    """Compare the header `Api-Key` with the keys of the settings.

    Raises:
        KeyRefusedError: there are keys, and it is none of them.
    """
    keys = service.settings.serve.keys
    if keys is None:
        return
    sent = (api_key or "").encode()
    # All are compared, whichever fits: how long it takes tells nothing.
    if not any([compare_digest(sent, known.encode()) for known in keys.get_secret_value().split(",")]):
        raise KeyRefusedError("The key is missing or wrong.", "Send one of the service's keys as the header Api-Key.")


KeyRequired = Depends(require_key)
