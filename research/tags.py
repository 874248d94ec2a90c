"""Read the tags of a model's reply, also where they are malformed.

Flow: `by_model.py` -> **here** -> a `ReviewReply`. Small models get tags right more often than JSON, but not always.
What is assumed otherwise:

- a tag may be written in capitals, with `_` or a blank for `-`, in Markdown's backticks, and may lack its end: its text
  then goes to the next tag, or to the end of the reply;
- of a repeated tag the first that is not empty counts, but of `<new-query>` all count;
- `<useful-docs>` that is missing, or has no number and does not say "none": all documents count as useful, since one
  too many costs less than one too few; numbers that no document has are ignored, and if none is left, the same holds;
- `<is-sufficient>` that says neither yes nor no, or missing: no;
- `<new-query>` that says "none" or nothing: no query; several lines: the first ones, without numbering and quotes; a
  sentence longer than `MAX_QUERY_CHARS` is not a query.

Pure.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from query_engine.llms.reply import listed

MAX_QUERY_CHARS = 300
MAX_SUMMARY_CHARS = 600
_NAMES = "useful-docs|summary|is-sufficient|new-query|query"
_TAG = re.compile(rf"<\s*(/?)\s*({_NAMES.replace('-', '[-_ ]')})\s*>", re.I)
_YES = re.compile(r"\W*(?:yes|true|sufficient|1)\b", re.I)
_NONE = re.compile(r"\W*(?:none|n/?a|nothing|no(?: new)?(?: query| documents?)?|empty|null)?\W*", re.I)
_ALL = re.compile(r"\W*(?:all|every)\b", re.I)
_RANGE = re.compile(r"(\d{1,3})\s*(?:-|–|to)\s*(\d{1,3})")


@dataclass(frozen=True, slots=True)
class ReviewReply:
    """What a reply says.

    Attributes:
        useful: places of documents from 0, in the order given; None where it is left open, `()` for none of them.
        summary: may be empty.
        queries: for the next round; may be empty.
    """

    useful: tuple[int, ...] | None
    summary: str
    sufficient: bool
    queries: tuple[str, ...]


def read_review(reply: str, documents: int) -> ReviewReply:
    """Read a reply about so many documents; never fails."""
    tags = _tags(reply)
    queries = tuple(query for text in tags.get("new-query", []) for query in _queries(text))
    return ReviewReply(
        useful=_useful(_first(tags, "useful-docs"), documents),
        summary=" ".join((_first(tags, "summary") or "").split())[:MAX_SUMMARY_CHARS],
        sufficient=_YES.match(_first(tags, "is-sufficient") or "") is not None,
        queries=tuple(query for at, query in enumerate(queries) if not was_asked(query, queries[:at])),
    )


def read_queries(reply: str, question: str) -> tuple[str, ...]:
    """Return the queries of a reply, without repetitions and the question; of one without tags, its lines."""
    texts = _tags(reply).get("query") or [_TAG.sub("\n", reply)]
    found: list[str] = []
    for query in (query for text in texts for query in _queries(text)):
        if not is_same_query(query, question) and not was_asked(query, found):
            found.append(query)
    return tuple(found)


def _tags(reply: str) -> dict[str, list[str]]:
    """Return the texts of each tag, in order; a text ends at the next tag, whichever that is."""
    marks = list(_TAG.finditer(reply))
    found: dict[str, list[str]] = {}
    for at, mark in enumerate(marks):
        if mark[1]:
            continue
        end = marks[at + 1].start() if at + 1 < len(marks) else len(reply)
        name = re.sub(r"[_ ]", "-", mark[2].lower())
        found.setdefault(name, []).append(reply[mark.end() : end].strip().strip("`"))
    return found


def _first(tags: dict[str, list[str]], name: str) -> str | None:
    texts = tags.get(name)
    return None if texts is None else next((text for text in texts if text), "")


def _useful(text: str | None, documents: int) -> tuple[int, ...] | None:
    if text is None or _ALL.match(text):
        return None
    spread = _RANGE.sub(lambda found: " ".join(map(str, range(int(found[1]), int(found[2]) + 1))), text)
    numbers = list(dict.fromkeys(int(number) for number in re.findall(r"\d{1,3}", spread)))
    places = tuple(number - 1 for number in numbers if 1 <= number <= documents)
    if places:
        return places
    return () if not numbers and text and _NONE.fullmatch(text) else None


def _queries(text: str) -> list[str]:
    return [line for line in listed(text, MAX_QUERY_CHARS) if not _NONE.fullmatch(line)]


def was_asked(query: str, asked: Collection[str]) -> bool:
    """Say whether a query is one of those that were asked, but for case, punctuation and the order of blanks."""
    return any(is_same_query(query, other) for other in asked)


def is_same_query(one: str, other: str) -> bool:
    """Say whether two queries have the same words in the same order."""
    return _folded(one) == _folded(other)


def _folded(query: str) -> list[str]:
    return re.findall(r"\w+", query.casefold())
