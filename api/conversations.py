"""Remember what was said up to a response, so that the next one can follow it by its id.

Flow: `routes/chat.py` -> **here**. In the memory of one process: a restart forgets it, and other workers and replicas
do not have it. Not safe for threads; it lives on the event loop.
"""

import time
from collections.abc import Callable

from cachetools import TTLCache

from errors import RagError
from query_engine.schema.turn import Turn

KEPT_S = 30 * 60
MAX_CHARS = 10_000_000
"""Of all conversations together, ids included; the one that was not read for the longest makes room."""
MAX_CHARS_EACH = 100_000
"""The oldest turns beyond are forgotten."""

Turns = tuple[Turn, ...]


class Conversations:
    """What was said up to each response, for the key that asked.

    Args:
        clock: seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: TTLCache[tuple[str, str], Turns] = TTLCache(MAX_CHARS, KEPT_S, timer=clock, getsizeof=_size)

    def keep(self, owner: str, response_id: str, turns: Turns) -> None:
        """Remember the turns up to a response, oldest first; the newest that fit.

        Args:
            owner: digest of the key; empty where none is asked for.
            response_id: which the client has.
            turns: the answer is the last one.
        """
        while _size(turns) > MAX_CHARS_EACH:
            turns = turns[1:]
        self._kept[owner, response_id] = turns

    def find(self, owner: str, response_id: str) -> Turns:
        """Return the turns up to a response.

        Raises:
            RagError: none is remembered, or another key asked for it.
        """
        turns = self._kept.get((owner, response_id))
        if turns is None:
            raise RagError(
                "There is no such previous_response_id.",
                "They are remembered for 30 minutes, by the process that gave them. Send the conversation as input.",
                "unknown_response",
            )
        return turns


def _size(turns: Turns) -> int:
    return 100 + sum(100 + len(turn.text) for turn in turns)
