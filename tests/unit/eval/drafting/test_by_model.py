"""A model writes questions of the kinds that are wanted, and what it may not write is dropped and counted."""

import asyncio
import json
from pathlib import Path

from eval.drafting.by_model import KINDS, Writer
from eval.drafting.draft import NEAR_MISS, Checks, Leaf
from eval.scoring.judge_client import Judge
from settings import JudgeSettings
from tests.servers.scripted_judge import input_of, schema_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM, echo
from tests.unit.eval.drafting.documents import sections
from tests.unit.eval.drafting.test_draft import leaf

SECTIONS = sections()


def fact(text: str, phrase: str) -> dict[str, object]:
    return {"text": text, "vital": True, "phrases": [phrase]}


def written(request: Request) -> str:
    """Quote the first words of each passage; near misses ask for the price."""
    if schema_of(request) == "labels":
        return json.dumps({"labels": ["yes" if "night" in input_of(request)["items"][0] else "no"]})
    passages = input_of(request)["passages"]
    name = passages[0]["from"]
    if KINDS[NEAR_MISS] in echo(request):
        return json.dumps({"question": f"What does it cost: {name}?", "answer": "", "facts": []})
    facts = [fact("It says so.", " ".join(one["text"].split()[-3:])) for one in passages]
    return json.dumps({"question": f"What about {name}?", "answer": "This.", "facts": facts})


def drafted(
    script: Script, cache: Path, *kinds: str, count: int = 20, languages: tuple[str, ...] = ()
) -> tuple[Checks, list[Request]]:
    vectors = iter(range(1000))

    def find(_question: str) -> list[Leaf]:
        return [leaf(one) for one in SECTIONS]

    def embed(_question: str) -> list[float]:
        place = next(vectors)
        return [float(place == other) for other in range(100)]

    made = Checks(find, embed, "scripted")
    with ScriptedLLM(script) as server:
        settings = JudgeSettings(base_url=server.base_url, model="scripted", cache_dir=cache)
        judge = Judge(settings)

        async def draft() -> None:
            async with judge.connected():
                await Writer(judge, SECTIONS, made).draft(count, kinds, languages, at_once=2)

        asyncio.run(draft())
        return made, server.requests


def test_questions_of_one_and_of_two_sections_are_drafted(tmp_path: Path) -> None:
    made, _ = drafted(Script(text=written), tmp_path, "factual", "difference", count=4)

    assert [draft.category for draft in made.drafts] == ["factual", "difference", "factual", "difference"]
    assert [len(draft.regions) for draft in made.drafts] == [1, 2, 1, 2]
    assert {draft.drafted_by for draft in made.drafts} == {"scripted"}


def test_a_near_miss_that_the_corpus_answers_is_dropped(tmp_path: Path) -> None:
    made, _ = drafted(Script(text=written), tmp_path, NEAR_MISS, count=len(SECTIONS))

    assert made.drafts
    assert all(draft.unanswerable and "night" not in draft.question for draft in made.drafts)
    assert made.dropped["near misses that the corpus answers"] > 0


def test_facts_that_the_model_made_up_are_dropped(tmp_path: Path) -> None:
    invented = json.dumps({"question": "Who?", "answer": "She.", "facts": [fact("She did.", "no such words")]})

    made, requests = drafted(Script(text=invented), tmp_path, "factual", count=2)

    assert not made.drafts
    assert sum(made.dropped.values()) == 6  # three tries for each question
    assert len(requests) == len(SECTIONS)  # the others were remembered


def test_junk_is_counted_and_a_judge_of_no_use_is_given_up(tmp_path: Path) -> None:
    made, requests = drafted(Script(text="Sure, here is a question."), tmp_path, "factual")

    assert not made.drafts
    assert sum(made.dropped.values()) < 20
    assert len(requests) < 20


def test_the_language_is_asked_for_in_turn_and_kept(tmp_path: Path) -> None:
    made, requests = drafted(Script(text=written), tmp_path, "factual", count=2, languages=("de", "fr"))

    assert [draft.language for draft in made.drafts] == ["de", "fr"]
    assert sorted("in de" in echo(request) for request in requests) == [False, True]
