"""Evidence for each part: searched side by side, judged, merged without repetition."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from query_engine.answerability.classifier import Confidence
from query_engine.question.decompose import ONE_PASS, Plan
from query_engine.retrieval.multi_part import Gathering, SearchContext, merge
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from settings import RetrievalSettings
from tests.fakes.engines import a_passage
from tests.fakes.words import FakeWords

OPTIONS = RetrievalSettings()
WHOLE = "Which is larger, Mars or Venus?"
PLAN = Plan(("mars", "venus"))


def at(start: int, text: str, doc_id: str = "a") -> Passage:
    return replace(a_passage(doc_id=doc_id, text=text), start=start, end=start + len(text), node_id=f"{doc_id}.{start}")


def sure(value: float, *missing: str) -> Confidence:
    return Confidence(value, 0.5, 0.5, missing)


class Search:
    """Finds what it is told to; judges by the values it is given for texts."""

    def __init__(self, found: Mapping[str, Sequence[Passage]], worth: Mapping[str, Confidence]) -> None:
        self.asked: list[str] = []
        self._found = found
        self._worth = worth

    def search(self, query: str) -> Retrieval:
        self.asked.append(query)
        return Retrieval(tuple(self._found.get(query, ())), {"retrieve": 1.0}, (AnswerWarning("slow", "it was slow."),))

    def judge(self, _query: str, passages: Sequence[Passage]) -> Confidence:
        judged = [self._worth[passage.text] for passage in passages if passage.text in self._worth]
        return max(judged, key=lambda one: one.value, default=sure(0.0))

    @staticmethod
    def quoted(_query: str, passages: Sequence[Passage]) -> str:
        return passages[0].text if passages else ""

    def gathering(self, plan: Plan = PLAN, deadline: Deadline | None = None) -> Gathering:
        context = SearchContext(
            self.search, self.judge, self.quoted, FakeWords(), 0.5, OPTIONS, deadline or Deadline(60)
        )
        return Gathering(WHOLE, lambda *_: plan, context)


def steps_of(gathering: Gathering) -> list[Step]:
    """All steps but the last, which tells the warning of `Search`."""
    *told, last = gathering.steps()
    assert (last.kind, last.text) == ("warning", "**Searching with less than is set**: it was slow.")
    return told


def test_a_question_without_parts_is_searched_for_once_and_says_nothing() -> None:
    search = Search({WHOLE: [at(0, "Mars is red.")]}, {})
    gathering = search.gathering(ONE_PASS)

    assert steps_of(gathering) == []
    assert search.asked == [WHOLE]
    assert [passage.text for passage in gathering.retrieval.passages] == ["Mars is red."]
    assert gathering.confidence(sure(0.3)).value == 0.3


@pytest.mark.promise("E15")
def test_each_part_has_its_evidence_and_the_list_takes_turns() -> None:
    found = {
        WHOLE: [at(0, "Planets."), at(100, "More planets.")],
        "mars": [at(200, "Mars."), at(300, "More Mars.")],
        "venus": [at(400, "Venus.")],
    }
    search = Search(found, {"Mars.": sure(0.9), "Venus.": sure(0.7)})
    gathering = search.gathering()

    planned, covered = steps_of(gathering)

    assert sorted(search.asked) == sorted([WHOLE, "mars", "venus"])
    texts = [passage.text for passage in gathering.retrieval.passages]
    assert texts == ["Planets.", "Mars.", "Venus.", "More planets.", "More Mars."]
    assert "- mars\n- venus" in planned.text
    assert "Evidence for 2 of 2 parts" in covered.text
    assert gathering.retrieval.warnings == (AnswerWarning("slow", "it was slow."),)


def test_a_translation_is_searched_for_too_what_it_finds_comes_first_and_it_is_judged() -> None:
    found = {WHOLE: [at(0, "Planets.")], "Qui est grand ?": [at(50, "Mars est grand."), at(90, "Vénus.")]}
    gathering = Search(found, {"Mars est grand.": sure(0.8)}).gathering(Plan(translation="Qui est grand ?"))

    (told,) = steps_of(gathering)

    assert "Qui est grand ?" in told.text
    assert [passage.text for passage in gathering.retrieval.passages] == ["Mars est grand.", "Vénus.", "Planets."]
    assert gathering.confidence(sure(0.1)).value == 0.8
    assert gathering.parts == []


def test_what_has_no_room_among_the_passages_is_left_out_in_turns() -> None:
    long = "x" * (OPTIONS.budget_chars // 5 - 20)
    starts = {"mars": 0, "venus": 50_000}
    found = {name: [at(start + 9000 * n, f"{name} {n} {long}") for n in range(4)] for name, start in starts.items()}
    gathering = Search(found, {}).gathering()
    steps_of(gathering)

    shown, rest = (
        [one.text[:7].strip() for one in some] for some in (gathering.retrieval.passages, gathering.retrieval.left_out)
    )
    assert (shown, rest) == (["mars 0", "venus 0", "mars 1", "venus 1", "mars 2"], ["venus 2", "mars 3", "venus 3"])


def test_the_whole_question_is_judged_by_its_own_passages_too() -> None:
    found = {WHOLE: [at(0, "Planets.")], "mars": [at(50, "Mars.")]}
    gathering = Search(found, {"Planets.": sure(0.8)}).gathering()
    steps_of(gathering)

    assert gathering.confidence(sure(0.1)).value == 0.8


def test_the_searches_run_side_by_side() -> None:
    together = threading.Barrier(2, timeout=10)

    class Meeting(Search):
        def search(self, query: str) -> Retrieval:
            if query != WHOLE:
                together.wait()
            return super().search(query)

    found = {"mars": [at(0, "Mars.")], "venus": [at(9, "Venus.")]}
    gathering = Meeting(found, {"Mars.": sure(1.0), "Venus.": sure(1.0)}).gathering()
    assert len(steps_of(gathering)) == 2


def test_an_answer_is_as_likely_as_its_least_covered_part_or_as_the_whole() -> None:
    search = Search({"mars": [at(0, "Mars.")], "venus": [at(9, "Venus.")]}, {"Mars.": sure(0.9), "Venus.": sure(0.7)})
    gathering = search.gathering()
    steps_of(gathering)

    assert gathering.confidence(sure(0.2)).value == 0.7
    assert gathering.confidence(sure(0.8)).value == 0.8


def test_a_compared_thing_that_no_passage_names_is_not_covered_however_near_they_are() -> None:
    plan = Plan(("which planet is larger: mars", "which planet is larger: vulcan"))
    found = {part: [at(0, "Mars is a larger planet.")] for part in plan.parts}
    gathering = Search(found, {"Mars is a larger planet.": sure(0.9, "vulcan")}).gathering(plan)

    *_, covered = steps_of(gathering)

    assert [part.sufficient for part in gathering.parts] == [True, False]
    assert "Evidence for 1 of 2" in covered.text
    assert gathering.confidence(sure(0.2)).value == 0.2


def test_what_the_planner_warns_of_is_passed_on() -> None:
    for plan in (
        replace(PLAN, warnings=(AnswerWarning("planning_skipped", "no."),)),
        Plan(warnings=(AnswerWarning("planning_skipped", "no."),)),
    ):
        gathering = Search({}, {}).gathering(plan)
        steps_of(gathering)

        assert [warning.code for warning in gathering.retrieval.warnings] == ["planning_skipped", "slow"]


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([[at(0, "one two")], [at(0, "one two")]], ["one two"]),
        ([[at(0, "one two")], [at(4, "two three")]], ["one two"]),
        ([[at(0, "one")], [at(0, "one two")]], ["one two"]),
        ([[at(0, "one two")], [at(4, "two")]], ["one two"]),
        ([[at(0, "one")], [at(0, "two", "b")], [at(0, "one", "c")]], ["one", "two"]),
        ([[at(0, "one"), at(4, "two")], [at(0, "one two")]], ["one two"]),
        ([[], [at(0, "one")]], ["one"]),
        ([], []),
    ],
    ids=["same", "overlap", "larger takes the place", "smaller", "other document", "larger over two", "empty", "none"],
)
def test_no_text_is_read_twice(lists: list[list[Passage]], expected: list[str]) -> None:
    assert [passage.text for passage in merge(lists, OPTIONS)] == expected


def test_the_merged_list_keeps_to_the_budget_of_one_search() -> None:
    options = RetrievalSettings(budget_chars=500, top_k=3)
    lists = [[at(start, doc * 200, doc) for start in range(0, 2000, 200)] for doc in "abc"]

    merged = merge(lists, options)

    assert [passage.doc_id for passage in merged] == ["a", "b"]
    assert len(merge([[at(start, "y") for start in range(9)]], options)) == 3
    assert len(merge([[at(0, "z" * 900)]], options)) == 1, "a first passage longer than the budget is returned alone"
