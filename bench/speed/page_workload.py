"""What the page is measured on: a long document, a long answer, and an outline of many nodes.

Flow: **here** -> `page.py`. Pure.
"""

from typing import Any

LONG_CHARS = 1_200_000
OUTLINE_NODES = 5_000
QUESTION = "Who kept the Quarnevik lighthouse?"
FACT = "The Quarnevik lighthouse was kept by Halvard Brenn until 1931."
OUTLINE_ID = "outline.md"
# The same words over and over, so that a leaf is embedded once. The table is what Markdown takes longest for.
_SECTION = """## A day at the coast

The keeper notes the wind, the height of the waves and the ships that pass. Fog was signalled by a horn,
**three blasts** a minute, until the weather cleared. The lamp burns from dusk to dawn, and its
lens is cleaned each morning.

| Hour | Wind | Ships |
|---|---|---|
| 6 | north-west, 4 | 2 |
| 18 | west, 7 | 11 |

"""
_LEAF_CHARS, _LEAVES_A_MIDDLE, _MIDDLES_A_ROOT = 400, 4, 8


def long_document() -> str:
    """Return Markdown of `LONG_CHARS` characters whose last paragraph is `FACT`."""
    head, tail = "# The coast, day by day\n\n", f"## The keeper\n\n{FACT}\n"
    sections = _SECTION * (LONG_CHARS // len(_SECTION) + 1)
    return f"{head}{sections[: LONG_CHARS - len(head) - len(tail) - 2]}\n\n{tail}"


def long_answer(words: int) -> str:
    """Return Markdown of about so many words, with citations, lists and tables.

    No two sentences are alike, since an answer ends where a model begins to repeat itself.
    """
    parts: list[str] = []
    while sum(len(part.split()) for part in parts) < words:
        day = len(parts) + 1
        parts.append(
            f"On day {day} of that year the lighthouse was **kept** by Halvard Brenn, who noted {day * 7} ships [1]. "
            f"The wind turned {day * 13} degrees before noon [2].\n\n- The lamp burned for {day * 11} minutes [1].\n"
            f"- Fog was signalled {day * 3} times [2].\n\n"
            f"| Hour | Ships of day {day} |\n|---|---|\n| {day + 5} | {day * 5} |\n\n"
        )
    return "".join(parts)


def outline() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a document of `OUTLINE_NODES` nodes as `/documents/{doc_id}` sends it, and the reply of `/retrieve`.

    Something matches in each section, so that all of the outline is drawn.
    """
    nodes: list[tuple[int, int, int, int]] = []
    passages: list[dict[str, Any]] = []
    start = 0
    while len(nodes) < OUTLINE_NODES:
        root, root_chars = len(nodes), _LEAF_CHARS * _LEAVES_A_MIDDLE * _MIDDLES_A_ROOT
        nodes.append((0, start, start + root_chars, -1))
        passages.append(_passage(start, len(passages)))
        for middle_start in range(start, start + root_chars, _LEAF_CHARS * _LEAVES_A_MIDDLE):
            middle = len(nodes)
            nodes.append((1, middle_start, middle_start + _LEAF_CHARS * _LEAVES_A_MIDDLE, root))
            for leaf in range(_LEAVES_A_MIDDLE):
                leaf_start = middle_start + leaf * _LEAF_CHARS
                nodes.append((2, leaf_start, leaf_start + _LEAF_CHARS, middle))
        start += root_chars
    document: dict[str, Any] = {
        "corpus": "default",
        "doc_id": OUTLINE_ID,
        "title": "An outline",
        "url": None,
        "pages": [],
        "metadata": {},
        "span": None,
        "notice": None,
        "text": ("Wind turns blades. " * (start // 19 + 1))[:start],
        "content_type": "markdown",
        "nodes": nodes,
    }
    timings = {"retrieve": 1.0}
    found = {"retrieval_id": None, "passages": passages, "left_out": [], "warnings": [], "timings_ms": timings}
    return document, found


def _passage(start: int, rank: int) -> dict[str, Any]:
    score = 1 / (1 + rank)
    leaf = {"start": start, "end": start + _LEAF_CHARS, "score": score}
    return {
        "doc_id": OUTLINE_ID,
        "title": "An outline",
        "chunk_id": f"{OUTLINE_ID}#{rank}",
        "node_id": f"{OUTLINE_ID}#{rank}",
        "start": start,
        "end": start + _LEAF_CHARS * _LEAVES_A_MIDDLE,
        "level": "middle",
        "score": score,
        "scores": {},
        "text": "Wind turns blades.",
        "explanation": {"merged": "4 of 4 leaves matched", "leaves": [leaf]},
    }
