"""Show the rows that fit where a question wants them listed, or counted: quotes cannot count.

Flow: engine, with the passages and no language model -> **here**, over the whole documents that the best passages are
from -> an answer of rows, or nothing: then the answer is quoted as any other. Rows are records of `column: value`
lines, as `ingestion/reading/csv.py` writes them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from query_engine import steps
from query_engine.collection.extract import DocumentsOf, Extract, documents_of, extract, passages_of
from query_engine.collection.wording import WORDINGS
from query_engine.schema.events import Event
from query_engine.schema.passage import Passage
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.markdown_escape import as_quote
from query_engine.text.markdown_table import table_head, table_row
from query_engine.text.term_weights import TermWeights

COUNTED_ROWS, LISTED_ROWS = 10, 40
# Some 10,000 rows, which take a fifth of a second; of a longer table, rows are quoted like any text.
MAX_TABLE_CHARS = 1_000_000
# One of the first two passages must hold rows.
FIRST_PASSAGES = 2

_COUNTS = {
    "en": re.compile(r"(?:how many|what is the (?:number|total|sum|average|mean)|count|(?:the )?number of)\b", re.I),
    "de": re.compile(r"(?:wie ?viele|was ist die (?:anzahl|summe)|zähle)\b", re.I),
    "fr": re.compile(r"(?:combien|quel est le (?:nombre|total))\b", re.I),
    "es": re.compile(r"¿?(?:cuánt[oa]s|cuál es el (?:número|total))\b", re.I),
}
_LISTS = {
    "en": re.compile(r"(?:list|(?:show|give|name|tell)(?: me| us)?(?: a list of)? (?:all|every))\b", re.I),
    "de": re.compile(r"(?:liste|(?:zeige?|nenne?)(?: mir| uns)? alle)\b", re.I),
    "fr": re.compile(r"(?:liste[rz]?|(?:montre|donne)[rz]?(?:[- ]moi)? (?:tous|toutes))\b", re.I),
    "es": re.compile(r"(?:lista|enumera|(?:muestra|dame)(?:me)? tod[oa]s)\b", re.I),
}
_GENERIC = (
    "many number total sum average mean count there all every list show give name tell wie viele gibt liste zeige zeig"
    " nenne nenn alle combien lister montre donne tous toutes hay lista enumera muestra dame todos todas"
)
_ROW = re.compile(r"(?:^[^\s:|#][^:\n|]{0,40}: .*\n?)+", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?[\d.,]+\s*%?")


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that fit a question, in the order of their documents.

    Attributes:
        language: of the question.
        counted: it wants to know how many.
        shown: those that are shown.
        left: how many more there are.
    """

    language: str
    counted: bool
    shown: tuple[Extract, ...]
    left: int

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of those that are shown, each once."""
        return passages_of(self.shown)


def find_rows(question: str, passages: Sequence[Passage], documents: DocumentsOf, words: TermWeights) -> Rows | None:
    """Return the rows that a question wants listed or counted; None if it does not, or fewer than two fit.

    Args:
        question: as it is searched for.
        passages: found for it, best first.
        documents: of the corpus.
        words: the corpus's terms.
    """
    counts, lists = (_language(question, patterns) for patterns in (_COUNTS, _LISTS))
    asked = set(words.query_terms(question)) - set(words.terms(_GENERIC))
    if not asked or not (counts or lists):
        return None
    first = [passage for passage in passages[:FIRST_PASSAGES] if any(_spans(passage.text))]
    found = documents_of(first, documents)
    if any(len(document.text) > MAX_TABLE_CHARS for document in found):
        return None
    rows = [
        (document, start, end)
        for document in found
        for start, end in _spans(document.text)
        if asked <= set(words.terms(document.text[start:end]))
    ]
    gives_number = (_gives_number(document.text[start:end], asked, words) for document, start, end in rows)
    if len(rows) < 2 or (counts and any(gives_number)):
        return None
    shown = tuple(extract(*row) for row in rows[: COUNTED_ROWS if counts else LISTED_ROWS])
    return Rows(counts or lists, bool(counts), shown, left=len(rows) - len(shown))


def show_rows(found: Rows, answer: Answer) -> Iterator[Event]:
    """Yield an answer of rows, which grows by them."""
    wording = WORDINGS[found.language]
    yield steps.rows_shown(len(found.shown) + found.left, counted=found.counted)
    answer.begin("extractive")
    if found.counted:
        yield answer.add(f"{wording.no_counting}\n\n", 0)
    table = [[line.partition(": ") for line in row.verbatim.splitlines()] for row in found.shown]
    names, *others = ([name for name, _, _ in cells] for cells in table)
    is_table = all(names == one for one in others)
    if is_table:
        yield answer.add(table_head(names), 0)
    for row, cells in zip(found.shown, table, strict=True):
        mark = f" [{answer.citations.cite(row.passage, row.start, row.end)}]"
        line = (
            table_row([value for _, _, value in cells], mark)
            if is_table
            else f"- {as_quote(', '.join(row.verbatim.splitlines()))}{mark}"
        )
        yield answer.add(f"\n{line}", answer.citations.recorded)
    if found.left:
        yield answer.add(f"\n\n{wording.more.format(count=found.left)}", answer.citations.recorded)
    yield answer.done("generated_answer")


def _language(question: str, patterns: Mapping[str, re.Pattern[str]]) -> str:
    return next((language for language, pattern in patterns.items() if pattern.match(question.strip())), "")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each row of a text begins and ends."""
    for match in _ROW.finditer(text):
        if match[0].count(": ") > 1 and match[0].rstrip().count("\n") >= 1:
            yield match.start(), match.start() + len(match[0].rstrip())


def _gives_number(row: str, asked: set[str], words: TermWeights) -> bool:
    """Whether a column that the question names holds a number: "seats: 7" says how many seats."""
    cells = (line.partition(": ") for line in row.splitlines())
    return any(_NUMBER.fullmatch(value.strip()) and asked & set(words.terms(name)) for name, _, value in cells)
