"""Answers over given pages are scored as CRAG does, with n and time."""

import bz2
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from bench.crag import BadQuestionsError, Question, answer, find_file, read_questions, table
from bench.datasets import NoDataSetError
from eval.metrics import crag_score
from index.documents import Document
from ingestion.reading.pages import Page
from query_engine.events import Citation, Done, Event, Step

ROW: dict[str, Any] = {
    "interaction_id": "1",
    "query": "Who published the limit?",
    "question_type": "simple",
    "answer": "Albert Betz",
    "alternative_answers": '["A. Betz"]',
    "search_results": [{"page_url": "https://example.org/betz", "page_result": "<p>Albert Betz did.</p>"}],
}


def question(**changes: Any) -> Question:
    return Question.model_validate(ROW | changes)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It was albert betz, in 1919. [1]", 1),
        ("A. Betz did.", 1),
        ("I don't know: the documents do not answer this question.", 0),
        ("I don’t know.", 0),
        ("Albertina Betzler did.", -1),
        ("", -1),
    ],
    ids=["the answer", "an alternative", "not knowing", "not knowing, typographic", "another name", "nothing said"],
)
def test_right_is_one_not_knowing_nothing_and_wrong_costs_one(said: str, expected: int) -> None:
    asked = question()

    assert crag_score(said, (asked.answer, *asked.alternatives)) == expected


class PageEngine:
    """Quotes the first document."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._document = documents[0]

    async def stream(self, _question: str) -> AsyncIterator[Event]:
        yield Step("search", "Searching.")
        text = self._document.text
        quotes = [Citation(1, "d", "d#0", 0, 1, "A", url, "") for url in (self._document.url, "http://elsewhere/")]
        yield Done(text, text, tuple(quotes), (), "generated_answer", "extractive", (), {}, "f")


async def test_a_question_is_answered_from_its_own_pages_and_timed() -> None:
    @contextmanager
    def over(documents: Sequence[Document]) -> Iterator[PageEngine]:
        yield PageEngine(documents)

    def read(pages: Sequence[Page]) -> tuple[list[Document], list[str]]:
        return [Document(page.url, "", page.html, url=page.url) for page in pages], ["one: unreadable"]

    row = await answer(question(), read, over)  # type: ignore[arg-type]  # an iterator serves

    assert (row.score, row.linked, row.citations, row.unread) == (1, 1, 2, 1)
    assert row.total_s > 0
    assert "| **all** | 1 | +1.00 | 1 | 0 | 0 | 1 of 2 |" in table([row])


@pytest.mark.parametrize("name", ["dev.jsonl", "dev.jsonl.bz2"])
def test_questions_are_read_from_plain_and_from_packed_files(tmp_path: Path, name: str) -> None:
    (tmp_path / "crag").mkdir()
    path = tmp_path / "crag" / name
    data = "\n".join(json.dumps(ROW | {"interaction_id": number}) for number in "12").encode()
    path.write_bytes(bz2.compress(data) if name.endswith("bz2") else data)

    assert find_file(tmp_path) == find_file(tmp_path / "crag") == find_file(path) == path
    assert [one.interaction_id for one in read_questions(path)] == ["1", "2"]
    assert [one.interaction_id for one in read_questions(path, 1)] == ["1"]
    assert read_questions(path)[0].alternatives == ("A. Betz",)


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dev.jsonl"
    path.write_text(json.dumps(ROW) + '\n{"query": "?"}\n')

    with pytest.raises(BadQuestionsError, match="Line 2 of"):
        read_questions(path)


def test_a_folder_without_questions_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(NoDataSetError, match="Name a CRAG file"):
        find_file(tmp_path)
