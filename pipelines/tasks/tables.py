"""The tables of a task as they are kept: after each step only the columns that it changed.

Flow: `live.py` hands each step's state to `TableKeeper` -> the store -> `read_state` puts together what is asked for:
one step's table, whole or some columns of it. No earlier table is read for it.
"""

from collections.abc import Collection

from errors import StepError
from pipelines import running
from pipelines.state import PipelineState, from_bytes, from_facts, joined, to_bytes, to_facts, unchanged
from pipelines.tasks.store import TaskStore


class TableKeeper:
    """Keeps a running task's tables, for the thread that runs it.

    Args:
        store: of the tasks.
        task_id: names the task.
    """

    def __init__(self, store: TaskStore, task_id: str) -> None:
        self._store = store
        self._task_id = task_id
        self._last = PipelineState("")
        # Column of the last table -> the step with whose columns it is kept.
        self._places: dict[str, int] = {}

    def keep(self, state: PipelineState, log: Collection[str]) -> None:
        """Keep how things stand after the last step of a state's history.

        Raises:
            StepError: the task's tables take too much room.
            TasksUnavailableError: the disk refuses.
        """
        number = state.history[-1].step
        places = {
            name: self._places[name] if name in self._places and unchanged(name, self._last, state) else number
            for name in state.columns
        }
        changed = to_bytes(state.documents.select([name for name, step in places.items() if step == number]))
        size = self._store.size(self._task_id) + len(changed)
        if size > running.MAX_TABLE_BYTES:
            raise StepError(
                f"The tables of this task take {size:,} bytes on disk; {running.MAX_TABLE_BYTES:,} are allowed.",
                "Ask for fewer documents or steps.",
            )
        self._store.keep(self._task_id, number, to_facts(state, places), changed, list(log))
        self._last, self._places = state, places


def read_state(
    store: TaskStore, task_id: str, query: str, step: int | None = None, columns: Collection[str] | None = None
) -> PipelineState:
    """Return how things stood after a step; a new state before the first one.

    Args:
        store: of the tasks.
        task_id: names the task.
        query: of a new state.
        step: its number; None for the last one.
        columns: those of the table that are read, where they are there; None for all.
    """
    facts = [one for one in store.facts(task_id) if step is None or one["step"] <= step]
    if not facts or (step is not None and facts[-1]["step"] != step):
        return PipelineState(query)
    places: dict[str, int] = facts[-1]["columns"]
    wanted = [name for name in places if columns is None or name in columns]
    read = {
        place: from_bytes(store.columns_of(task_id, place), [name for name in wanted if places[name] == place])
        for place in {places[name] for name in wanted}
    }
    return from_facts(facts, joined(wanted, {name: read[places[name]] for name in wanted}))
