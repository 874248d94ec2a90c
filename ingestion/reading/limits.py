"""How much one file and one document may hold. Flow: `reader.py` -> child process -> **here** -> every reader."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What the child process may read.

    Attributes:
        max_bytes: of a file that is read as a whole, decompressed.
        max_chars: of one document's text.
    """

    max_bytes: int
    max_chars: int
