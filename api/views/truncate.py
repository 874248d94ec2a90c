"""Cut text so that it fits into one line of a stream, and say so.

Flow: `run.py` builds a record -> **here** keeps it short -> one `data:` line. Pure.

Clients read a stream line by line with buffers as small as 64 KiB. Sizes are those of the text as ASCII JSON, which is
what goes over the wire.
"""

import json
import re

_SENTENCE_END = re.compile(r"[.!?。！？][\"'”’)\]]*(?=\s)|[。！？]|\n")


def json_bytes(text: str) -> int:
    """Return the size of `text` as an ASCII JSON string, without the quotes."""
    return len(json.dumps(text)) - 2


def fit(text: str, max_bytes: int, note: str) -> str:
    """Return `text`, or its longest beginning that ends with a sentence and fits with `note` into `max_bytes`.

    Without a sentence end in the second half of the room the cut is made between two characters.
    """
    if json_bytes(text) <= max_bytes:
        return text
    room = max_bytes - json_bytes(note)
    head = text[: _longest_prefix(text, room)]
    ends = [match.end() for match in _SENTENCE_END.finditer(head, len(head) // 2)]
    return head[: ends[-1] if ends else len(head)].rstrip() + note


def _longest_prefix(text: str, max_bytes: int) -> int:
    low, high = 0, min(len(text), max_bytes)
    while low < high:
        middle = (low + high + 1) // 2
        if json_bytes(text[:middle]) <= max_bytes:
            low = middle
        else:
            high = middle - 1
    return low
