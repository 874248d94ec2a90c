"""Read a pipeline from a file: YAML or JSON, in the form of `POST /task/run`.

Flow: `python -m pipelines`, `python -m eval run --pipeline` -> **here** -> `body.py` checks it.
"""

import json
from pathlib import Path

import yaml

from errors import PipelineError


def read_file(path: Path) -> object:
    """Return the body that a file holds.

    Raises:
        PipelineError: it cannot be read, is neither YAML nor JSON, or holds what JSON cannot: a date, or itself.
    """
    try:
        body = yaml.safe_load(path.read_text("utf-8"))
    except OSError as error:
        raise PipelineError(f"{path} cannot be read: {error.strerror}.", "Name a YAML or JSON file.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise PipelineError(f"{path} is neither YAML nor JSON: {error}.", "Mend the file.") from error
    body = _with_text_keys(body)
    if isinstance(body, dict) and "pipeline" in body:
        body["pipeline"] = _with_text_keys(body["pipeline"])
    try:
        json.dumps(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise PipelineError(
            f"{path} holds what JSON cannot: {error}.", "Write dates in quotes, and no anchor inside of itself."
        ) from error
    return body


def _with_text_keys(body: object) -> object:
    """Return a body in which YAML's numbers of steps are text, as they are in JSON."""
    if not isinstance(body, dict):
        return body
    return {str(key) if isinstance(key, int) else key: value for key, value in body.items()}
