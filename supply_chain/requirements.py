"""Read which packages are installed for what: the lock, the constraints and the extras.

Flow: requirements.lock, constraints.txt, pyproject.toml and the installed packages' own metadata -> **here** ->
`notices.py`, and the tests of both.
"""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from settings import HOME


def pinned(file_name: str) -> dict[str, str]:
    """Return package -> version of a file of the checkout whose lines pin by `==`; names are normalised."""
    found = re.findall(r"^([\w.-]+)==([\w.+]+)", (HOME / file_name).read_text(encoding="utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in found}


def extra(name: str) -> list[str]:
    """Return the requirements of an extra of pyproject.toml, with those of the extras that it names."""
    project = tomllib.loads((HOME / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [Requirement(line) for line in project["optional-dependencies"][name]]
    inner = [line for one in listed if one.name == project["name"] for other in one.extras for line in extra(other)]
    return [str(one) for one in listed if one.name != project["name"]] + inner


def closure(wanted: Iterable[str], universe: Iterable[str]) -> set[str]:
    """Return the normalised names of what `wanted` and its dependencies need on this machine.

    Args:
        wanted: requirements, as pip reads them.
        universe: normalised names; whatever is not among them is left out, with what only it needs.
    """
    known = set(universe)
    found: dict[str, set[str]] = {}
    waiting = [Requirement(line) for line in wanted]
    while waiting:
        requirement = waiting.pop()
        name = str(canonicalize_name(requirement.name))
        new = ({""} | requirement.extras) - found.get(name, set())
        if name not in known or not new:
            continue
        found.setdefault(name, set()).update(new)
        try:
            needed = [Requirement(line) for line in requires(name) or ()]
        except PackageNotFoundError:
            continue
        waiting += [one for one in needed if one.marker is None or any(one.marker.evaluate({"extra": e}) for e in new)]
    return set(found)
