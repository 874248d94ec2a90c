"""Join a module of the page and those that it imports into one file, so that a browser asks once instead of 40 times.

Flow: `page.py`, once a process -> **here** -> the text of one module. Each of our modules becomes a function, in the
order of their imports; libraries (`vendor/`) stay files and are imported as before. It reads the imports and
exports that our modules write, one a line, and no other JavaScript.
"""

import re
from pathlib import Path

_IMPORT = re.compile(r'^import (\{ .+ \}|\w+) from "\./((?:vendor/)?(\w[\w-]*)\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*? |const |class )(\w+)", re.MULTILINE)


def joined(entry: Path) -> str:
    """Return a module with all that it imports; it runs as `entry` does.

    Raises:
        ValueError: modules import each other, or write an import or export in another way.
    """
    parts: dict[str, str] = {}
    _add(entry, parts, ())
    return "".join(parts.values())


def _add(path: Path, parts: dict[str, str], within: tuple[str, ...]) -> None:
    if path.stem in within:
        raise ValueError(f"{' -> '.join(within)} -> {path.stem} is a circle")
    text = path.read_text(encoding="utf-8")
    for _, file, name in _IMPORT.findall(text):
        if name in parts:
            continue
        if file.startswith("vendor/"):
            # Imports run first wherever they stand.
            parts[name] = f'import * as {_variable(name)} from "./{file}";\n'
        else:
            _add(path.with_name(file), parts, (*within, path.stem))
    exported = ", ".join(name for _, name in _EXPORT.findall(text))
    body = _EXPORT.sub(r"\1\2", _IMPORT.sub(_taken, text))
    if other := re.search(r"^(?:import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"{path.name} is not understood: {other[0]}")
    parts[path.stem] = f"const {_variable(path.stem)} = (() => {{\n{body}return {{ {exported} }};\n}})();\n"


def _taken(found: re.Match[str]) -> str:
    names, _, module = found.groups()
    wanted = names.replace(" as ", ": ") if names.startswith("{") else f"{{ default: {names} }}"
    return f"const {wanted} = {_variable(module)};\n"


def _variable(module: str) -> str:
    return "$" + module.replace("-", "_")
