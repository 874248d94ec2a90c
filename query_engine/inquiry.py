"""A question as it arrives, with everything that decides its answer.

Flow: an edge (HTTP route, command line, evaluation) makes one -> `engine.py`, `answer_cache.py`. A pure value; what the
searches are given for it is a `schema/query.py`.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from query_engine.retrieval.steering import Steering
from query_engine.runtime.deadline import Deadline
from query_engine.schema.manner import AS_SET, Manner
from query_engine.schema.turn import Turn
from settings import Mode


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question and what belongs to it.

    Attributes:
        text: as it was asked.
        filters: which documents may be found, see `index.documents.filters.where`; None allows all.
        steering: moves the question; None leaves it.
        turns: the conversation before the question, oldest first.
        top_k: passages that the answer is written from, at most; None leaves it to the settings. Whether there is an
            answer is judged by all that were found.
        query_time: when it was asked, in the client's words, for a language model that writes; None tells it nothing.
        deadline: for this question alone; None starts the settings' one.
        mode: how passages are gathered: `single` (one pass), `agent` (`research/loop.py`), or `auto`, by which simple
            questions go in one pass. Read by `research/modes.py`.
        writer: who writes the answer, see `synthesis.build.writer_names`; None leaves it to the settings. Read by those
            who lease the engine, whose fingerprint it is part of.
        manner: how a language model writes.
        about_collection: whether a question about the collection itself is answered from its catalogue; otherwise it is
            searched for like any other. Not part of `key`: only answers that are not cached leave it out.
    """

    text: str
    filters: Mapping[str, Any] | None = None
    steering: Steering | None = None
    turns: tuple[Turn, ...] = ()
    top_k: int | None = None
    query_time: str | None = None
    deadline: Deadline | None = None
    mode: Mode = "single"
    writer: str | None = None
    manner: Manner = AS_SET
    about_collection: bool = True

    def key(self, corpus: str, fingerprint: str) -> str:
        """Hash everything that decides the answer, 64 hex digits.

        Args:
            corpus: its name.
            fingerprint: of the engine, `Engine.fingerprint`.
        """
        steered = None if self.steering is None else asdict(self.steering)
        turns = [asdict(turn) for turn in self.turns]
        parts = [corpus, fingerprint, self.text, self.filters, steered, turns, self.top_k, self.query_time, self.mode]
        return sha256(json.dumps([*parts, asdict(self.manner)], sort_keys=True).encode()).hexdigest()
