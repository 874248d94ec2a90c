"""Parse a mail into its parts, in time that grows with its length and no faster.

Flow: bytes of a mail, or of its headers alone -> **here**, by the standard library's `email` -> `mail.py`, `msg.py`.

The library takes parameters apart in time that grows with the square of a header's length, and asks of every line
whether it ends one of the multiparts around it. So a header is cut and the nesting of parts is bounded here, before the
library looks at them. What headers mean is the callers' business.
"""

from collections import Counter
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from email.policy import Policy, compat32
from email.utils import collapse_rfc2231_value
from typing import Any

from index.documents.blobs import LeftOut
from ingestion.reading.files import printable

MAX_HEADER_CHARS = 16_000
"""Of a whole header with all its lines. RFC 5322 allows 998 characters a line, and any number of lines."""
MAX_PARAMETERS_CHARS = 2_000
"""Of a header that has parameters, as `Content-Type` has."""
MAX_NESTING = 30
"""Parts within parts. A mail that is attached to another one is two levels further in."""
BURIED = "application/x-nested-too-deep"
"""The type of a part that is nested deeper and consists of parts; it is kept as it is."""
_SHOWN_NAMES = 10
_SHOWN_NAME_CHARS = 40


class Part(Message):
    """A mail, or a part of one.

    Attributes:
        nesting: how many parts it lies in.
        cut: names of its headers that were longer than they may be.
    """

    def __init__(self, policy: Policy = compat32) -> None:
        super().__init__(policy)
        self.nesting = 0
        self.cut: list[str] = []

    def set_raw(self, name: str, value: Any) -> None:
        """Keep a header as the parser found it, unfolded, but no more of it than may be parsed further."""
        limit = MAX_PARAMETERS_CHARS if name.lower().startswith("content-") else MAX_HEADER_CHARS
        if len(value) > limit:
            self.cut.append(name)
        super().set_raw(name, value[:limit])

    def attach(self, payload: Any) -> None:
        """Add a part, before its headers are known."""
        payload.nesting = self.nesting + 1
        super().attach(payload)

    def get_content_type(self) -> str:
        """Return the type, by which the parser decides whether to look for parts."""
        found = super().get_content_type()
        is_buried = self.nesting >= MAX_NESTING and found.startswith(("multipart/", "message/"))
        return BURIED if is_buried else found

    def get_param(self, param: str, failobj: Any = None, header: str = "content-type", unquote: bool = True) -> Any:
        """Return a parameter as text, or `failobj` where it is missing or damaged."""
        try:
            found = super().get_param(param, failobj, header, unquote)
            return collapse_rfc2231_value(found) if isinstance(found, tuple) else found
        except (ValueError, LookupError, TypeError, AttributeError):
            return failobj


def parsed(data: bytes) -> Part:
    """Return the mail that these bytes are; bytes that are not a mail make one without headers."""
    message = message_from_bytes(data, Part, policy=compat32)
    assert isinstance(message, Part)
    return message


def shortened_parts(message: Part, doc_id: str) -> Iterator[LeftOut]:
    """Yield what is missing of a mail: headers that were cut, and parts that are nested too deep."""
    parts = [part for part in message.walk() if isinstance(part, Part)]
    if cut := Counter(name for part in parts for name in part.cut):
        names = [f"{printable(name[:_SHOWN_NAME_CHARS])} ({count:,})" for name, count in cut.most_common(_SHOWN_NAMES)]
        limits = f"{MAX_HEADER_CHARS:,} characters, or {MAX_PARAMETERS_CHARS:,} where it describes content"
        yield LeftOut(doc_id, f"A header has at most {limits}; these were cut: {', '.join(names)}.")
    if buried := sum(part.get_content_type() == BURIED for part in parts):
        yield LeftOut(doc_id, f"Parts nested more than {MAX_NESTING} deep were not read ({buried:,}).")
