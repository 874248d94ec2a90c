"""Take out of Markdown what its readers never see: comments, commands to the program that makes pages of it, and tags.

Flow: the text below the front matter -> **here** -> `markdown.py`. Pure; takes time that grows with the text's length.

Comments are those of HTML, of MDX (`{/* */}`) and of Obsidian (`%%`), commands those of Liquid, Jekyll, Hugo and MDX;
what HTML and components become says `markdown_html.py`. `:::note` (Docusaurus, VitePress, Starlight) becomes "Note:".
Code stays as it is, and so does what is not closed. `##Heading` gets the space that most programs do without.
"""

import re

from ingestion.reading import markdown_html
from ingestion.reading.text import one_line

# A command is no longer, and neither is code within a line.
MAX_CHARS = 2000
_TAGS = f"{markdown_html.BLOCKS}|{markdown_html.IN_LINES}"
# What is read by itself, to its end.
_WHOLE = "table|pre|script|style|svg"
_OPENING = re.compile(
    r"^[ \t>]*+(?P<fence>`{3,}+|~{3,}+)"
    rf"|(?P<component>^[ \t]*+{markdown_html.COMPONENT}[ \t]*+$)"
    r"|(?P<container>^[ \t]*+:{3,}+[ \t]*+(?P<named>[\w-]*+)(?:\[(?P<title>[^\[\]\n]*+)\]|(?P<words>[^\n{\[]*+))"
    r"(?:\{[^{}\n]*+\})?+$(?:\s++(?=[^\W_]))?+)"
    r"|(?P<import>^import\s++(?:[\w*]++(?: as \w++)?+,?+\s*+)?+(?:\{[^{}]{0,1000}+\}\s*+)?+(?:from\s++)?+"
    r"(?:'[^'\n]++'|\"[^\"\n]++\");?+[ \t]*+$)"
    r"|(?P<indented>^(?: {4}|\t)[^\n]*+)"
    r"|^ {0,3}(?P<heading>\#{2,6})(?=[^\W_])"
    r"|(?P<code>`++)"
    r"|(?P<escaped>\\.)"
    r"|(?P<line_end>(?<=\S)\\$)"  # behind a space it continues a command of a shell
    r"|(?P<html><!--)"
    r"|(?P<mdx>\{/\*)"
    rf"|<(?P<whole>(?i:{_WHOLE}))\b[^<>]*+>"
    rf"|(?P<block>^ {{0,3}}</?(?i:{markdown_html.BLOCKS})(?=[\s/>]))"
    rf"|(?P<tag></?(?i:{_TAGS})(?=[\s/>]))"
    r"|(?P<entity>&\#?\w)"
    r"|(?P<lines>^%%[ \t]*+$)"
    r"|(?P<remark>(?<!\S)%%(?=[^%\n]))"
    r"|\{%[-+]?[ \t]*+(?P<word>[a-z]\w*+)"
    r"|(?P<output>\{\{)",
    re.MULTILINE,
)
_ADMONITIONS = frozenset("attention caution danger details error hint important info note success tip warning".split())
# A block of HTML ends at a blank line, or where something begins that is read by itself.
_END_OF_BLOCK = re.compile(rf"\n[ \t]*+\n|<(?:{_WHOLE})\b|\n[ \t]*+(?:```|~~~)", re.IGNORECASE)
_CLOSING_TAGS = re.compile(r"(?:\s*+</\w++\s*+>)*+")
_END_OF_LINES = re.compile(r"^%%[ \t]*+$", re.MULTILINE)
_FENCE_LINE = re.compile(r"^[ \t>]*+(`{3,}+|~{3,}+)[ \t]*+$", re.MULTILINE)
# Of Hugo, or values of a site and what is computed of words; `{{name}}` may be what a text is about.
_OUTPUT = re.compile(r"[<%][^{}]*+|-?\s*+(?:(?:site|page|include|layout|post|content)\b|[\"'][^{}|]*+\|)[^{}]*+")


def visible(text: str, *, in_html: bool = False) -> str:
    """Return a text in Markdown without its comments and commands, its HTML as Markdown.

    Args:
        text: of a file; or of one block of HTML, if `in_html`.
        in_html: no other block begins in it.
    """
    parts: list[str] = []
    done = place = 0
    source = _Source(text, in_html=in_html)
    while found := _OPENING.search(text, place):
        place = found.end()
        kind = found.lastgroup or ""
        if kind == "heading":
            parts.append(f"{text[done:place]} ")
            done = place
        elif kind in ("fence", "code"):
            place = source.behind_code(found[kind], place, fenced=kind == "fence")
        elif written := source.html(kind, found):
            end, words = written
            parts += (text[done : found.start()], words)
            done = place = end
        elif (end := source.behind_hidden(kind, found, place)) > place:
            parts.append(text[done : found.start()])
            spaced = text[end : end + 1] == " " and text[found.start() - 1 : found.start()] in ("", " ", "\n")
            done = place = end + spaced
            if found["word"] == "raw":
                place = source.end_of_raw(place)
    return "".join([*parts, text[done:]])


def _visible_html(source: str) -> str:
    """Return a block or a cell in Markdown; its indentation means nothing."""
    return visible("\n".join(map(str.strip, source.split("\n"))), in_html=True)


class _Source:
    def __init__(self, text: str, *, in_html: bool) -> None:
        self._text = text
        self._in_html = in_html
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

    def html(self, kind: str, opening: re.Match[str]) -> tuple[int, str] | None:
        """Return where HTML, a component or another mark ends and what stands for it; None if none begins here."""
        match kind:
            case "line_end" | "import":
                return opening.end(), ""
            case "component":
                return opening.end(), markdown_html.component(opening)
            case "container":
                title = one_line(opening["title"] or opening["words"] or "")
                title = title or (opening["named"].capitalize() if opening["named"] in _ADMONITIONS else "")
                space = " " if opening[0][-1:].isspace() else ""
                return opening.end(), f"{title}:{space}" if title else "\n"
            case "entity":
                found = markdown_html.ENTITY.match(self._text, opening.start())
                return (found.end(), markdown_html.entity(found)) if found else None
            case "whole":
                return self._whole(opening)
            case "block" if not self._in_html:
                ending = _END_OF_BLOCK.search(self._text, opening.end())
                end = ending.start() if ending else len(self._text)
                return end, markdown_html.tidy(_visible_html(self._text[opening.start() : end]))
            case "block" | "tag":
                return self._construct(self._text.index("<", opening.start()))
            case _:
                return None

    def _whole(self, opening: re.Match[str]) -> tuple[int, str] | None:
        name = opening["whole"]
        end = self._behind(f"</{name}", opening.end())
        end = end and self._behind(">", end, end + MAX_CHARS)
        if not end:
            return None
        source, shown = self._text[opening.start() : end], ""
        if name.lower() == "table":
            shown = markdown_html.table(source, _visible_html)
        elif name.lower() == "pre":
            shown = markdown_html.code(source)
        closed = _CLOSING_TAGS.match(self._text, end)
        return closed.end() if closed else end, shown

    def _construct(self, start: int) -> tuple[int, str] | None:
        found = markdown_html.CONSTRUCT.match(self._text, start)
        if not found:
            return None
        words = markdown_html.construct(found)
        if words == "\n":
            line = self._text.rfind("\n", max(0, start - MAX_CHARS), start)
            in_row = self._text.rfind("|", max(line, start - MAX_CHARS, 0), start) >= 0  # which is one line
            words = " " if in_row else words
        return found.end(), words

    def behind_hidden(self, kind: str, opening: re.Match[str], place: int) -> int:
        """Return where a comment or command ends; 0 if this is none."""
        match kind:
            case "html":
                return self._behind("-->", place)
            case "mdx":
                return self._behind("*/}", place)
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
