"""Answers over given pages are scored as CRAG does, with n and time."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.datasets import NoDataSetError
from bench.quality.crag import answer, find_file, table
from eval.cases import Case, GivenPage
from eval.metrics import crag_score
from index.documents.store import Document
from ingestion.reading.pages import Page
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Citation, Done, Event, Step

CASE = Case(
    id="1",
    question="Who published the limit?",
    answer="Albert Betz",
    alternatives=("A. Betz",),
    category="simple",
    pages=(GivenPage(url="https://example.org/betz", html="<p>Albert Betz did.</p>"),),
)


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
    assert crag_score(said, ("Albert Betz", "A. Betz")) == expected


class PageEngine:
    """Quotes the first document."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._document = documents[0]

    async def stream(self, _: Inquiry) -> AsyncIterator[Event]:
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

    row = await answer(CASE, read, over)  # type: ignore[arg-type]  # an iterator serves

    assert (row.score, row.linked, row.citations, row.unread) == (1, 1, 2, 1)
    assert row.total_s > 0
    assert "| **all** | 1 | +1.00 | 1 | 0 | 0 | 1 of 2 |" in table([row])


def test_questions_are_found_in_a_folder_of_data_sets_in_their_own_or_by_name(tmp_path: Path) -> None:
    (tmp_path / "crag").mkdir()
    path = tmp_path / "crag" / "dev.jsonl.bz2"
    path.touch()

    assert find_file(tmp_path) == find_file(tmp_path / "crag") == find_file(path) == path


def test_a_folder_without_questions_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(NoDataSetError, match="Name a CRAG file"):
        find_file(tmp_path)
