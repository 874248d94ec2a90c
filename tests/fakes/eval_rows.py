"""Cases and rows of tests: what is not named is as plain as can be."""

import json
from dataclasses import dataclass
from typing import Any

from eval.cases import Case
from eval.rows import Quote, Row, Seen


@dataclass(frozen=True)
class Found:
    """A passage at one rank."""

    doc_id: str
    text: str = ""
    pages: tuple[int, ...] = ()


def case(id_: str = "q", **known: Any) -> Case:
    return Case.model_validate_json(json.dumps({"id": id_, "question": "Q?", **known}))


def answered(answer: str, id_: str = "q", **known: Any) -> Row:
    return Row(id=id_, outcome="answered", answer=answer, **known)


def declined(id_: str = "q", **known: Any) -> Row:
    return Row(id=id_, outcome="declined", answer="I don't know.", **known)


def unreplied(id_: str = "q") -> Row:
    return Row(id=id_, outcome="failed", answer=None, reason="the service took more than 5 s")


def seen(text: str = "", doc_id: str = "", **known: Any) -> Seen:
    return Seen(text=text, doc_id=doc_id, **known)


def quote(number: int, text: str | None, **known: Any) -> Quote:
    return Quote(number=number, quote=text, **known)
