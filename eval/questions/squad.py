"""Read SQuAD's files, 1.1 and 2.0, each of which is one JSON value.

Flow: a file -> **here** -> `Case`s, and the documents that they are about. Questions that are impossible are near
misses written by people.
"""

from pathlib import Path

from pydantic import BaseModel

from eval.cases import Case, Nugget, Region, Text
from eval.nuggets import fold, name_region
from eval.questions.files import whole_json

FIRST_KEYS = frozenset({"version", "data"})
"""A file is recognised by its first key."""


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


class _Squad(BaseModel):
    data: tuple[_Article, ...]


def read_squad(path: Path) -> tuple[list[Case], dict[str, str]]:
    """Return the questions, and by their names the documents that they are about. Raises BadCasesError."""
    cases: list[Case] = []
    documents: dict[str, str] = {}
    for article in whole_json(path, _Squad, "SQuAD").data:
        documents[article.title] = "\n\n".join(paragraph.context for paragraph in article.paragraphs) + "\n"
        folded = fold(documents[article.title])
        for paragraph in article.paragraphs:
            region = name_region(paragraph.context, folded, article.title)
            cases += [_to_case(row, article.title, paragraph.context, region) for row in paragraph.qas]
    return cases, documents


def _to_case(row: _Question, title: str, context: str, region: Region | None) -> Case:
    if row.is_impossible or not row.answers:
        return Case(id=row.id, question=row.question, answer=None, category="near_miss")
    answers = tuple(dict.fromkeys(answer.text for answer in row.answers))
    return Case(
        id=row.id,
        question=row.question,
        answer=answers[0],
        alternatives=answers[1:],
        relevant_docs=(title,),
        reference_context=context,
        category="factual",
        nuggets=(Nugget(text=answers[0], vital=True, any=answers),),
        regions=(region,) if region else (),
    )
