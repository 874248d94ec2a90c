"""One earlier message of a conversation. A pure value."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Turn:
    """What the user or the assistant said."""

    role: Literal["user", "assistant"]
    text: str
