"""Read reStructuredText, as documentation made with Sphinx has it.

Flow: file bytes -> **here** -> `markup.py` -> `Document`. Pure: nothing is read beside the bytes, neither files that
are included nor docutils' own settings.

docutils parses; what it builds is written out here. Roles and directives that it does not know keep their content: a
role is its text; a directive is a term, its argument, with what stands in it as the definition, or a line such as
`automodule: boats.hire` if nothing does. So are files named that would be included.
"""

import gc
import io
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.directives.tables import CSVTable

from errors import UnreadableError
from index.documents.store import Document
from ingestion.reading.marks import lowered, raised
from ingestion.reading.markup import Grid, Items, finished, table
from ingestion.reading.text import decode, one_line
from ingestion.reading.text_budget import BETWEEN_CELLS, Growth, check
from ingestion.reading.text_builder import TextBuilder

# docutils takes a time that grows with the square of a line's length, and gives up at 10,000 if it is not told.
MAX_LINE_CHARS = 50_000
_DIRECTIVE = re.compile(r"^[ \t]*(?:[-*+][ \t]+)*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:+.-]+?)[ \t]?::(?:\s|$)", re.M)
_ROLE = re.compile(r":([A-Za-z](?:[-+.:_]?\w){0,80}):`")
# "text <target>", "~package.module.name", "!not a link".
_TITLED = re.compile(r"(.+?)(?<!\s)\s*+<[^<>]*+>", re.S)
_VERBATIM_ROLES = frozenset(("math", "code", "file", "command", "samp", "regexp"))
_PLACED_ROLES = frozenset(("sup", "superscript", "sub", "subscript"))  # docutils' own
_NUMBER_ROLES = {"pep": "PEP ", "pep-reference": "PEP ", "rfc": "RFC ", "rfc-reference": "RFC "}
_DROPPED = frozenset(
    "toctree index meta contents sectnum section-numbering header footer title target-notes default-domain highlight "
    "tabularcolumns currentmodule py:currentmodule module py:module role default-role raw class rst-class cssclass "
    "date".split()
)
_CODE = frozenset(
    "code code-block sourcecode prompt ipython doctest testcode testoutput testsetup testcleanup "
    "productionlist graphviz digraph graph mermaid uml plantuml jupyter-execute tikz".split()
)
# The argument of these is not text.
_BARE = frozenset("only ifconfig if container tab-set tabs grid hlist glossary autosummary compound highlights".split())
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_ADMONITIONS = frozenset("attention caution danger error hint important note tip warning seealso todo".split())
# Options of a directive that are part of what it says.
_TELLING = ("type", "default", "value", "synopsis", "platform")
# docutils' own, whose content it arranges.
_KEPT = _ADMONITIONS - {"seealso", "todo"} | frozenset(
    "admonition topic sidebar parsed-literal math line-block epigraph pull-quote rubric table list-table image figure "
    "replace unicode".split()
)
_SEVERE = 3


def read_rst(data: bytes, doc_id: str) -> Document:
    """Return the document; its title is its first heading, else the file's name.

    Raises:
        UnreadableError: no text, binary data, nested too deeply, or a line of more than 50,000 characters.
    """
    text = decode(data)
    if max(map(len, text.splitlines()), default=0) > MAX_LINE_CHARS:
        fact = f"A line of the file is longer than {MAX_LINE_CHARS:,} characters."
        raise UnreadableError(fact, "Break it, or rename the file to .txt.")
    builder = TextBuilder()
    gc.disable()  # docutils makes millions of objects that are all in use: looking for others takes half of the time
    try:
        document = _parsed(text)
        _Writer(builder, document).blocks(document)
    except RecursionError as error:
        raise UnreadableError("The file is nested too deeply.", "Simplify it, or rename it to .txt.") from error
    finally:
        gc.enable()
    return finished(builder, doc_id)


def _parsed(text: str) -> Any:
    """Return docutils' tree. Names of directives and roles are registered again for each file, which may define own."""
    for name in {match[1].lower() for match in _DIRECTIVE.finditer(text)} - _KEPT:
        directives.register_directive(name, _directive(name))
    for name in {match[1].lower() for match in _ROLE.finditer(text)} - _PLACED_ROLES:
        roles.register_local_role(name, _role)
    settings = frontend.get_default_settings(Parser)
    settings.file_insertion_enabled = False
    settings.raw_enabled = False
    settings.line_length_limit = MAX_LINE_CHARS
    settings.report_level = settings.halt_level = 5  # say nothing, go on
    settings.warning_stream = io.StringIO()
    document = utils.new_document("", settings)
    Parser().parse(text, document)
    return document


def _role(name: str, rawtext: str, text: str, lineno: int, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:  # noqa: ARG001
    words = utils.unescape(text, restore_backslashes=name.lower() in _VERBATIM_ROLES)
    if titled := _TITLED.fullmatch(words):
        words = titled[1]
    elif words[:1] == "~":
        words = words.rpartition(".")[2].lstrip("~")
    return [nodes.inline(rawtext, _NUMBER_ROLES.get(name.lower(), "") + words.lstrip("!"))], []


class _AnyOptions(dict[str, Callable[[str | None], str]]):
    """Takes every option of a directive as it is written."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, name: str) -> Callable[[str | None], str]:
        return lambda value: value or ""


class _Generic(Directive):  # type: ignore[misc]  # docutils has no types
    """A directive of any name with any options; what it becomes is decided by `kind`."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOptions()
    kind = "other"

    def run(self) -> list[Any]:
        argument = self.arguments[0] if self.arguments else ""
        if self.kind == "dropped":
            return self._parsed() if self.name.endswith("class") else []
        if self.kind == "code":
            return self._code(argument)
        if self.kind == "version":
            return self._version(argument)
        if self.kind == "bare":
            return self._parsed()
        if self.kind == "admonition":
            # Sphinx has no titles for these: what stands behind the colons is text.
            first = [nodes.paragraph("", "", *self._inline(argument))] if argument else []
            return [nodes.admonition("", nodes.title("", _named(self.name)), *first, *self._parsed())]
        if not argument:
            return self._parsed()
        if not "".join(self.content).strip():
            pair = nodes.field("", nodes.field_name("", self.name), nodes.field_body("", nodes.Text(argument)))
            return [nodes.field_list("", pair)]
        signatures = [nodes.term("", utils.unescape(line)) for line in argument.replace("\\\n", "").split("\n")]
        told = [
            nodes.classifier("", f"{name}: ", *self._inline(self.options[name]))
            for name in _TELLING
            if name in self.options
        ]
        item = nodes.definition_list_item("", *signatures, *told, nodes.definition("", *self._parsed()))
        return [nodes.definition_list("", item)]

    def _parsed(self) -> list[Any]:
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder, match_titles=True)
        return list(holder.children)

    def _inline(self, text: str) -> list[Any]:
        found, messages = self.state.inline_text(text, self.lineno)
        return [*found, *messages]

    def _code(self, argument: str) -> list[Any]:
        lines = list(self.content)
        language = argument
        if "\n" in argument:  # no blank line stands before the code
            language, *first = argument.split("\n")
            lines = [*first, *lines]
        if not lines and self.name == "productionlist":
            lines = [argument]
        caption = self.options.get("caption", "")
        code = nodes.literal_block("", "\n".join(lines), classes=[language])
        return [*([nodes.caption("", "", *self._inline(caption))] if caption else []), code]

    def _version(self, argument: str) -> list[Any]:
        version, rest = (*argument.split(None, 1), "", "")[:2]
        said = f"{_VERSIONS[self.name]} {version}"
        children = self._parsed()
        words = self._inline(rest) if rest else []
        if not words and children and isinstance(children[0], nodes.paragraph):
            words = children.pop(0).children
        return [nodes.paragraph("", f"{said}: " if words else f"{said}.", *words), *children]


class _NamedTable(CSVTable):  # type: ignore[misc]
    """A table of comma-separated values; one whose values are in another file is named."""

    def run(self) -> list[Any]:
        name = self.options.get("file") or self.options.get("url")
        if not name:
            return list(super().run())
        pair = nodes.field("", nodes.field_name("", self.name), nodes.field_body("", nodes.Text(name)))
        return [nodes.field_list("", pair)]

    def extend_short_rows_with_empty_cells(self, columns: int, parts: Sequence[Sequence[Any]]) -> None:
        check(BETWEEN_CELLS * columns * sum(map(len, parts)))
        super().extend_short_rows_with_empty_cells(columns, parts)


def _directive(name: str) -> type[Directive]:
    if name == "csv-table":
        return _NamedTable
    kinds = (
        ("dropped", _DROPPED),
        ("code", _CODE),
        ("version", _VERSIONS),
        ("bare", _BARE),
        ("admonition", _ADMONITIONS),
    )
    kind = next((kind for kind, names in kinds if name in names), "other")
    return type("_Directive", (_Generic,), {"kind": kind, "name": name})


def _named(kind: str) -> str:
    return {"seealso": "See also"}.get(kind, kind.capitalize())


class _Writer:
    """Writes the nodes of a document out, in order."""

    def __init__(self, builder: TextBuilder, document: Any) -> None:
        self._builder = builder
        self._definitions = document.substitution_defs
        self._names = document.substitution_names
        self._substitutions: dict[str, str] = {}  # name -> words; as written while they are sought
        self._growth = Growth()  # of substitutions, each of which may hold two of another one
        self._level = 0
        self._footnotes = 0

    def blocks(self, parent: Any, depth: int = 0, item: Items | None = None) -> None:
        """Write what stands below `parent`.

        Args:
            parent: a node whose children are blocks.
            depth: of the lists that begin here.
            item: what the first paragraph belongs to.
        """
        for node in parent.children:
            if item and isinstance(node, nodes.paragraph):
                item.paragraph(one_line(self._inline(node)))
                continue
            if item:
                item.begin()
            self._block(node, depth)
        if item:
            item.begin()

    def _block(self, node: Any, depth: int) -> None:
        write = getattr(self, f"_{type(node).__name__}", None)
        if write:
            write(node, depth)
        elif isinstance(node, nodes.Admonition):
            self._admonition(node, depth)
        elif isinstance(node, nodes.Text | nodes.Inline | nodes.TextElement) and not isinstance(node, nodes.Invisible):
            self._builder.paragraph(one_line(self._inline(node)))
        elif isinstance(node, nodes.Element) and not isinstance(node, nodes.Invisible):
            self.blocks(node, depth)

    def _section(self, node: Any, depth: int) -> None:
        self._level += 1
        self.blocks(node, depth)
        self._level -= 1

    def _title(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.heading(self._inline(node), self._level)

    def _rubric(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.heading(self._inline(node), self._level + 1)

    def _topic(self, node: Any, depth: int) -> None:
        self._section(node, depth)

    _sidebar = _topic
    _subtitle = _rubric

    def _literal_block(self, node: Any, depth: int) -> None:  # noqa: ARG002
        language = next((name for name in node["classes"] if name != "code"), "")
        self._builder.code(node.astext(), language)

    _doctest_block = _literal_block

    def _math_block(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.code(node.astext(), "latex")

    def _bullet_list(self, node: Any, depth: int) -> None:
        for item in node.children:
            self.blocks(item, depth + 1, Items(self._builder, depth))

    def _enumerated_list(self, node: Any, depth: int) -> None:
        for number, item in enumerate(node.children, node.get("start", 1)):
            self.blocks(item, depth + 1, Items(self._builder, depth, number))

    def _definition_list_item(self, node: Any, depth: int) -> None:
        terms = [self._inline(term) for term in node.children if isinstance(term, nodes.term)]
        kinds = [self._inline(kind) for kind in node.children if isinstance(kind, nodes.classifier)]
        term = ", ".join(terms) + "".join(f" ({kind})" for kind in kinds)
        self.blocks(node.children[-1], depth + 1, Items(self._builder, depth, term=term))

    def _option_list_item(self, node: Any, depth: int) -> None:
        options = ", ".join(option.astext() for option in node.children[0].children)
        self.blocks(node.children[-1], depth + 1, Items(self._builder, depth, term=options))

    def _field(self, node: Any, depth: int) -> None:
        name, body = node.children
        key = self._inline(name)
        first = body.children[0] if body.children else None
        if isinstance(first, nodes.paragraph | nodes.Text):
            self._builder.pair(key, self._inline(first))
            body.children = body.children[1:]
        elif first is not None:
            self._builder.paragraph(f"{key}:")
        self.blocks(body, depth)

    def _block_quote(self, node: Any, depth: int) -> None:
        for child in node.children:
            if isinstance(child, nodes.paragraph):
                self._builder.quote(one_line(self._inline(child)))
            elif isinstance(child, nodes.attribution):
                self._builder.quote(f"— {one_line(self._inline(child))}")
            else:
                self._block(child, depth)

    def _line_block(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.paragraph("\n".join(self._lines(node)))

    def _lines(self, node: Any, indent: str = "") -> Iterator[str]:
        for child in node.children:
            if isinstance(child, nodes.line_block):
                yield from self._lines(child, indent + "  ")
            else:
                yield indent + one_line(self._inline(child))

    def _admonition(self, node: Any, depth: int) -> None:
        children = list(node.children)
        name = _named(type(node).__name__)
        if children and isinstance(children[0], nodes.title):
            name = self._inline(children.pop(0))
        if children and isinstance(children[0], nodes.paragraph):
            self._builder.paragraph(f"{one_line(name)}: {one_line(self._inline(children.pop(0)))}")
        else:
            self._builder.paragraph(f"{one_line(name)}:")
        for child in children:
            self._block(child, depth)

    def _footnote(self, node: Any, depth: int) -> None:
        label, children = self._label(node)
        self._footnotes += 1
        number = int(label) if label.isdecimal() and len(label) < 6 else self._footnotes
        self.blocks(nodes.Element("", *children), depth + 1, Items(self._builder, depth, number))

    def _citation(self, node: Any, depth: int) -> None:
        label, children = self._label(node)
        self.blocks(nodes.Element("", *children), depth + 1, Items(self._builder, depth, term=f"[{label}]"))

    @staticmethod
    def _label(node: Any) -> tuple[str, list[Any]]:
        children = list(node.children)
        labelled = children and isinstance(children[0], nodes.label)
        return (children.pop(0).astext() if labelled else ""), children

    def _image(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.caption(node.get("alt", ""))

    def _caption(self, node: Any, depth: int) -> None:  # noqa: ARG002
        self._builder.caption(self._inline(node))

    def _table(self, node: Any, depth: int) -> None:  # noqa: ARG002
        caption = next((self._inline(child) for child in node.children if isinstance(child, nodes.title)), "")
        head: list[Any] = [row for part in node.findall(nodes.thead) for row in part.children]
        body: list[Any] = [row for part in node.findall(nodes.tbody) for row in part.children]
        own = [row for row in (*head, *body) if row.parent.parent.parent is node]
        table(self._builder, self._grid(own), sum(isinstance(row.parent, nodes.thead) for row in own), caption)

    def _grid(self, rows: Sequence[Any]) -> list[list[str]]:
        grid = Grid()
        for row in rows:
            for entry in row.children:
                grid.cell(self._cell(entry), entry.get("morecols", 0) + 1, entry.get("morerows", 0) + 1)
            grid.end_row()
        return grid.rows

    def _cell(self, entry: Any) -> str:
        builder = TextBuilder()
        outer, self._builder = self._builder, builder
        self.blocks(entry)
        self._builder = outer
        text, blocks = builder.finished()
        kept = (
            text[slice(*block.inner)] if block.kind != "item" else text[block.start : block.end] for block in blocks
        )
        return one_line(" ".join(kept))

    def _system_message(self, node: Any, depth: int) -> None:  # noqa: ARG002
        """Write what could not be parsed, such as a malformed table, as it stands."""
        if node.get("level", 0) >= _SEVERE:
            for block in node.findall(nodes.literal_block):
                self._builder.code(block.astext())

    def _substituted(self, node: Any) -> str:
        """Return what a name between bars stands for; without a definition, or within its own, it stays as written."""
        name, written = node.get("refname", ""), f"|{node.astext()}|"
        name = name if name in self._definitions else self._names.get(name.lower(), "")
        if name not in self._definitions:
            return written
        if name not in self._substitutions:
            self._substitutions[name] = written
            self._substitutions[name] = self._inline(self._definitions[name]) or node.astext()
        self._growth.add(len(self._substitutions[name]))
        return self._substitutions[name]

    def _inline(self, node: Any) -> str:
        """Return the words of a node; marks of footnotes would pass for numbers of sources, and are left out."""
        if isinstance(node, nodes.Text):
            return str(node.astext())
        if isinstance(node, nodes.substitution_reference):
            return self._substituted(node)
        if isinstance(node, nodes.image):
            return str(node.get("alt", ""))
        if isinstance(node, nodes.footnote_reference | nodes.raw | nodes.system_message | nodes.pending):
            return ""
        if isinstance(node, nodes.citation_reference):
            return f"[{node.astext()}]"
        words = "".join(map(self._inline, node.children))
        return (
            raised(words)
            if isinstance(node, nodes.superscript)
            else (lowered(words) if isinstance(node, nodes.subscript) else words)
        )
