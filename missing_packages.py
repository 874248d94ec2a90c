"""Tell in one line that a package is missing, and how to get it; imported first by every program of the project.

Flow: `main.py` and each `__main__.py` (for `python -m treeline` its `__init__.py`) import **this** before anything that
is installed -> an import fails -> one line on stderr, exit code 1. Most often the program was started by another Python
than the one of `.venv`. Packages that only some commands need are asked for where they are used, with a remedy of their
own.
"""

import os
import sys
from types import TracebackType
from typing import Optional, Type  # noqa: UP035  # this file must be readable to any Python 3

_HOME = os.path.dirname(os.path.abspath(__file__))


def tell(kind: Type[BaseException], error: BaseException, trace: Optional[TracebackType]) -> None:  # noqa: UP006, UP045
    """Show an error that ended the program: a missing package as one line, anything else as ever."""
    missing = (getattr(error, "name", None) or "").partition(".")[0]
    if not issubclass(kind, ModuleNotFoundError) or not missing or _is_ours(missing):
        sys.__excepthook__(kind, error, trace)
        return
    python = os.path.join(_HOME, ".venv", "bin", "python")
    sys.stderr.write(
        f"error[not_installed]: The package {missing!r} is not installed for {sys.executable}. "
        f"Run `make install` in {_HOME}, then start the program by {python}.\n"
    )


def _is_ours(name: str) -> bool:
    """Tell a module of the project, whose absence is a bug, from a package."""
    path = os.path.join(_HOME, name)
    return os.path.isdir(path) or os.path.isfile(f"{path}.py")


sys.excepthook = tell
