"""Write what hostile files did as a Markdown table.

Flow: `hostile.py` -> **here** -> stdout. Pure.
"""

from collections.abc import Sequence

from bench.speed.hostile import Hostile

_HEADS = (
    "file",
    "MB",
    "ingested in, s",
    "slowest `/health`, s",
    "service, + MB",
    "with children, + MB",
    "cancelled in, s",
    "SIGTERM, s",
    "outcome",
)


def table(found: Sequence[Hostile]) -> str:
    """Return a row a file."""
    rows = [
        (
            one.name,
            f"{one.size_mb:.1f}",
            f"{one.ingest_s:.1f}",
            f"{one.health_s:.2f}",
            f"{one.growth_mb:.0f}",
            f"{one.children_mb:.0f}",
            "had ended" if one.cancel_s is None else f"{one.cancel_s:.1f}",
            f"{one.stop_s:.1f}",
            one.outcome.replace("|", r"\|"),
        )
        for one in found
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (_HEADS, ("---",) * len(_HEADS), *rows))
