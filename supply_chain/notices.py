"""Write the tables of packages in THIRD_PARTY_NOTICES.md: `.venv/bin/python -m supply_chain.notices`.

Flow: `requirements.py` says which packages -> **here**: the licence that each one's metadata states -> the table below
its heading. The text around the tables is written by hand. A test fails while the tables differ from what is installed.
"""

import re
from importlib.metadata import Distribution, distribution

from settings import HOME
from supply_chain.requirements import closure, extra, pinned

FILE = HOME / "THIRD_PARTY_NOTICES.md"
# Heading -> the extras whose packages stand below it, less those of the tables before. Whatever is left is the tests'.
SECTIONS = {
    "The service": ("otel",),
    "OCR, beside those": ("ocr",),
    "Offline evaluation, beside those": ("eval",),
    "Fine-tuning, beside those": ("training",),
    "Tests and checks, beside those": ("dev",),
}
# What the metadata leave out.
ADDED = {
    "axe-playwright-python": "MIT; holds axe-core, MPL-2.0",
    "docutils": "Public Domain, BSD License, GPL: see Copyleft",
    "opencv-python-headless": "Apache 2.0; its wheel holds libraries under licences of their own: see Copyleft",
    "shapely": "BSD-3-Clause; its wheel holds GEOS: see Copyleft",
    "tld": "MPL-1.1 OR GPL-2.0-only OR LGPL-2.1-or-later: see Copyleft",
}


def tables() -> dict[str, str]:
    """Return heading -> its table.

    Raises:
        importlib.metadata.PackageNotFoundError: a package of the constraints is not installed.
    """
    universe = pinned("constraints.txt") | pinned("requirements-models.txt")
    # PyTorch is in no list, since its build is the user's choice.
    seen: set[str] = set()
    found = {}
    for heading, extras in SECTIONS.items():
        names = closure(
            ["torch", *pinned("requirements.lock"), *(line for one in extras for line in extra(one))], universe
        )
        found[heading] = _table(names - seen)
        seen |= names
    return found


def notices(text: str) -> str:
    """Return the page with its tables as they should be."""
    for heading, table in tables().items():
        found = re.search(rf"(?ms)^## {re.escape(heading)}\n[^#]*?(^\| Package \|.*?\n)(?=\n|\Z)", text)
        if found is None:
            raise ValueError(f"{FILE.name} has no table below the heading {heading!r}.")
        text = text[: found.start(1)] + table + text[found.end(1) :]
    return text


def licence_of(package: Distribution) -> str:
    """Return what a package's metadata say of its licence: an SPDX expression, its classifiers, or its own words."""
    metadata = package.metadata
    stated = [line.rpartition(" :: ")[2] for line in metadata.get_all("Classifier", []) if line.startswith("License")]
    classified = ", ".join(one for one in stated if one != "OSI Approved")
    # Some have the whole text there; its title is its first line.
    own = (metadata["License"] or "").strip().partition("\n")[0]
    return metadata["License-Expression"] or classified or own


def _table(names: set[str]) -> str:
    rows = {}
    for name in names:
        package = distribution(name)
        rows[package.metadata["Name"]] = ADDED.get(name) or licence_of(package)
    lines = [f"| {name} | {rows[name]} |\n" for name in sorted(rows, key=str.lower)]
    return "".join(["| Package | Licence |\n|---|---|\n", *lines])


if __name__ == "__main__":
    FILE.write_text(notices(FILE.read_text(encoding="utf-8")), encoding="utf-8")
