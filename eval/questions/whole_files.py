"""Read files that are one JSON value: SQuAD's, 1.1 and 2.0, and those of Doc2Dial and MultiDoc2Dial.

Flow: a file -> **here** -> `Case`s, and the documents that they are about.

SQuAD's questions that are impossible are near misses written by people. Of a dialogue the user's first question is
taken, with the agent's answer and the spans behind it: later turns mean nothing without those before them, so they are
left out, and so are first turns that the agent answers by a question.
"""

from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from pydantic import AliasChoices, BaseModel, Field

from eval.cases import BadCasesError, Case, Nugget, Region, Text
from eval.nuggets import fold, name_region
from eval.questions.files import whole_json

Read = tuple[list[Case], dict[str, str]]


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


class _Reference(BaseModel):
    span: str = Field("", validation_alias=AliasChoices("sp_id", "id_sp"))
    doc_id: str | None = None


class _Turn(BaseModel):
    role: str
    da: str = ""
    utterance: str
    references: tuple[_Reference, ...] = ()


class _Dialogue(BaseModel):
    dial_id: Text
    doc_id: str = ""
    domain: str = ""
    turns: tuple[_Turn, ...]


class _Dialogues(BaseModel):
    """By domain, and in Doc2Dial by document too."""

    dial_data: dict[str, dict[str, list[_Dialogue]] | list[_Dialogue]]


class _Span(BaseModel):
    text_sp: str
    text_sec: str = ""


class _Document(BaseModel):
    doc_text: str
    spans: dict[str, _Span]


class _Documents(BaseModel):
    doc_data: dict[str, dict[str, _Document]]


def _read_squad(path: Path) -> Read:
    cases: list[Case] = []
    documents: dict[str, str] = {}
    for article in whole_json(path, _Squad, "SQuAD").data:
        documents[article.title] = "\n\n".join(paragraph.context for paragraph in article.paragraphs) + "\n"
        folded = fold(documents[article.title])
        for paragraph in article.paragraphs:
            region = name_region(paragraph.context, folded, article.title)
            cases += [_squad_case(row, article.title, paragraph.context, region) for row in paragraph.qas]
    return cases, documents


def _squad_case(row: _Question, title: str, context: str, region: Region | None) -> Case:
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


def _read_doc2dial(path: Path) -> Read:
    beside = sorted(path.parent.glob("*doc2dial_doc.json"))
    if not beside:
        raise BadCasesError(f"There is no *doc2dial_doc.json beside {path}.", "Put the data set's documents there.")
    documents: dict[str, _Document] = {}
    for domain in whole_json(beside[0], _Documents, "Doc2Dial").doc_data.values():
        documents |= domain
    cases: list[Case] = []
    for group in whole_json(path, _Dialogues, "Doc2Dial").dial_data.values():
        dialogues = group if isinstance(group, list) else chain.from_iterable(group.values())
        for dialogue in dialogues:
            user, agent, *_ = (*dialogue.turns, None, None)
            if user and agent and user.role == "user" and agent.da.startswith("respond"):
                cases.append(_dialogue_case(dialogue, user.utterance, agent, documents))
    return cases, {name: document.doc_text for name, document in documents.items()}


def _dialogue_case(dialogue: _Dialogue, question: str, agent: _Turn, documents: dict[str, _Document]) -> Case:
    spans, regions, names = [], [], []
    for reference in agent.references:
        name = reference.doc_id or dialogue.doc_id
        document = documents.get(name)
        span = document.spans.get(reference.span) if document else None
        if document and span and span.text_sp.strip():
            names.append(name)
            spans.append(span.text_sp.strip())
            regions.append(name_region(span.text_sec or span.text_sp, fold(document.doc_text), name))
    return Case(
        id=dialogue.dial_id,
        question=question,
        category=dialogue.domain or None,
        answer=agent.utterance if spans else None,
        relevant_docs=tuple(dict.fromkeys(names)),
        reference_contexts=tuple(spans),
        nuggets=tuple(Nugget(text=text, vital=True, any=(text,)) for text in spans),
        regions=tuple(dict.fromkeys(region for region in regions if region)),
    )


class WholeFormat(NamedTuple):
    """How a file that is one JSON value is read.

    Attributes:
        title: as people know it.
        first_keys: by which the file is recognised: it begins with one of them.
        read: returns the questions, and by their names the documents that they are about. It raises BadCasesError.
    """

    title: str
    first_keys: frozenset[str]
    read: Callable[[Path], Read]


WHOLE = {
    "squad": WholeFormat("SQuAD", frozenset({"version", "data"}), _read_squad),
    "doc2dial": WholeFormat("Doc2Dial", frozenset({"dial_data"}), _read_doc2dial),
}
