"""Mend the lines of a PDF's pages: running headers and footers go, words broken at line ends are joined.

Flow: page texts as PDFium gives them -> **here** -> `pdf.py` joins them to one document. Pure.

Lines stay lines: the rows of a financial table are lines, and a table is worth more than a paragraph that fills
its line.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ingestion.reading.text import shape_of

BROKEN_HYPHEN = "\ufffe"  # what PDFium writes for a hyphen at the end of a line, in place of the line break
# In a document of fewer pages two lines at the edges of pages may be alike by chance.
_MIN_PAGES = 4
_LINE_CHARS = 200
_RUNNING_LINES = 3
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_WORD_CHARS = 40
_PAGE_NUMBER = re.compile(r"\b(page|p|of)\b")


def drop_running_lines(pages: Sequence[str]) -> list[str]:
    """Remove headers and footers: lines that begin, or end, most pages of a document of two pages or more.

    Lines count as the same when they differ in digits only; in a document of two or three pages only when they are the
    same but for the number of the page. The first copy of a line with words stays, so that a company's name that only
    the header holds is not lost; page numbers go everywhere.
    """
    split = [page.split("\n") if page else [] for page in pages]
    filled = sum(1 for lines in split if lines)
    if filled > 1:
        for edge in (0, -1):
            _peel(split, edge, filled)
    # A page of nothing else is a copy of another, not a header.
    return [
        "\n".join(lines) if lines or filled >= _MIN_PAGES else page for lines, page in zip(split, pages, strict=True)
    ]


def _peel(pages: list[list[str]], edge: int, filled: int) -> None:
    """Take running lines off one edge of all pages, in place, outermost first."""
    kept: set[str] = set()
    for _ in range(_RUNNING_LINES):
        keys = [_keys(lines[edge], number, filled) if lines else set() for number, lines in enumerate(pages)]
        counts = Counter(key for of_page in keys for key in of_page)
        running = {key for key, count in counts.items() if count > filled / 2}
        for lines, own in zip(pages, keys, strict=True):
            if not own & running:
                continue
            shape = shape_of(lines[edge])
            if _WORD.search(_PAGE_NUMBER.sub("", shape)) and shape not in kept:
                kept.add(shape)
                continue
            lines.pop(edge)
            while lines and not lines[edge].strip():
                lines.pop(edge)


def _keys(line: str, page: int, filled: int) -> set[str]:
    """Return what a line has in common with running lines on other pages."""
    if filled >= _MIN_PAGES:
        return {shape_of(line)}
    folded = " ".join(line.casefold().split())
    numbers = re.finditer(r"\d{1,9}", folded) if len(folded) <= _LINE_CHARS else ()
    return {
        folded,
        *(f"{folded[: one.start()]}#{int(one[0]) - page}{folded[one.end() :]}" for one in numbers),
    }


def join_broken_words(pages: Sequence[str]) -> list[str]:
    """Replace every `BROKEN_HYPHEN`: by nothing inside a broken word, by `-` inside a compound.

    The document itself is the dictionary: a form that it uses elsewhere wins.
    """
    whole = (" ".join(word for word in page.split() if BROKEN_HYPHEN not in word) for page in pages)
    words = {word for page in whole for word in _WORD.findall(page.lower())}
    return [_join(page, words) for page in pages]


def _join(page: str, words: set[str]) -> str:
    text, *rest = page.split(BROKEN_HYPHEN)
    parts = [text]
    for following in rest:
        left = re.search(r"(?<![\w-])[\w-]*$", parts[-1][-_WORD_CHARS:])
        right = re.match(r"\w*", following[:_WORD_CHARS])
        hyphen = _keeps_hyphen(left[0] if left else "", right[0] if right else "", words)
        parts += ["-", following] if hyphen else [following]
    return "".join(parts)


def _keeps_hyphen(left: str, right: str, words: set[str]) -> bool:
    """Tell a compound (`left-to` + `right`) from a broken word (`repre` + `sentation`)."""
    left, is_name, right = left.lower(), right != right.lower(), right.lower()
    last = left.rpartition("-")[2]
    if last + right in words:
        return False
    if is_name or not (last + right).isalpha() or last != left or f"{left}-{right}" in words:
        return True  # names (Berg-Kirkpatrick), numbers (1e-4), longer compounds (state-of-the-art), known ones
    return len(last) > 2 and last in words and right in words
