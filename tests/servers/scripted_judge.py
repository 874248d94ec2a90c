"""A judge whose judgements are known: it decides by rule, so the scores that follow can be computed by hand.

    with ScriptedLLM(Script(text=judgement)) as server: ...

For our prompts and RAGAS's it has rules; DeepEval's always get the same verdicts.

It splits texts into sentences, takes a sentence for supported where the other text holds it letter for letter, and
reads out of an answer the question "What about ANSWER". Where a part may count, that is the first two words. A fact is
vital unless it begins with "Perhaps". A passage is graded by the digit that it begins with, 0 without one, an answer by
the number behind a criterion's name, 5 without one; of two answers the longer one is preferred. Prompts are told apart
by the schema that is asked for, and by the labels to choose from.
"""

import json
import re
from collections.abc import Callable
from typing import Any

from tests.servers.scripted_llm import Request, echo

Json = dict[str, Any]


def judgement(request: Request) -> str:
    """Judge by rule."""
    if schema_of(request) == "labels":
        given, label = input_of(request), LABELS[choices_of(request)]
        return json.dumps({"labels": [label(item, given) for item in given["items"]]})
    return json.dumps(RULES[schema_of(request)](input_of(request)))


def fixed_judgement(request: Request) -> str:
    """Give the verdicts of `VERDICTS`."""
    schema = request["response_format"]["json_schema"]["schema"]
    if schema["title"] != "Verdicts":
        return json.dumps({next(iter(schema["properties"])): ["one", "two", "three", "four"]})
    said = VERDICTS[next(iter(schema["$defs"])).removesuffix("Verdict")]
    return json.dumps({"verdicts": [{"verdict": verdict, "reason": "It says so."} for verdict in said.split()]})


VERDICTS = {
    "Faithfulness": "yes no borderline yes",
    "AnswerRelevancy": "yes no no no",
    "ContextualPrecision": "yes no yes",
    "ContextualRecall": "yes no",
}


def schema_of(request: Request) -> str:
    """Return the name of what is asked for."""
    return str(request["response_format"]["json_schema"]["schema"]["title"])


def choices_of(request: Request) -> frozenset[str]:
    """Return the labels to choose from."""
    return frozenset(request["response_format"]["json_schema"]["schema"]["properties"]["labels"]["items"]["enum"])


def input_of(request: Request) -> Json:
    """Return what is to be judged: it stands behind the examples."""
    given, _ = json.JSONDecoder().raw_decode(echo(request).rpartition("\ninput: ")[2])
    return dict(given)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text."""
    return [part.strip().rstrip(".") for part in text.split(". ") if part.strip()]


def _statements(given: Json) -> Json:
    return {"statements": sentences(given["answer"])}


def _claims(given: Json) -> Json:
    return {"claims": sentences(given["response"])}


def _verdicts(given: Json) -> Json:
    return {
        "statements": [
            {"statement": text, "reason": "It says so.", "verdict": int(text in given["context"])}
            for text in given["statements"]
        ]
    }


def _question(given: Json) -> Json:
    return {"question": f"What about {given['response']}", "noncommittal": int("nobody knows" in given["response"])}


def _useful(given: Json) -> Json:
    return {"reason": "It says so.", "verdict": int(given["answer"].rstrip(".") in given["context"])}


def _attributions(given: Json) -> Json:
    return {
        "classifications": [
            {"statement": text, "reason": "It says so.", "attributed": int(text in given["context"])}
            for text in sentences(given["answer"])
        ]
    }


def _classes(given: Json) -> Json:
    said, right = given["answer"], given["ground_truth"]
    found = {
        "TP": [text for text in said if text in right],
        "FP": [text for text in said if text not in right],
        "FN": [text for text in right if text not in said],
    }
    return {name: [{"statement": text, "reason": "-"} for text in texts] for name, texts in found.items()}


def _facts(given: Json) -> Json:
    return {"texts": [*given["known"], *(fact for text in given["texts"] for fact in sentences(text))]}


def _stated(item: Any, given: Json) -> str:
    part, text = (item["sentence"].rstrip("."), item["quote"]) if isinstance(item, dict) else (item, given["answer"])
    return "full" if part in text else "partial" if " ".join(part.split()[:2]) in text else "none"


def _treated(point: str, given: Json) -> str:
    if point.replace(" is ", " is not ") in given["answer"].replace(point, ""):
        return "contradicted"
    return "supported" if point in given["answer"] else "omitted"


def _preferred(duel: Json, _: Json) -> str:
    first, second = len(duel["first"]), len(duel["second"])
    return "tie" if first == second else "first" if first > second else "second"


LABELS: dict[frozenset[str], Callable[[Any, Json], str]] = {
    frozenset({"full", "partial", "none"}): _stated,
    frozenset({"vital", "okay"}): lambda fact, _: "okay" if fact.startswith("Perhaps") else "vital",
    frozenset({"supported", "omitted", "contradicted"}): _treated,
    frozenset({"needed", "not needed"}): lambda sentence, _: "not needed" if sentence.startswith("So ") else "needed",
    frozenset("0123"): lambda passage, _: passage[0] if passage[0] in "0123" else "0",
    frozenset(map(str, range(11))): lambda name, given: (re.findall(rf"{name} (\d+)", given["answer"]) or ["5"])[0],
    frozenset({"first", "second", "tie"}): _preferred,
}
RULES: dict[str, Callable[[Json], Json]] = {
    "texts": _facts,
    "StatementGeneratorOutput": _statements,
    "ClaimDecompositionOutput": _claims,
    "NLIStatementOutput": _verdicts,
    "AnswerRelevanceOutput": _question,
    "ContextPrecisionOutput": _useful,
    "ContextRecallOutput": _attributions,
    "ClassificationWithReason": _classes,
}
