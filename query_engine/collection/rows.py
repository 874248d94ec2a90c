"""Find the rows of tables that a question wants listed or counted.

Flow: `recognition.py` reads the question -> **here**, over the whole tables of the documents that were found, as leaves
hold some rows only -> `listing.py` shows the rows, or a language model reads them. Each word of the question
has to stand in a cell, name a column or name the table: a condition that is not understood ("after 2019") must not be
left out. Only what the rows are called may be missing. Pure.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter

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
# The column of a cell and its terms: of many rows the same.
Cell = tuple[str, Terms]


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
            [
                (name, self._terms(document.text[start:end]))
                for name, (start, end) in zip(row.columns or map(str, range(len(row.cells))), row.cells, strict=True)
            ]
            for row in looked
        ]
        said = self._said(set(chain.from_iterable(cells)))
        groups = _alternatives(said)
        if self._asked.either and all(len(group) == 1 for group in groups):
            return None  # "or" joins what stands in different columns
        valued = frozenset[str]().union(*(value for group in groups for value in group))
        headings = document.structure.heading_path(document.structure.place(table[0].start), document.text)
        titled = self._all_terms((document.title, *headings))
        columns = self._all_terms({name for row in looked for name in row.columns})
        rest = [term for term in self._content if term not in valued | titled | columns]
        fitting = _fitting(cells, said, groups, rest)
        head = next(iter(self._content), "")
        in_part = any(value != terms for (_, terms), value in said.items())
        certain, in_rows = bool(fitting) and not in_part, frozenset(rest)
        is_told = head in self._told
        by_column = any(self._is_named(name) for name, _ in said)
        is_unsaid = not _is_kind(head, cells, fitting) if by_column else not certain and not is_told
        if groups and head in rest and is_unsaid:
            # "Which people are welders?": a table need not say what its rows are. A named column, or a value that
            # several rows share, says that they are meant.
            in_rows -= {head}
            fitting = _fitting(cells, said, groups, [term for term in rest if term != head])
            of_a_column = not columns.isdisjoint(self._content) or len(fitting) > 1
            certain = self._asked.kind != "which" and of_a_column and bool(fitting) and not (in_part or is_told)
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

    def _said(self, cells: Collection[Cell]) -> dict[Cell, Terms]:
        """Return what the question says of cells: all of each; where none is of a column that it names, parts of such.

        So "located in Cincinnati" finds "Cincinnati, Ohio". Beside a cell of a named column, what is only a part of it
        ("New Zealand" of "currency New Zealand Dollar") or of the column's name ("Industrials" of "industry") is not
        meant.
        """
        asked, content = frozenset(self._typed), frozenset(self._content)
        whole = {(name, terms) for name, terms in cells if terms <= asked and not terms.isdisjoint(content)}
        if named := {(name, terms) for name, terms in whole if self._is_named(name)}:
            titles = {self._terms(name) for name, value in named if not value <= self._terms(name)}
            values = {value for _, value in named if not any(value <= title for title in titles)}
            return {
                (name, terms): terms
                for name, terms in whole
                if not any(terms < value for value in values)
                and (self._is_named(name) if terms in values else not any(terms <= title for title in titles))
            }
        columns = map(self._terms, {name for name, _ in cells})
        left = content.difference(self._content[:1], *(terms for _, terms in whole), *columns)
        parts = {(name, terms): terms & left for name, terms in cells if self._is_named(name) and terms & left}
        return {one: one[1] for one in whole} | parts

    def _is_named(self, column: str) -> bool:
        return not self._terms(column).isdisjoint(self._content)

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


def _alternatives(said: Mapping[Cell, Terms]) -> list[set[Terms]]:
    """Return the values that are said; those of one column are alternatives, so together.

    Of "New" and "New York" in one column the longer one is meant.
    """
    columns: dict[str, set[Terms]] = {}
    for (name, _), value in said.items():
        columns.setdefault(name, set()).add(value)
    groups: list[set[Terms]] = []
    for values in columns.values():
        longest = {one for one in values if not any(one < other for other in values)}
        joined = [group for group in groups if not group.isdisjoint(longest)]
        groups = [group for group in groups if group not in joined] + [longest.union(*joined)]
    return groups


def _is_kind(term: str, rows: Sequence[Sequence[Cell]], places: Sequence[int]) -> bool:
    """Whether a term says what some of these rows are ("regional banks"), not what one is called ("Luna Company")."""
    shared = Counter(cell for row in rows for cell in row if term in cell[1])
    return any(shared[cell] > 1 for at in places for cell in rows[at])


def _fitting(
    rows: Sequence[Sequence[Cell]], said: Mapping[Cell, Terms], groups: Sequence[set[Terms]], rest: Sequence[str]
) -> list[int]:
    """Return the places of rows with a value of each group, and each of the other terms in some cell."""
    return [
        at
        for at, cells in enumerate(rows)
        if all(any(said.get(cell) in group for cell in cells) for group in groups)
        and all(any(term in terms for _, terms in cells) for term in rest)
    ]
