"""Take out of Markdown what its readers never see: comments, and commands to the program that makes pages of it.

Flow: the text below the front matter -> **here** -> `markdown.py`. Pure; takes time that grows with the text's length.

Comments are those of HTML and of Obsidian (`%%`), commands those of Liquid, Jekyll and Hugo. Code stays as it is, and
so does what is not closed. `##Heading` gets the space that most programs do without.
"""

import re

# A command is no longer, and neither is code within a line.
MAX_CHARS = 2000
_OPENING = re.compile(
    r"^[ \t>]*+(?P<fence>`{3,}+|~{3,}+)"
    r"|(?P<indented>^(?: {4}|\t)[^\n]*+)"
    r"|^ {0,3}(?P<heading>\#{2,6})(?=[^\W_])"
    r"|(?P<code>`++)"
    r"|(?P<escaped>\\.)"
    r"|(?P<html><!--)"
    r"|(?P<lines>^%%[ \t]*+$)"
    r"|(?P<remark>(?<!\S)%%(?=[^%\n]))"
    r"|\{%[-+]?[ \t]*+(?P<word>[a-z]\w*+)"
    r"|(?P<output>\{\{)",
    re.MULTILINE,
)
_END_OF_LINES = re.compile(r"^%%[ \t]*+$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t>]*+(`{3,}+|~{3,}+)[ \t]*+$", re.MULTILINE)
# Of Hugo, or values of a site and what is computed of words; `{{name}}` may be what a text is about.
_OUTPUT = re.compile(r"[<%][^{}]*+|-?\s*+(?:(?:site|page|include|layout|post|content)\b|[\"'][^{}|]*+\|)[^{}]*+")


def visible(text: str) -> str:
    """Return a text in Markdown without its comments and commands."""
    parts: list[str] = []
    done = place = 0
    source = _Source(text)
    while found := _OPENING.search(text, place):
        place = found.end()
        kind = found.lastgroup or ""
        if kind == "heading":
            parts.append(f"{text[done:place]} ")
            done = place
        elif kind in ("fence", "code"):
            place = source.behind_code(found[kind], place, fenced=kind == "fence")
        elif (end := source.behind_hidden(kind, found, place)) > place:
            parts.append(text[done : found.start()])
            spaced = text[end : end + 1] == " " and text[found.start() - 1 : found.start()] in ("", " ", "\n")
            done = place = end + spaced
            if found["word"] == "raw":
                place = source.end_of_raw(place)
    return "".join([*parts, text[done:]])


class _Source:
    def __init__(self, text: str) -> None:
        self._text = text
        self._absent: set[str] = set()  # marks that do not occur again

    def behind_code(self, mark: str, place: int, *, fenced: bool) -> int:
        """Return where code ends; that of a fence that is not closed ends with the text."""
        if not fenced:
            ends = (self._text.find(end, place, place + MAX_CHARS) for end in ("\n\n", "\n```", "\n~~~"))
            limit = min((end for end in ends if end >= 0), default=place + MAX_CHARS)
            return max(place, self._behind(mark, place, limit))
        lines = _FENCE_LINE.finditer(self._text, place)
        closing = (line for line in lines if line[1].startswith(mark))  # no shorter, of the same character
        return next((line.end() for line in closing), len(self._text))

    def behind_hidden(self, kind: str, opening: re.Match[str], place: int) -> int:
        """Return where a comment or command ends; 0 if this is none."""
        match kind:
            case "html":
                return self._behind("-->", place)
            case "lines":
                return self._behind("\n%%\n", place) or (len(self._text) if self._text.endswith("\n%%") else 0)
            case "remark":
                line = self._text.find("\n", place, place + MAX_CHARS)
                return self._behind("%%", place, line if line >= 0 else place + MAX_CHARS)
            case "word":
                end = self._behind("%}", place, place + MAX_CHARS)
                if end and opening["word"] == "comment" and (last := self._behind("endcomment", end)):
                    return self._behind("%}", last, last + MAX_CHARS)
                return end
            case "output":
                end = self._behind("}}", place, place + MAX_CHARS)
                return end if end and _OUTPUT.fullmatch(self._text, place, end - 2) else 0
            case _:
                return 0

    def end_of_raw(self, place: int) -> int:
        """Return where text ends that is shown as it is, commands and all; `place` if nothing ends it."""
        return max(place, self._text.rfind("{%", place, self._behind("endraw", place)))

    def _behind(self, mark: str, place: int, limit: int | None = None) -> int:
        """Return the offset after the next mark; 0 if absent.

        A mark that was found absent without a limit is not searched for again.
        """
        if mark in self._absent:
            return 0
        found = self._text.find(mark, place, limit)
        if found < 0 and limit is None:
            self._absent.add(mark)
        return found + len(mark) if found >= 0 else 0
