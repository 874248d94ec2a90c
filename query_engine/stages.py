"""Tell the stages of an answer by its events: `understand`, `search`, `decide`, `write`.

Flow: `answer_stream.py` hands over the events of a question, in its thread -> **here** -> `runtime/watching.py`. The
fifth stage, `read`, has no event: it is a part of `decide` (of `search` where a question has parts), and the gate tells
it itself. Questions about the collection end in `understand`.
"""

from collections.abc import Generator
from contextlib import ExitStack, closing

from query_engine.runtime.watching import WATCH, part
from query_engine.schema.events import Done, Event, Retrieved, Step

_BEGINS = {"search": "search", "gate": "", "write": "write"}
"""Kind of a step -> the stage that it begins; after the gate has spoken it takes a step to begin another."""


def in_stages(events: Generator[Event, None, None]) -> Generator[Event, None, None]:
    """Return the same events, each stage between them watched; closing it closes `events`."""
    return events if WATCH.get() is None else _watched(events)


def _watched(events: Generator[Event, None, None]) -> Generator[Event, None, None]:
    with closing(events), ExitStack() as running:
        stage = "understand"
        running.enter_context(part(stage))
        for event in events:
            following = _after(event, stage)
            if following != stage:
                running.close()
                stage = following
                if stage:
                    running.enter_context(part(stage))
            yield event


def _after(event: Event, stage: str) -> str:
    """Return the stage that goes on after an event; nothing between two stages."""
    match event:
        case Retrieved():
            return "decide"
        case Done():
            return ""
        case Step(kind=kind) if kind in _BEGINS and (kind != "search" or stage == "understand"):
            return _BEGINS[kind]
        case _:
            return stage
