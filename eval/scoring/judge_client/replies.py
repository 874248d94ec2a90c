"""Find the judgement in a judge's reply, and refuse replies without one.

Flow: a reply's text -> **here** -> `scoring/judged/ragas_calls.py`, `scoring/judged/deepeval_metrics.py`. Pure.

The libraries compute a number from any reply that fits their schema: a verdict of 7 counts sevenfold, a reply without
statements counts as a perfect match. So such replies are refused here, and the cell says why.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from eval.scoring.judge_client.server import JudgeUnusableError

Judgement = TypeVar("Judgement", bound=BaseModel)


def json_in(text: str) -> str:
    """Return the JSON object in a reply, without reasoning before it and fences or words around it.

    Raises:
        JudgeUnusableError: there is none.
    """
    said = re.sub(r"^\s*<think>.*?</think>", "", text, flags=re.DOTALL)
    found = said[said.find("{") : said.rfind("}") + 1]
    try:
        if isinstance(json.loads(found, parse_constant=_no_number), dict):
            return found
    except (ValueError, RecursionError):
        pass
    raise JudgeUnusableError.of("The judge's reply is no JSON object", text)


def read_judgement(kind: type[Judgement], text: str) -> Judgement:
    """Return the judgement of a RAGAS prompt.

    Raises:
        JudgeUnusableError: it is not of this kind, a verdict is neither 0 nor 1, or it judges nothing.
    """
    try:
        judgement = kind.model_validate_json(json_in(text))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise JudgeUnusableError.of(
            f"The judge's reply is not what was asked for ({place}: {first['msg']})", text
        ) from error
    values = judgement.model_dump()
    for verdict in _whole_numbers(values):
        if verdict not in {0, 1}:
            raise JudgeUnusableError.of(f"The judge's verdict {verdict} is neither 0 nor 1", text)
    lists = [value for value in values.values() if isinstance(value, list)]
    if (lists and not any(lists)) or not str(values.get("question", "?")).strip():
        raise JudgeUnusableError.of("The judge's reply judges nothing", text)
    return judgement


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number")


def _whole_numbers(value: Any) -> Iterator[int]:
    if isinstance(value, int):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _whole_numbers(inner)
