"""Ask the judge for a label of each of many things, ten at a time, or for a list of texts.

Flow: `nuggets.py`, `support.py`, `ratings.py` -> **here** -> `scoring/judge_client.py`. A reply that does not
label each thing, or by another word, is not a judgement: a JudgeError.
"""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from eval.scoring.judge_client import Judge, JudgeUnusableError, json_in

BATCH = 10
# What is said of a fact or a sentence that something may hold.
HOLDS = {"full": 1.0, "partial": 0.5, "none": 0.0}


def batches(items: Sequence[Any]) -> list[Sequence[Any]]:
    """Return the items in order, `BATCH` at a time."""
    return [items[start : start + BATCH] for start in range(0, len(items), BATCH)]


async def ask_labels(
    judge: Judge, nth: str, task: str, given: Mapping[str, Any], *, items: Sequence[Any], labels: Sequence[str]
) -> list[str]:
    """Return one of the labels for each of the JSON-ready items, in order; the judge is asked once for each ten.

    `task` says what each label means, `given` is what the items are judged by; `nth` is that of `Judge.ask`.
    """
    found: list[str] = []
    for batch in batches(items):
        prompt = prompt_of(
            task, '{"labels": [...]}, one label for each item, in their order', {**given, "items": batch}
        )
        array = {"type": "array", "items": {"enum": list(labels)}, "minItems": len(batch), "maxItems": len(batch)}
        found += await judge.ask(prompt, _schema("labels", array), nth, partial(_labels, labels, len(batch)))
    return found


async def ask_texts(judge: Judge, nth: str, task: str, given: Mapping[str, Any], most: int) -> list[str]:
    """Return the texts, one or more, that the judge writes: without repetitions, the first `most`."""
    prompt = prompt_of(task, '{"texts": [...]}', given)
    array = {"type": "array", "items": {"type": "string"}, "maxItems": most}
    written = await judge.ask(prompt, _schema("texts", array), nth, _texts)
    return list({text.casefold(): text for text in reversed(written)}.values())[::-1][:most]


def prompt_of(task: str, shape: str, given: Mapping[str, Any]) -> str:
    """Return a prompt for a JSON object of a shape."""
    return f"{task}\n\nReply with nothing but a JSON object {shape}.\n\ninput: {json.dumps(given, ensure_ascii=False)}"


def _schema(name: str, array: Mapping[str, Any]) -> dict[str, Any]:
    return {"title": name, "type": "object", "properties": {name: array}, "required": [name]}


def _labels(known: Sequence[str], count: int, text: str) -> list[str]:
    found = _listed("labels", text)
    if len(found) != count:
        raise JudgeUnusableError.of(f"The judge gave {len(found)} labels for {count} things", text)
    if strange := next((label for label in found if label not in known), None):
        raise JudgeUnusableError.of(f"The judge's label {strange!r} is none of {', '.join(known)}", text)
    return found


def _texts(text: str) -> list[str]:
    found = [one.strip() for one in _listed("texts", text) if one.strip()]
    if not found:
        raise JudgeUnusableError.of("The judge's reply holds no text", text)
    return found


def _listed(name: str, text: str) -> list[str]:
    found = json.loads(json_in(text)).get(name)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise JudgeUnusableError.of(f"The judge's reply has no list of {name}", text)
    return found
