"""The complete pipelines of `docs/pipelines.md`, for clients that offer some to begin with.

Flow: the guide -> **here** -> `GET /pipeline/examples` -> the web page. The guide holds the only copy, and a test runs
each body as it stands there.
"""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

GUIDE = Path(__file__).parents[1] / "docs" / "pipelines.md"

_BODY = re.compile(r"^```json\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = "\n## "


@cache
def examples() -> tuple[dict[str, Any], ...]:
    """Return the bodies in the order of the guide: `title`, the heading that one stands under, and `pipeline`, plain.

    Raises:
        FileNotFoundError: the guide is not installed.
    """
    found = []
    for section in GUIDE.read_text(encoding="utf-8").split(_HEADING)[1:]:
        title = section.partition("\n")[0].strip()
        bodies = map(json.loads, _BODY.findall(section))
        found += [{"title": title, "pipeline": body.get("pipeline", body)} for body in bodies]
    return tuple(found)
