"""A model writes questions of the kinds that are wanted; what is wrong with them is dropped and counted."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from eval.drafting.sections import Leaf, Section
from eval.drafting.writing import DEPTH, KINDS, NEAR_MISS, Drafting
from eval.scoring.judge_client import Judge
from settings import JudgeSettings
from tests.servers.scripted_judge import input_of, schema_of
from tests.servers.scripted_llm import Request, Script, ScriptedLLM, echo
from tests.unit.eval.drafting.documents import section, sections

SECTIONS = sections()
KETTLE = section("Tar kettle")


def fact(*phrases: str, vital: bool = True) -> dict[str, object]:
    return {"text": "It is so.", "vital": vital, "phrases": list(phrases)}


def written(request: Request) -> str:
    """Quote the last words of the passage; near misses ask for the price."""
    if schema_of(request) == "labels":
        return json.dumps({"labels": ["yes" if "night" in input_of(request)["items"][0] else "no"]})
    passage = input_of(request)["passage"]
    if KINDS[NEAR_MISS] in echo(request):
        return json.dumps({"question": f"What does it cost: {passage['from']}?", "answer": "", "facts": []})
    facts = [fact(" ".join(passage["text"].split()[-3:]))]
    return json.dumps({"question": f"What about {passage['from']}?", "answer": "This.", "facts": facts})


def says(*facts: dict[str, object], question: str = "What is it?") -> str:
    return json.dumps({"question": question, "answer": "A pot.", "facts": facts})


def leaf(one: Section) -> Leaf:
    return Leaf(one.document.doc_id, one.start, one.start + 20, one.text[:20])


def drafted(
    text: str | Callable[[Request], str],
    cache: Path,
    *kinds: str,
    of: Sequence[Section] = SECTIONS,
    count: int = 20,
    found: Sequence[Leaf] | None = None,
    language: str = "",
    same: bool = False,
) -> tuple[Drafting, list[Request]]:
    places = iter(range(1000))

    def embed(_question: str) -> list[float]:
        place = 0 if same else next(places)
        return [float(place == other) for other in range(100)]

    with ScriptedLLM(Script(text=text)) as server:
        judge = Judge(JudgeSettings(base_url=server.base_url, model="scripted", cache_dir=cache))
        leaves = [leaf(one) for one in SECTIONS] if found is None else found
        made = Drafting(judge, lambda _question: leaves, embed)
        asyncio.run(made.draft(of, count, kinds or ("factual",), language))
        return made, server.requests


def test_a_draft_says_what_it_was_made_of_and_is_scored_by_its_region(tmp_path: Path) -> None:
    made, requests = drafted(says(fact("iron pot")), tmp_path, of=[KETTLE], count=1, language="de")

    (draft,) = made.drafts
    assert (draft.answer, draft.nuggets[0].any) == ("A pot.", ("iron pot",))
    assert draft.regions == (KETTLE.region,)
    assert draft.reference_contexts == (KETTLE.text,)
    assert draft.relevant_docs == ("boats/guide.md",)
    assert (draft.category, draft.drafted_by, draft.language) == ("factual", "scripted", "de")
    assert "Tar kettle" in draft.source
    assert "in de" in echo(requests[0])


def test_the_kinds_are_asked_for_in_turn(tmp_path: Path) -> None:
    made, _ = drafted(written, tmp_path, "factual", "list", count=4)

    assert [draft.category for draft in made.drafts] == ["factual", "list", "factual", "list"]


def test_phrases_that_do_not_stand_in_the_region_are_left_out(tmp_path: Path) -> None:
    made, _ = drafted(says(fact("a copper pot", "IRON  pot", " ")), tmp_path, of=[KETTLE], count=1)

    assert made.drafts[0].nuggets[0].any == ("IRON  pot",)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (says(fact("no such words")), None),
        (says(fact("iron pot", vital=False)), None),
        (says(), None),
        (says(fact("iron pot"), question=" "), None),
        (says(fact("iron pot")), []),
        (says(fact("iron pot")), [*[leaf(section("Mending the hull"))] * DEPTH, leaf(KETTLE)]),
    ],
    ids=["invented", "not vital", "no facts", "no question", "not found", "found too late"],
)
def test_what_is_wrong_with_a_question_drops_it(reply: str, found: Sequence[Leaf] | None, tmp_path: Path) -> None:
    made, requests = drafted(reply, tmp_path, of=[KETTLE], count=2, found=found)

    assert not made.drafts
    assert sum(made.dropped.values()) == 6  # three tries for each question
    assert len(requests) <= 2  # the others were remembered


def test_a_repeated_question_is_dropped(tmp_path: Path) -> None:
    made, _ = drafted(written, tmp_path, same=True)

    assert len(made.drafts) == 1
    assert set(made.dropped) == {"repetitions"}


def test_a_near_miss_has_no_answer_and_is_dropped_if_the_corpus_answers_it(tmp_path: Path) -> None:
    made, _ = drafted(written, tmp_path, NEAR_MISS, count=len(SECTIONS))

    assert made.drafts
    assert all(draft.unanswerable and not draft.regions and "night" not in draft.question for draft in made.drafts)
    assert made.dropped["near misses that the corpus answers"] > 0


def test_junk_is_counted_and_a_judge_of_no_use_is_given_up(tmp_path: Path) -> None:
    made, requests = drafted("Sure, here is a question.", tmp_path)

    assert not made.drafts
    assert sum(made.dropped.values()) < 20
    assert len(requests) < 20
