"""Show the rows that fit where a question wants them counted: quotes cannot count.

Flow: engine, with the passages and no language model -> **here** -> a whole answer of rows, or nothing: then the answer
is quoted as any other. Rows are records of `column: value` lines, as `ingestion/reading/csv.py` writes them.
"""

import re
from collections.abc import Generator, Iterator, Sequence

from query_engine import steps
from query_engine.collection.wording import WORDINGS
from query_engine.schema.events import Event
from query_engine.schema.passage import Passage
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.markdown_escape import as_text
from query_engine.text.term_weights import TermWeights

SHOWN_ROWS = 10
# One of the first two passages must hold rows.
FIRST_PASSAGES = 2

_COUNTS = {
    "en": re.compile(r"(?:how many|what is the (?:number|total|sum|average|mean)|count|(?:the )?number of)\b", re.I),
    "de": re.compile(r"(?:wie ?viele|was ist die (?:anzahl|summe)|zähle)\b", re.I),
    "fr": re.compile(r"(?:combien|quel est le (?:nombre|total))\b", re.I),
    "es": re.compile(r"¿?(?:cuánt[oa]s|cuál es el (?:número|total))\b", re.I),
}
_GENERIC = "many number total sum average mean count there all wie viele gibt combien hay"
_ROW = re.compile(r"(?:^[^\s:|#][^:\n|]{0,40}: .*\n?)+", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?[\d.,]+\s*%?")


def show_rows(question: str, answer: Answer, words: TermWeights) -> Generator[Event, None, bool]:
    """Yield an answer of rows if the question wants them counted; return whether it does.

    Args:
        question: as it is searched for.
        answer: with the passages that were found; it grows.
        words: the corpus's terms.
    """
    language = next((language for language, pattern in _COUNTS.items() if pattern.match(question.strip())), None)
    if language is None:
        return False
    rows = list(_fitting(question, answer.passages, words))
    if len(rows) < 2:
        return False
    yield steps.rows_shown(len(rows))
    answer.begin("extractive")
    yield answer.add(f"{WORDINGS[language].no_counting}\n", 0)
    for passage, start, end in rows[:SHOWN_ROWS]:
        text = ", ".join(passage.text[start - passage.start : end - passage.start].splitlines())
        number = answer.citations.cite(passage, start, end)
        yield answer.add(f"\n- {as_text(text)} [{number}]", answer.citations.recorded)
    yield answer.done("generated_answer")
    return True


def _fitting(question: str, passages: Sequence[Passage], words: TermWeights) -> Iterator[tuple[Passage, int, int]]:
    """Yield the rows that hold all words of the question; none where one of them gives the number itself."""
    asked = set(words.query_terms(question)) - set(words.terms(_GENERIC))
    by_passage = [(passage, list(_rows(passage))) for passage in passages]
    if not asked or not any(rows for _, rows in by_passage[:FIRST_PASSAGES]):
        return
    found = []
    for passage, rows in by_passage:
        for start, end in rows:
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
