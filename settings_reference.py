"""Write `reference/settings.md` and `.env.example` from the declared settings: `python -m settings_reference`.

Flow: `setting_groups.py` -> `settings.py` -> **here** -> the two files. A test fails while they differ from what is
declared.
"""

import types
import typing
from typing import Any

from pydantic.fields import FieldInfo

from settings import HOME, PREFIX, Settings

_PAGE_HEAD = """# Settings

Set them in the environment or in `.env` ([.env.example](../.env.example)), the working directory's or else the
checkout's; the environment wins. An unknown `RAG_*` name stops the start and names the nearest known one.

Whole recipes, with their reasons: `cp presets/NAME.env .env`.

| preset | recipe of |
|---|---|
| [`crag`](../presets/crag.env) | RAG_system: CRAG's questions with web pages, answers of 50 words |
| [`bedrock`](../presets/bedrock.env) | bedrock-rag-eval: fixed chunks, 60/40 hybrid search, Mistral |
| [`mmu`](../presets/mmu.env) | an MMU-RAG submission: reports, ten minutes ([competition.md](../docs/competition.md)) |

| a relative folder in | lies in |
|---|---|
| a default | the checkout |
| a `.env` file | that file's folder |
| a variable | the working directory |

This page is written by `python -m settings_reference`.
"""
_TABLE_HEAD = "| variable | default | values | meaning |\n|---|---|---|---|\n"
_EXAMPLE_HEAD = "# Copy this file to .env and uncomment what you change. It lists every variable with its default.\n"
_BOUNDS = {"ge": "≥ {}", "gt": "> {}", "le": "≤ {}", "lt": "< {}"}


def reference_page() -> str:
    """Return `reference/settings.md`: a table for each group, with default, permitted values and meaning."""
    parts = [_PAGE_HEAD]
    for group_name, group in Settings.model_fields.items():
        parts.append(f"\n## {(type(group.default).__doc__ or '').rstrip('.')}\n\n{_TABLE_HEAD}")
        for name, field in type(group.default).model_fields.items():
            default = f"`{_as_text(field.default)}`" if _as_text(field.default) else "–"
            parts.append(
                f"| `{_variable(group_name, name)}` | {default} | {_permitted(field)} | {field.description} |\n"
            )
    return "".join(parts)


def example_file() -> str:
    """Return `.env.example`: every variable commented out, below its meaning."""
    entries = [
        f"\n# {field.description}\n#{_variable(group_name, name)}={_as_text(field.default)}\n"
        for group_name, group in Settings.model_fields.items()
        for name, field in type(group.default).model_fields.items()
    ]
    return _EXAMPLE_HEAD + "".join(entries)


def _variable(group: str, name: str) -> str:
    return f"{PREFIX}{group}__{name}".upper()


def _as_text(default: object) -> str:
    """Return a default as it is written into the environment; empty if there is none."""
    if default is None:
        return ""
    return str(default).lower() if isinstance(default, bool) else str(default)


def _permitted(field: FieldInfo) -> str:
    kind: Any = field.annotation
    if typing.get_origin(kind) in (typing.Union, types.UnionType):
        kind = next(one for one in typing.get_args(kind) if one is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        return ", ".join(f"`{value}`" for value in typing.get_args(kind))
    bounds = {
        name: f"{value:,}"
        for constraint in field.metadata
        for name in _BOUNDS
        if (value := getattr(constraint, name, None)) is not None
    }
    if "ge" in bounds and "le" in bounds:
        return f"{bounds['ge']} to {bounds['le']}"
    return ", ".join(_BOUNDS[name].format(value) for name, value in bounds.items())


if __name__ == "__main__":
    (HOME / "reference" / "settings.md").write_text(reference_page())
    (HOME / ".env.example").write_text(example_file())
