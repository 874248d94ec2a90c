"""Citations that can be clicked in a text: numbers that are links, and lists of what they stand for.

Flow: an answer with `[n]`, and its citations; a declined one, and what is nearest -> **here** -> `chat.py`, `run.py`,
`evaluate.py`; the addresses are `links.py`'s.
Chat clients show Markdown and know nothing of citations beside the text. What they send back as the conversation loses
its links again. Pure.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from api.links import Links
from query_engine.schema.events import Citation, Nearest
from query_engine.text.markdown_escape import as_plain

_MARK = re.compile(r"\[(\d{1,3})\](?!\()")
_MASKED = re.compile("\0(\\d{1,3})\0")
_BACKTICKS = re.compile("(`+)")
_FENCES = ("```", "~~~")
_LINKED_MARK = re.compile(r"\[\[(\d{1,3})\]\]\([^()\s]*\)")
_SOURCES = "\n\n**Sources**\n\n"
_CLOSEST = "\n\n**Closest passages**\n\n"
_REFERENCES = "\n\n## References\n\n"
_FOLDED, _FOLDED_END = "\n\n<details><summary>Closest passages</summary>\n\n", "\n\n</details>"


def with_links(text: str, urls: Mapping[int, str]) -> str:
    """Return the text with `[[n]](url)` for each `[n]` that has an address."""

    def linked(mark: re.Match[str]) -> str:
        url = urls.get(int(mark[1]))
        return mark[0] if url is None else f"[{mark[0]}]({_in_parentheses(url)})"

    return outside_code(text, lambda prose: _MARK.sub(linked, prose))


def mark_spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the number, start and end of each `[n]`, in characters, that is not in code."""
    # Characters of the same number, which no text that was validated holds.
    masked = outside_code(text, lambda prose: _MARK.sub("\0\\1\0", prose))
    for mark in _MASKED.finditer(masked):
        yield int(mark[1]), mark.start(), mark.end()


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Return a Markdown text with `change` applied to what is not code, where `[0]` is an index and not a mark."""
    lines, fence = [], ""
    for line in text.split("\n"):
        begins = line.lstrip()[:3]
        if fence:
            fence = "" if begins == fence and not line.strip().strip(fence) else fence
        elif begins in _FENCES:
            fence = begins
        else:
            pieces = _BACKTICKS.split(line)  # text, backticks, code, backticks, text; an open one does not make code
            last = len(pieces) - 1
            lines.append("".join(change(one) if at % 4 == 0 or at == last else one for at, one in enumerate(pieces)))
            continue
        lines.append(line)
    return "\n".join(lines)


def without_links(text: str) -> str:
    """Return a text as it was before `with_links` and `sources`, or `folded_closest_passages`."""
    return _LINKED_MARK.sub(r"[\1]", text.partition(_SOURCES)[0].partition(_FOLDED)[0])


def sources(citations: Sequence[Citation], links: Links) -> str:
    """Return a list of the citations' documents as Markdown, in the order of their numbers; empty without citations."""
    lines = [f"{number}. {link}" for number, link in _document_links(citations, links)]
    return _SOURCES + "\n".join(lines) if lines else ""


def _document_links(citations: Sequence[Citation], links: Links) -> Iterator[tuple[int, str]]:
    """Yield the number of each citation, in order, with the title of its document as a Markdown link."""
    titles = {citation.number: citation.title or citation.doc_id for citation in reversed(citations)}
    for number, url in links.numbered(citations).items():
        yield number, f"[{as_plain(titles[number])}]({_in_parentheses(url)})"


def closest_passages(nearest: Sequence[Nearest], links: Links) -> str:
    """Return a list of the places, each a link and its words, as Markdown; empty without places."""
    return _CLOSEST + _listed(nearest, links) if nearest else ""


def folded_closest_passages(nearest: Sequence[Nearest], links: Links) -> str:
    """Return `closest_passages` collapsed: shown by a click."""
    return _FOLDED + _listed(nearest, links) + _FOLDED_END if nearest else ""


def _listed(nearest: Sequence[Nearest], links: Links) -> str:
    # A quote in brackets would look like a citation mark.
    return "\n".join(
        f"- [{as_plain(one.title or one.doc_id)}]({_in_parentheses(links.of(one))}): {as_plain(one.quote)}"
        for one in nearest
    )


def reference_list(citations: Sequence[Citation], links: Links) -> str:
    """Return the last section of a report: the number, title and link of each citation, as Markdown."""
    lines = [f"- [{number}] {link}" for number, link in _document_links(citations, links)]
    return _REFERENCES + "\n".join(lines) if lines else ""


def _in_parentheses(url: str) -> str:
    """Return an address that ends no Markdown link too early."""
    return url.replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")
