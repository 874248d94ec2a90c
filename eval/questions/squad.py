"""Read SQuAD's files, 1.1 and 2.0: articles of paragraphs, each with questions whose answers stand in it.

Flow: a file -> **here** -> `Case`s, and the articles as documents named by their title. Questions that are impossible
are near misses written by people.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from eval.cases import Case, Nugget, Text
from eval.nuggets import fold, name_region
from eval.questions.files import whole_json

NAME, TITLE, FIRST_KEYS = "squad", "SQuAD", frozenset({"version", "data"})


class _Answer(BaseModel):
    text: Text


class _Question(BaseModel):
    id: Text
    question: Text
    answers: tuple[_Answer, ...] = ()
    is_impossible: bool = False


class _Paragraph(BaseModel):
    context: Text
    qas: tuple[_Question, ...]


class _Article(BaseModel):
    title: Text
    paragraphs: tuple[_Paragraph, ...]

    @property
    def text(self) -> str:
        return "\n\n".join(paragraph.context for paragraph in self.paragraphs) + "\n"


class _File(BaseModel):
    data: tuple[_Article, ...]


def read(path: Path) -> Iterator[Case]:
    """Yield the questions in their order.

    Raises:
        BadCasesError: the file cannot be read or is not SQuAD's.
    """
    for article in whole_json(path, _File, TITLE).data:
        folded = fold(article.text)
        for paragraph in article.paragraphs:
            region = name_region(paragraph.context, folded, article.title)
            for row in paragraph.qas:
                yield _case(row, article.title, paragraph.context, {"regions": (region,)} if region else {})


def documents(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each article."""
    for article in whole_json(path, _File, TITLE).data:
        yield article.title, article.text


def _case(row: _Question, title: str, context: str, regions: dict[str, Any]) -> Case:
    if row.is_impossible or not row.answers:
        return Case(id=row.id, question=row.question, answer=None, category="near_miss")
    first, *others = dict.fromkeys(answer.text for answer in row.answers)
    nuggets = (Nugget(text=first, vital=True, any=(first, *others)),)
    about: dict[str, Any] = {"relevant_docs": (title,), "reference_context": context, "category": "factual", **regions}
    about |= {"alternatives": tuple(others)} if others else {}
    return Case(id=row.id, question=row.question, answer=first, nuggets=nuggets, **about)
