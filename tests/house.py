"""The size of the house, which may only shrink: `python -m tests.house` lowers the figures of `house.toml` to what is.

Flow: the tree -> figures **here** -> `tests/unit/test_house.py`, which fails while one is above the file. To raise one,
edit the file, where a review sees it. `--question` also lowers the figures of `python -m bench trace`, which takes a
minute.
"""

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

from settings import HOME, load_settings, variables

FILE = Path(__file__).with_name("house.toml")
TOP = "top level"
_HEAD = "# No figure of the house may rise above this file. `python -m tests.house` lowers what has become less.\n"

Figures = dict[str, dict[str, int]]


def allowed() -> Figures:
    """Return the figures of the file."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def measured(home: Path = HOME) -> Figures:
    """Return what can be read from the tree: lines and files of each room, words of the docs, settings, errors."""
    rooms = {folder.parent.name: sorted(folder.parent.rglob("*.py")) for folder in sorted(home.glob("*/__init__.py"))}
    rooms[TOP] = sorted(home.glob("*.py"))
    texts = {room: [path.read_text(encoding="utf-8") for path in paths] for room, paths in rooms.items()}
    product = "".join(text for room, files in texts.items() for text in files if room != "tests")
    docs = {"README": [home / "README.md"], "docs": home.glob("docs/*.md"), "adr": home.glob("docs/adr/*.md")}
    return {
        "lines": {room: sum(text.count("\n") for text in files) for room, files in texts.items()},
        "files": {room: len(files) for room, files in texts.items()},
        "words": {name: sum(len(page.read_text(encoding="utf-8").split()) for page in at) for name, at in docs.items()},
        "whole": {
            "settings": len(variables()),
            "error_classes": len(re.findall(r"^class \w+Error\(", product, re.MULTILINE)),
        },
    }


def risen(found: Figures) -> list[str]:
    """Return the figures that are above the file, or not in it."""
    limits = allowed()
    return [
        f"{group}, {name}: {value}, at most {limits.get(group, {}).get(name, 0)}"
        for group, values in found.items()
        for name, value in values.items()
        if value > limits.get(group, {}).get(name, 0)
    ]


def lowered(found: Figures) -> str:
    """Return the file with each figure that was measured lower; one that is not in it yet comes in."""
    limits = allowed()
    groups = {
        group: {name: min(value, limits.get(group, {}).get(name, value)) for name, value in found[group].items()}
        if group in found
        else limits[group]
        for group in {**found, **limits}
    }
    return _HEAD + "".join(
        f"\n[{group}]\n" + "".join(f'"{name}" = {value}\n' for name, value in values.items())
        for group, values in groups.items()
    )


def main(argv: Sequence[str]) -> int:
    """Lower the file's figures; 1 if one has risen."""
    found = measured()
    if "--question" in argv:
        from bench.trace import traced  # noqa: PLC0415  # loads the whole service

        found["question"] = traced(load_settings()).figures()
    FILE.write_text(lowered(found), encoding="utf-8")
    above = risen(found)
    sys.stderr.writelines(f"{line}\n" for line in above)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
