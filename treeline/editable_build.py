"""Build backend of `pyproject.toml`: allows `pip install -e .`, refuses wheels and source distributions.

Flow: `pip install -e .` -> **here** -> setuptools. Treeline runs from its checkout. A wheel of it would put top-level
packages called `api`, `index` and `errors` into the site-packages of other projects.
"""

from typing import NoReturn

from setuptools.build_meta import (
    build_editable,
    get_requires_for_build_editable,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
]


def build_wheel(*_: object, **__: object) -> NoReturn:
    """Refuse to build.

    Raises:
        SystemExit: always; pip shows its sentence.
    """
    raise SystemExit(
        "Treeline is not built as a wheel: its top-level packages (api, index, errors, ...) do not belong in "
        "site-packages. Install its checkout instead: pip install -e . -c constraints.txt"
    )


# Frontends ask for requirements first, so the refusal comes before anything is downloaded.
build_sdist = get_requires_for_build_sdist = get_requires_for_build_wheel = build_wheel
