"""Tasks and the chats over them are there for the key that submitted the task, and for admins.

Flow: a request that names a task or a chat -> **here**, before its route -> `pipelines/tasks/`. To any other key they
are unknown, like ids that never were.
"""

from typing import Any

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from api.caller import CALLER, Key, opens_id
from api.dependencies import ServiceDep
from pipelines.tasks.chats import unknown_chat
from pipelines.tasks.queue import TaskQueue
from pipelines.tasks.store import unknown_task


async def require_own_task(request: Request, service: ServiceDep) -> None:
    """Ask whether the task or chat that a request names is there for its caller.

    Raises:
        RagError: no such task or chat is.
    """
    key = CALLER.get()
    named = [request.path_params.get("task_id"), *request.query_params.getlist("task_id")]
    task_ids, chat_id = [one for one in named if one is not None], request.path_params.get("chat_id")
    if key is not None and (chat_id is not None or task_ids):
        await run_in_threadpool(_check, service.pipelines.tasks, key, chat_id, task_ids)


OwnTask: Any = Depends(require_own_task)


def _check(tasks: TaskQueue, key: Key, chat_id: str | None, task_ids: list[str]) -> None:
    if chat_id is not None:
        if not _opens(tasks, key, tasks.chats.get(chat_id).task_id):
            raise unknown_chat()
    elif not all(_opens(tasks, key, task_id) for task_id in task_ids):
        raise unknown_task()


def _opens(tasks: TaskQueue, key: Key, task_id: str) -> bool:
    return opens_id(key, task_id, tasks.store.get(task_id).mark)
