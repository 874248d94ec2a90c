"""Read dialogues of Doc2Dial and MultiDoc2Dial: what a user asks first, the agent's answer and the spans behind it.

Flow: `doc2dial_dial_*.json`, and the documents in the `*_doc.json` beside it -> **here** -> `Case`s. Later turns mean
nothing without those before them, so they are left out, and so are first turns that the agent answers by a question.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from eval.cases import BadCasesError, Case, Nugget, Text
from eval.nuggets import fold, name_region
from eval.questions.files import whole_json

NAME, TITLE, FIRST_KEYS = "doc2dial", "Doc2Dial", frozenset({"dial_data"})


class _Reference(BaseModel):
    sp_id: str | None = None
    id_sp: str | None = None
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


def read(path: Path) -> Iterator[Case]:
    """Yield a question for each dialogue whose first turn is answered.

    Raises:
        BadCasesError: a file is missing, cannot be read or is not Doc2Dial's.
    """
    documents = {name: document for name, document in _documents(path)}
    for group in whole_json(path, _Dialogues, TITLE).dial_data.values():
        dialogues = group if isinstance(group, list) else [one for several in group.values() for one in several]
        for dialogue in dialogues:
            user, agent, *_ = (*dialogue.turns, None, None)
            if user and agent and user.role == "user" and agent.da.startswith("respond"):
                yield _case(dialogue, user, agent, documents)


def documents(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each document beside a file of dialogues."""
    for name, document in _documents(path):
        yield name, document.doc_text


def _documents(path: Path) -> Iterator[tuple[str, _Document]]:
    beside = sorted(path.parent.glob("*doc2dial_doc.json"))
    if not beside:
        raise BadCasesError(f"There is no *doc2dial_doc.json beside {path}.", "Put the data set's documents there.")
    for domain in whole_json(beside[0], _Documents, TITLE).doc_data.values():
        yield from domain.items()


def _case(dialogue: _Dialogue, user: _Turn, agent: _Turn, documents: dict[str, _Document]) -> Case:
    spans, regions, names = [], [], []
    for reference in agent.references:
        name = reference.doc_id or dialogue.doc_id
        document = documents.get(name)
        span = document.spans.get(reference.sp_id or reference.id_sp or "") if document else None
        if document and span and span.text_sp.strip():
            names.append(name)
            spans.append(span.text_sp.strip())
            regions.append(name_region(span.text_sec or span.text_sp, fold(document.doc_text), name))
    about: dict[str, Any] = {"id": dialogue.dial_id, "question": user.utterance, "category": dialogue.domain or None}
    if not spans:
        return Case(answer=None, **about)
    return Case(
        answer=agent.utterance,
        relevant_docs=tuple(dict.fromkeys(names)),
        reference_contexts=tuple(spans),
        nuggets=tuple(Nugget(text=text, vital=True, any=(text,)) for text in spans),
        regions=tuple(dict.fromkeys(region for region in regions if region)),
        **about,
    )
