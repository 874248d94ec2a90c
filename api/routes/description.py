"""`GET /openapi.json`: the description of the service, for programs that make clients of it and for the page `/docs`.

Flow: `openapi.py` describes every route -> **here** -> as much of it as the caller's key opens. A client without a
key, where keys are asked for, sees what a key for reading would open; it names no corpus and no setting.
"""

import re
from typing import Any

from fastapi import APIRouter, Request

from api.caller import CALLER, NOBODY, READ, Key
from api.openapi import SECURED, TAGS
from api.security.auth import OPEN_PATHS, refusal
from api.views.negotiation import JSONReply

ANY_READER = Key("any reader", "", frozenset({READ}))

_NAMED = re.compile(r'"#/components/schemas/([^"]+)"')

router = APIRouter(include_in_schema=False)


@router.get("/openapi.json")
def description(request: Request) -> JSONReply:
    """Return the OpenAPI description of what the caller may do."""
    caller = CALLER.get()
    shown = seen_by(ANY_READER if caller is NOBODY else caller, request.app.openapi(), guarded=caller is not None)
    if root := request.scope.get("root_path", "").rstrip("/"):
        shown["servers"] = [{"url": root}]
    return JSONReply(shown, headers={"Cache-Control": "private, no-cache"})


def seen_by(key: Key | None, document: dict[str, Any], *, guarded: bool) -> dict[str, Any]:
    """Return a description without the operations that a key does not open, and what only these need.

    Args:
        key: None opens everything.
        document: describes everything.
        guarded: whether a key is asked for; else the description says that none is needed.
    """
    paths: dict[str, Any] = {}
    for path, operations in document["paths"].items():
        opened = {
            method: _secured(path, operation, guarded=guarded)
            for method, operation in operations.items()
            if refusal(key, method.upper(), path) is None
        }
        if opened:
            paths[path] = opened
    components = document["components"]
    used = _used(paths, components["schemas"])
    schemas = {name: schema for name, schema in components["schemas"].items() if name in used}
    tags = {tag for operations in paths.values() for one in operations.values() for tag in one.get("tags", ())}
    return {
        **document,
        "tags": [tag for tag in TAGS if tag["name"] in tags],
        "paths": paths,
        "components": {**components, "schemas": schemas},
    }


def _secured(path: str, operation: dict[str, Any], *, guarded: bool) -> dict[str, Any]:
    if path in OPEN_PATHS:
        return {**operation, "security": []}
    return {**operation, "security": SECURED if guarded else [*SECURED, {}]}


def _used(paths: dict[str, Any], schemas: dict[str, Any]) -> set[str]:
    """Return the names of the schemas that operations need, with those that these need."""
    found: set[str] = set()
    left = _names_in(paths)
    while left:
        found |= left
        left = {name for one in left for name in _names_in(schemas[one])} - found
    return found


def _names_in(value: Any) -> set[str]:
    return set(_NAMED.findall(str(JSONReply(value).body, "utf-8")))
