"""Show the rows that fit where a question wants them listed, or counted: quotes cannot count.

Flow: engine, with the passages and no language model -> **here**, over the whole documents that the best passages are
from -> an answer of rows, or nothing: then the answer is quoted as any other. Rows are records of `column: value`
lines, as `ingestion/reading/csv.py` writes them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from query_engine import steps
from query_engine.collection.wording import WORDINGS
from query_engine.retrieval.merging.group import Group
from query_engine.schema.events import Event
from query_engine.schema.passage import Passage
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.markdown_escape import as_text
from query_engine.text.term_weights import TermWeights

COUNTED_ROWS, LISTED_ROWS = 10, 40
# Of a longer table only the beginning is read.
MAX_LEAVES = 2000
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
        rows: passage, and where in its document the row begins and ends.
    """

    language: str
    counted: bool
    rows: tuple[tuple[Passage, int, int], ...]

    @property
    def shown(self) -> tuple[tuple[Passage, int, int], ...]:
        """Those that are shown."""
        return self.rows[: COUNTED_ROWS if self.counted else LISTED_ROWS]

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The passages of those that are shown, each once."""
        return tuple({passage.chunk_id: passage for passage, _, _ in self.shown}.values())


def find_rows(
    question: str,
    passages: Sequence[Passage],
    documents: Callable[[Iterable[str]], Mapping[str, StoredDocument]],
    words: TermWeights,
) -> Rows | None:
    """Return the rows that a question wants listed or counted; None if it does not, or fewer than two fit.

    Args:
        question: as it is searched for.
        passages: found for it, best first.
        documents: versions -> documents, as `DocumentStore.get_versions`.
        words: the corpus's terms.
    """
    counts, lists = (_language(question, patterns) for patterns in (_COUNTS, _LISTS))
    if not counts and not lists:
        return None
    first = [passage for passage in passages[:FIRST_PASSAGES] if any(_rows(passage))]
    found = documents(dict.fromkeys(split_node_id(passage.node_id)[0] for passage in first))
    leaves = [
        Group(document, leaf, document.tree[leaf].start, document.tree[leaf].end).passage()
        for document in found.values()
        for leaf in document.tree.leaves[:MAX_LEAVES]
    ]
    rows = tuple(_fitting(question, leaves, words))
    return Rows(counts or lists, bool(counts), rows) if len(rows) > 1 else None


def show_rows(found: Rows, answer: Answer) -> Iterator[Event]:
    """Yield an answer of rows, which grows by them."""
    wording = WORDINGS[found.language]
    yield steps.rows_shown(len(found.rows), counted=found.counted)
    answer.begin("extractive")
    if found.counted:
        yield answer.add(f"{wording.no_counting}\n", 0)
    for passage, start, end in found.shown:
        text = ", ".join(passage.text[start - passage.start : end - passage.start].splitlines())
        number = answer.citations.cite(passage, start, end)
        yield answer.add(f"\n- {as_text(text)} [{number}]", answer.citations.recorded)
    if left := len(found.rows) - len(found.shown):
        yield answer.add(f"\n- {wording.more.format(count=left)}", answer.citations.recorded)
    yield answer.done("generated_answer")


def _language(question: str, patterns: Mapping[str, re.Pattern[str]]) -> str:
    return next((language for language, pattern in patterns.items() if pattern.match(question.strip())), "")


def _fitting(question: str, passages: Sequence[Passage], words: TermWeights) -> Iterator[tuple[Passage, int, int]]:
    """Yield the rows that hold all words of the question; none where one of them gives the number itself."""
    asked = set(words.query_terms(question)) - set(words.terms(_GENERIC))
    found = []
    for passage in passages if asked else ():
        for start, end in _rows(passage):
            text = passage.text[start - passage.start : end - passage.start]
            if asked <= set(words.terms(text)):
                if _gives_number(text, asked, words):
                    return
                found.append((passage, start, end))
    yield from found


def _rows(passage: Passage) -> Iterator[tuple[int, int]]:
    for match in _ROW.finditer(passage.text):
        if match[0].count(": ") > 1 and match[0].rstrip().count("\n") >= 1:
            yield passage.start + match.start(), passage.start + match.start() + len(match[0].rstrip())


def _gives_number(row: str, asked: set[str], words: TermWeights) -> bool:
    """Whether a column that the question names holds a number: "seats: 7" says how many seats."""
    cells = (line.partition(": ") for line in row.splitlines())
    return any(_NUMBER.fullmatch(value.strip()) and asked & set(words.terms(name)) for name, _, value in cells)
