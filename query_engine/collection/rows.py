"""Find the rows of tables that a question wants listed or counted.

Flow: `recognition.py` reads the question -> **here**, over the whole tables of the documents that were found, as leaves
hold some rows only -> `listing.py` shows the rows, or a language model reads them. Each word of the question
has to stand in a cell, name a column or name the table: a condition that is not understood ("after 2019") must not be
left out. Only what the rows are called may be missing. Pure.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import NamedTuple

from index.documents.store import StoredDocument
from index.documents.structure import Block, Structure
from query_engine.collection.languages import Language
from query_engine.collection.recognition import RowsAsked, recognise_rows
from query_engine.reader.layout import same_group
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.term_weights import CorpusWords, TermWeights

# Documents of the best passages; tables shown; rows of a table that are looked at.
MOST_DOCUMENTS, MOST_TABLES, MOST_ROWS = 8, 3, 5000

DocumentOf = Callable[[Passage], StoredDocument | None]
Terms = frozenset[str]


@dataclass(frozen=True, slots=True)
class Rows:
    """Those rows of one table that a question asks for.

    Attributes:
        passage: one that was found in the document.
        headings: that the table stands under, the outermost first.
        blocks: the rows, in their order; at least one.
        looked: how many rows of the table were looked at.
        whole: that is all of them.
        words: of the question, that stand in these rows.
        certain: each word of the question is accounted for, except what the rows are called where a column or a value
            of several rows is named.
        by_column: a value stands in a column that the question names.
        language: of the question.
    """

    passage: Passage
    document: StoredDocument
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]
    looked: int
    whole: bool
    words: tuple[str, ...]
    certain: bool
    by_column: bool
    language: Language

    def cells(self, row: Block) -> tuple[str, ...]:
        """Return the texts of a row's cells."""
        return tuple(self.document.text[start:end] for start, end in row.cells)


def find_rows(
    question: str, passages: Sequence[Passage], document_of: DocumentOf, corpus_words: CorpusWords
) -> tuple[Rows, ...]:
    """Return the rows that a question wants listed or counted, by table; none for other questions.

    Args:
        question: as it is searched for.
        passages: found for it, best first.
        document_of: the stored document of a passage; None if it has gone.
        corpus_words: the corpus's terms.
    """
    asked = recognise_rows(question)
    if asked is None:
        return ()
    matcher = _Matcher(asked, corpus_words.words_of(question), passages)
    first: dict[DocumentKey, Passage] = {}
    for passage in passages:
        first.setdefault(passage.document, passage)
    found: dict[tuple[tuple[str, ...], ...], Rows] = {}
    for passage in list(first.values())[:MOST_DOCUMENTS]:
        if (document := document_of(passage)) is None:
            continue
        for table in tables_of(document.structure):
            if rows := matcher.matching(passage, document, table):
                found.setdefault(tuple(map(rows.cells, rows.blocks)), rows)  # copies are shown once
    for best in (attrgetter("by_column"), attrgetter("certain")):
        found = {key: rows for key, rows in found.items() if best(rows)} or found
    return tuple(found.values())[:MOST_TABLES]


def tables_of(structure: Structure) -> Iterator[list[Block]]:
    """Yield the rows of each table, without its header; a table that goes on below other text is one."""
    tables: list[list[Block]] = []
    before: Block | None = None
    for block in structure.blocks:
        if block.kind == "row" and block.cells:
            if before is None or not same_group(before, block):
                tables.append([])
            if not block.header:
                tables[-1].append(block)
        before = block
    joined: list[list[Block]] = []
    for table in filter(None, tables):
        if joined and _goes_on(structure, joined[-1][-1], table[0]):
            joined[-1] += table
        else:
            joined.append(table)
    yield from joined


def _goes_on(structure: Structure, last: Block, first: Block) -> bool:
    """Whether a table continues another, as below the break of a page."""
    above = (structure.headings_above(structure.place(one.start)) for one in (last, first))
    return bool(last.columns) and last.columns == first.columns and next(above) == next(above)


class _Cell(NamedTuple):
    """Terms of a cell, or of a part of it; `at` is the place of its row."""

    at: int
    column: str
    terms: Terms


class _Matcher:
    """Compares rows with one question.

    Args:
        asked: the question.
        words: the corpus's terms, as its language sees them.
        passages: found for it.
    """

    def __init__(self, asked: RowsAsked, words: TermWeights, passages: Sequence[Passage]) -> None:
        self._asked = asked
        self._terms = cache(lambda text: frozenset(words.terms(text)))
        self._typed = {term: word for word in asked.words for term in words.terms(word)}
        content = frozenset(words.query_terms(" ".join(asked.words)))
        self._content = tuple(term for term in self._typed if term in content)
        self._told = self._all_terms(passage.text for passage in passages)

    def matching(self, passage: Passage, document: StoredDocument, table: Sequence[Block]) -> Rows | None:
        """Return the rows of a table that the question asks for; None if that is not certain or no row fits."""
        looked = table[:MOST_ROWS]
        cells = [
            _Cell(at, name, self._terms(document.text[start:end]))
            for at, row in enumerate(looked)
            for name, (start, end) in zip(row.columns or map(str, range(len(row.cells))), row.cells, strict=True)
        ]
        whole, parts = self._values(cells)
        values = [*whole, *parts]
        groups = _alternatives(values)
        if self._asked.either and all(len(group) == 1 for group in groups):
            return None  # "or" joins what stands in different columns
        valued = frozenset[str]().union(*(value for group in groups for value in group))
        headings = document.structure.heading_path(document.structure.place(table[0].start), document.text)
        titled = self._all_terms((document.title, *headings))
        columns = self._all_terms({name for row in looked for name in row.columns})
        rest = [term for term in self._content if term not in valued | titled | columns]
        fitting = _fitting(cells, values, groups, rest)
        head = next(iter(self._content), "")
        certain, in_rows = bool(fitting) and not parts, frozenset(rest)
        is_told = head in self._told
        by_column = any(not self._terms(one.column).isdisjoint(self._content) for one in values)
        is_unsaid = not _is_kind(head, cells, fitting) if by_column else not certain and not is_told
        if groups and head in rest and is_unsaid:
            # "Which people are welders?": a table need not say what its rows are. A named column, or a value that
            # several rows share, says that they are meant.
            in_rows -= {head}
            fitting = _fitting(cells, values, groups, [term for term in rest if term != head])
            of_a_column = not columns.isdisjoint(self._content) or len(fitting) > 1
            certain = self._asked.kind != "which" and of_a_column and bool(fitting) and not (parts or is_told)
        rows = tuple(looked[at] for at in fitting)
        counted = [
            document.text[start:end]
            for row in rows
            for name, (start, end) in zip(row.columns, row.cells, strict=False)
            if head in self._terms(name)
        ]
        # Rows are what the innermost title calls them: "Tiers" of "Backends" are not backends.
        called = self._terms(headings[-1] if headings else document.title)
        if not rows or not self._is_wanted(head, groups, counted, called):
            return None
        typed = dict.fromkeys(self._typed[term] for term in self._content if term in valued | in_rows)
        return Rows(
            passage,
            document,
            headings,
            rows,
            looked=len(looked),
            whole=len(looked) == len(table),
            words=tuple(typed),
            certain=certain,
            by_column=by_column,
            language=self._asked.language,
        )

    def _values(self, cells: Sequence[_Cell]) -> tuple[list[_Cell], list[_Cell]]:
        """Return the cells that the question says whole; where none is of a column that it names, parts of such cells.

        So "located in Cincinnati" finds "Cincinnati, Ohio". Beside a cell of a named column, what is only a part of it
        ("New Zealand" of "currency New Zealand Dollar") or of the column's name ("Industrials" of "industry") is not
        meant.
        """
        asked, content = frozenset(self._typed), frozenset(self._content)
        whole = [one for one in cells if one.terms <= asked and not one.terms.isdisjoint(content)]
        columns = {one.column: self._terms(one.column) for one in cells}
        named = {name for name, titled in columns.items() if not titled.isdisjoint(content)}
        meant = {(one.column, one.terms) for one in whole if one.column in named}
        if meant:
            titles = {columns[name] for name, value in meant if not value <= columns[name]}
            values = {value for _, value in meant if not any(value <= title for title in titles)}
            dropped = {
                (one.column, one.terms)
                for one in whole
                if any(one.terms < value for value in values)
                or (one.column not in named if one.terms in values else any(one.terms <= title for title in titles))
            }
            return [one for one in whole if (one.column, one.terms) not in dropped], []
        left = content.difference(self._content[:1], *(one.terms for one in whole), *columns.values())
        parts = [_Cell(at, name, terms & left) for at, name, terms in cells if name in named]
        return whole, [one for one in parts if one.terms]

    def _is_wanted(self, head: str, groups: Sequence[set[Terms]], counted: Sequence[str], called: Terms) -> bool:
        """Whether rows answer.

        "Which" names a cell. "How many seats" is a number in a cell; of sites that stand in a column, no two are one.

        Args:
            head: the question's first word that has meaning.
            groups: the values that the question names.
            counted: the cells of the columns that the head names.
            called: terms of the title that the table stands under.
        """
        if self._asked.kind == "list":
            return bool(groups) or bool(counted) or head in called
        if self._asked.kind == "which" or any(head in value for group in groups for value in group):
            return bool(groups)
        if counted:
            return len(set(counted)) == len(counted) and not any(cell[:1].isdigit() for cell in counted)
        return bool(groups) or head in called

    def _all_terms(self, texts: Iterable[str]) -> Terms:
        return frozenset[str]().union(*map(self._terms, texts))


def _alternatives(values: Sequence[_Cell]) -> list[set[Terms]]:
    """Return the distinct values; those of one column are alternatives, so together.

    Of "New" and "New York" in one column the longer one is meant.
    """
    columns: dict[str, set[Terms]] = {}
    for one in values:
        columns.setdefault(one.column, set()).add(one.terms)
    groups: list[set[Terms]] = []
    for of_column in columns.values():
        longest = {one for one in of_column if not any(one < other for other in of_column)}
        joined = [group for group in groups if not group.isdisjoint(longest)]
        groups = [group for group in groups if group not in joined] + [longest.union(*joined)]
    return groups


def _is_kind(term: str, cells: Sequence[_Cell], rows: Collection[int]) -> bool:
    """Whether a term says what some of these rows are ("regional banks"), not what one is called ("Luna Company")."""
    shared = Counter((column, terms) for _, column, terms in cells if term in terms)
    return any(shared[column, terms] > 1 for at, column, terms in cells if at in rows)


def _fitting(
    cells: Sequence[_Cell], values: Sequence[_Cell], groups: Sequence[set[Terms]], rest: Sequence[str]
) -> dict[int, None]:
    """Return the places of rows with a value of each group, and with the other terms."""
    held, said = defaultdict[int, set[str]](set), defaultdict[int, set[Terms]](set)
    for at, _, terms in cells:
        held[at] |= terms
    for at, _, terms in values:
        said[at].add(terms)
    return dict.fromkeys(
        at
        for at, terms in held.items()
        if terms.issuperset(rest) and not any(said[at].isdisjoint(one) for one in groups)
    )
