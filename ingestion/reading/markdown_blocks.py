"""Tell the blocks of a text in Markdown, which stays as it is: CommonMark, with tables as on GitHub.

Flow: `markdown.py` -> **here** -> `Structure`. Pure; takes time that grows with the text's length.

markdown-it says which lines are what; where the words stand in a line is found here. It need not look into sentences,
so that is turned off, and so are definitions of links, which it would leave out. What a block is stands in
`index/documents/structure.py`.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from index.documents.guess import cell_spans, guessed_blocks, record_blocks
from index.documents.structure import Block, Span, stripped
from ingestion.reading.text import one_line

MAX_HEADING_CHARS = 600
# Text may be indented within indented text so often; what is deeper is code.
MAX_INDENTED = 4
_PARSER = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join", "reference"])
_LANGUAGE = re.compile(r"[\w+#][\w+#.-]{0,39}")
_CONTAINER_MARKS = re.compile(r"(?:[ \t]*+(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]))*+[ \t]*+")
_INDENT = re.compile(r"[ \t]*+")
_HEADING_ATTRIBUTES = re.compile(r"\{[#:.][^{}]*+\}$")
_LEADS_TO_INDENTED_TEXT = re.compile(r"^(?:!!!|\?\?\?\+?|===|:|\[\^[^\[\]\n]{1,40}\]:)[ \t]+\S", re.MULTILINE)
_WORD = re.compile(r"\w")
# An image by itself, perhaps in a link.
_IMAGE = r"!\[(?P<alt>[^\[\]]*+)\](?:\([^()]*+\)|\[[^\[\]]*+\])"
_IMAGES = re.compile(rf"(?:\[?{_IMAGE.replace('?P<alt>', '')}(?:\](?:\([^()]*+\)|\[[^\[\]]*+\]))?[ \t]*+)++")
_ALT = re.compile(_IMAGE)
_MARKUP = (
    (re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)"), r"\1"),  # links and images keep their text
    (re.compile(r"(\*\*|__|(?<!`)`++)(.{1,300}?)\1"), r"\2"),
    (re.compile(r"(?<!\w)([*_])(\S.{0,300}?)\1(?!\w)"), r"\2"),
    (re.compile(r"\\([^\w\s])"), r"\1"),
)


def markdown_blocks(text: str, depth: int = 0) -> tuple[Block, ...]:
    """Return blocks that tile `text`; none of a blank one.

    A heading in a quotation is part of it: the text after the quotation does not stand under it. Several lines above a
    line of hyphens, which CommonMark takes for a heading, are a paragraph above a rule. What is indented below
    `!!! note`, `: a definition` or a footnote is text, as MkDocs and Pandoc have it.

    Args:
        text: cleaned.
        depth: in how many indented texts it stands.
    """
    # A text of marks alone has no blocks.
    blocks = list(_with_passed_over(text, _Lines(text, depth).blocks())) or guessed_blocks(text)
    bounds = [*(block.start if place else 0 for place, block in enumerate(blocks)), len(text)]
    return tuple(
        block._replace(start=start, end=end) for block, (start, end) in zip(blocks, pairwise(bounds), strict=True)
    )


def plain(words: str) -> str:
    """Return a heading or the name of a column without marks, on one line, of at most `MAX_HEADING_CHARS`."""
    words = words[:MAX_HEADING_CHARS]
    for pattern, replacement in _MARKUP:
        words = pattern.sub(replacement, words)
    return one_line(words)


@dataclass(slots=True)
class _Around:
    """What stands around a place: lists, by whether they are ordered, and quotations.

    Attributes:
        containers: the types of the tokens that opened the items and quotations, the outermost first.
        opened: line of the first item or quotation that holds nothing yet.
        columns: of the last table, by their names.
    """

    lists: list[bool] = field(default_factory=list)
    containers: list[str] = field(default_factory=list)
    opened: int | None = None
    columns: tuple[str, ...] = ()

    def enter_or_leave(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self.lists.append(token.type == "ordered_list_open")
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open" | "blockquote_open":
                self.containers.append(token.type)
                self.opened = _lines_of(token)[0] if self.opened is None else self.opened
            case "list_item_close" | "blockquote_close":
                self.containers.pop()
                self.opened = None

    @property
    def begins_item(self) -> bool:
        return self.opened is not None and self.containers[-1] == "list_item_open"

    @property
    def quotes(self) -> int:
        return self.containers.count("blockquote_open")


class _Lines:
    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]

    def blocks(self) -> Iterator[Block]:
        """Yield what the text holds, each from the start of its first line to the end of its last one."""
        tokens = _PARSER.parse(self._text)
        around = _Around()
        above = ""  # the paragraph above, if there is one
        for before, token in pairwise([Token("", "", 0), *tokens]):
            if token.nesting:
                around.enter_or_leave(token)
            match token.type, before.type:
                case "inline", "heading_open":
                    found = self._heading(before, token, around)
                case "inline", "paragraph_open":
                    found = self._paragraph(token, around)
                case "code_block", _ if self._depth < MAX_INDENTED and _LEADS_TO_INDENTED_TEXT.search(above):
                    found = self._indented_text(token)
                case (("fence" | "code_block"), _):
                    found = self._code(token)
                case "html_block", _:  # of tags that `markdown_html.py` does not know
                    found = [Block("paragraph", *self._words(token), self._words(token))]
                case "tr_open", _:
                    found = self._row(token, around, header=before.type == "thead_open")
                case _:
                    continue
            above = token.content if before.type == "paragraph_open" else ""
            first, last = _lines_of(token)
            start, end = self._starts[first if around.opened is None else around.opened], self._end(last - 1)
            around.opened = None
            # What follows the first one begins on a line of its own.
            for place, block in enumerate(found):
                own = self._text.rfind("\n", 0, block.start) + 1
                yield block._replace(start=own if place else start, end=max(end, block.inner[1]))

    def _end(self, line: int) -> int:
        return self._starts[line + 1] - 1

    def _words(self, token: Token) -> Span:
        """Return where the content of a token stands whose lines are as in the text, but for what is before them."""
        first, _ = _lines_of(token)
        head, *more = token.content.rstrip().split("\n")
        return self._end(first) - len(head.lstrip()), self._end(first + len(more))

    def _heading(self, opening: Token, token: Token, around: _Around) -> list[Block]:
        start, end = self._words(token)
        if not token.content or around.quotes or "\n" in token.content:
            return self._paragraph(token, around) if token.content else []
        if opening.markup.startswith("#"):
            marks = self._text.index(opening.markup, self._starts[_lines_of(token)[0]])
            start = self._text.index(token.content, marks + len(opening.markup))
            end = start + len(token.content)
        words = _HEADING_ATTRIBUTES.sub("", self._text[start:end]).rstrip()
        inner = (start, start + len(words) if words else end)
        return [Block("heading", start, end, inner, int(opening.tag[1:]))]

    def _paragraph(self, token: Token, around: _Around) -> list[Block]:
        start, end = self._words(token)
        if around.begins_item:
            return [Block("item", start, end, (start, end), len(around.lists) - 1, around.lists[-1])]
        if around.quotes:
            return [Block("quote", start, end, (start, end), around.quotes - 1)]
        return list(_parts_of_paragraph(self._text, start, end))

    def _code(self, token: Token) -> list[Block]:
        if not token.content.strip():
            return []
        first, _ = _lines_of(token)
        if token.type == "fence":
            count = token.content.count("\n") + (not token.content.endswith("\n"))
            start, end = self._starts[first + 1], self._end(first + count)
        else:
            start, end = self._words(token)
            line = self._starts[first]
            start = start if self._text[line:start].strip() else line  # behind the mark of an item
        language = _LANGUAGE.search(token.info)
        return [Block("code", start, end, (start, end), language=language[0] if language else "")]

    def _indented_text(self, token: Token) -> list[Block]:
        first, _ = _lines_of(token)
        content = token.content.rstrip("\n")
        ends = list(accumulate((len(line) + 1 for line in content.split("\n")), initial=-1))[1:]

        def place(offset: int) -> int:
            line = bisect_left(ends, offset)
            return max(self._starts[first + line], self._end(first + line) - (ends[line] - offset))

        return [block.moved(place) for block in markdown_blocks(content, self._depth + 1)]

    def _row(self, token: Token, around: _Around, *, header: bool) -> list[Block]:
        first, _ = _lines_of(token)
        start, end = self._starts[first], self._end(first)
        found = (_CONTAINER_MARKS if around.containers else _INDENT).match(self._text, start, end)
        start = found.end() if found else start
        line = self._text[start:end]
        before = "" if line.startswith("|") else "|"
        behind = "" if line.endswith("|") and not line.endswith("\\|") else "|"
        cells = tuple(cell_spans(f"{before}{line}{behind}", start - len(before)))
        names = tuple(plain(self._text[slice(*cell)]) for cell in cells) if header else around.columns
        if header:
            around.columns = names
        columns = () if header or len(cells) > len(names) else names[: len(cells)]
        return [Block("row", start, end, (start, end), cells=cells, columns=columns, header=header)]


def _parts_of_paragraph(text: str, start: int, end: int) -> Iterator[Block]:
    """Yield a paragraph's images, and what is between; or its rows or pairs, where it is made of such alone."""
    lines = text[start:end].split("\n")
    own = text.rfind("\n", 0, start) + 1
    own = start if text[own:start].strip() else own  # with its indent, which that of other lines is compared to
    # Definitions of links look like pairs.
    if not lines[0].startswith("[") and (records := record_blocks(text[own:end])):
        yield from (block.moved(lambda place: place + own) for block in records)
        return
    for are_images, run in groupby(lines, lambda line: bool(_IMAGES.fullmatch(line.strip()))):
        size = sum(len(line) + 1 for line in run) - 1
        if are_images:
            yield _caption(text, start, start + size)
        else:
            yield Block("paragraph", start, start + size, stripped(text, start, start + size))
        start += size + 1


def _caption(text: str, start: int, end: int) -> Block:
    """Return the block of images, whose words are those that stand for the image, if it is one and has some."""
    start, end = stripped(text, start, end)
    alts = [found.span("alt") for found in _ALT.finditer(text, start, end)]
    inner = alts[0] if len(alts) == 1 and text[slice(*alts[0])].strip() else (start, end)
    return Block("caption", start, end, inner)


def _with_passed_over(text: str, blocks: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks; what the parser passed over, because it is nested too deeply (ten lists), is guessed."""
    done = 0
    for block in blocks:
        yield from _passed_over(text, done, block.start)
        yield block
        done = block.end + 1
    yield from _passed_over(text, done, len(text))


def _passed_over(text: str, start: int, end: int) -> Iterator[Block]:
    if _WORD.search(text, start, end):
        yield from (block.moved(lambda place: place + start) for block in guessed_blocks(text[start:end]))


def _lines_of(token: Token) -> Span:
    """Return the first line of a block's token, and the one behind its last."""
    assert token.map is not None
    first, last = token.map
    return first, last
