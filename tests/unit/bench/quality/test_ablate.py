"""Every part can be switched off, and what was there comes back; answers are compared question by question."""

import pytest

from bench.quality.ablate import NOTHING_OFF, RememberingReader, compared, table
from bench.quality.ablate_parts import Part, all_parts, chosen_parts
from bench.quality.helpful.asking import Answered
from eval.cases import Case
from query_engine.answerability import classifier
from query_engine.answerability.classifier import Classifier, Weight, read_classifier
from query_engine.reader import window
from query_engine.reader.model import PassageText
from query_engine.retrieval import fusion
from settings import Settings
from tests.failing import failing
from tests.fakes.reading import WordReader
from tests.fakes.rows import answered
from tests.fakes.tables import plain_rows


@pytest.mark.parametrize("part", all_parts(), ids=lambda part: part.name)
def test_a_part_is_off_in_its_block_and_on_again_behind_it(part: Part) -> None:
    settings = Settings()
    before = [getattr(owner, name) for owner, name, _ in part.changes]

    with part.off(settings) as other:
        during = [getattr(owner, name) for owner, name, _ in part.changes]
        assert all(getattr(getattr(other, group), name) == value for group, name, value in part.settings)
        assert part.changes or other != settings
    after = [getattr(owner, name) for owner, name, _ in part.changes]

    assert all(old is not new for old, new in zip(before, during, strict=True))
    assert all(old is new for old, new in zip(before, after, strict=True))
    assert settings == Settings()


def test_a_part_is_on_again_where_asking_without_it_failed() -> None:
    (part,) = chosen_parts(["windows: several lengths"])
    lengths = window.LENGTHS

    with pytest.raises(KeyError), part.off(Settings()):
        raise KeyError

    assert lengths == window.LENGTHS


@pytest.mark.parametrize(
    "part",
    [
        Part("gone: name", ((window, "GONE", lambda _: 0),)),
        Part("gone: setting", settings=(("answer", "gone", 0),)),
        Part("gone: group", settings=(("gone", "name", False),)),
    ],
)
def test_a_part_whose_name_is_gone_fails(part: Part) -> None:
    with pytest.raises(AttributeError), part.off(Settings()):
        pass


def test_no_part_has_the_name_of_another_and_a_group_follows_its_parts() -> None:
    names = [part.name for part in all_parts()]

    assert len(set(names)) == len(names)
    assert names.index("units: all") == max(at for at, name in enumerate(names) if name.startswith("units: "))
    assert {part.name for part in chosen_parts(["units", "search: lex"])} > {"units: all", "search: lexical"}
    with failing("no_data_set", match="search: lexical"):
        chosen_parts(["nothing"])


def test_all_weights_of_a_group_are_off_together(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Classifier(0.5, (Weight("far", 1, 1, 2), Weight("near", 1, 1, 2)))
    monkeypatch.setattr(classifier, "read_classifier", lambda: gate)
    search, features = chosen_parts(["search: all", "gate features: all"])
    (far,) = chosen_parts(["gate features: far"])

    with search.off(Settings()):
        assert dict.fromkeys(fusion.SCORERS, 0.0) == fusion.WEIGHTS
    with features.off(Settings()):
        assert classifier.read_classifier().weights == ()
    with far.off(Settings()):
        assert classifier.read_classifier() == Classifier(0.5, gate.weights[1:])


def test_each_passage_is_read_once_for_a_question() -> None:
    reader = WordReader()
    remembering = RememberingReader(reader)
    wind, sea = (PassageText("", text, ((0, len(text)),)) for text in ("Wind turns.", "The sea is salt."))

    first = remembering.read("What turns?", [wind, wind])
    second = remembering.read("What turns?", [sea, wind])

    assert first == [second[1]] * 2 == WordReader().read("What turns?", [wind, wind])
    assert second == WordReader().read("What turns?", [sea, wind])
    assert reader.read_texts == 2
    remembering.read("What is salt?", [wind])
    assert reader.read_texts == 3


def row(case_id: str, text: str | None, **scores: float) -> Answered:
    named = {name.replace("_", " "): value for name, value in scores.items()}
    return Answered(Case(id=case_id, question="Q?"), 0, answered(text), 0, 1.0, named)


def test_answers_are_compared_question_by_question_and_near_misses_by_being_declined() -> None:
    whole = [row("a", "x", helpful=1.0), row("b", "y", helpful=0.0), row("c", None, declined_near_misses=1.0)]
    without = [row("a", "z", helpful=0.0), row("b", "y", helpful=0.0), row("c", "w", declined_near_misses=0.0)]
    better = [row("a", "x", helpful=1.0), row("b", "z", helpful=1.0), row("c", None, declined_near_misses=1.0)]
    name = NOTHING_OFF.name

    figures = compared({"office": {name: whole, "p": without, "q": better}, "clapnq": {name: [], "p": [], "q": []}})

    assert figures["office"]["p"] == {
        "changed": 2,
        "better": [],
        "worse": ["a", "c"],
        "score": 0.0,
        "near_misses_declined": 0.0,
    }
    assert figures["office"]["q"]["better"] == ["b"]
    shown = plain_rows(table(figures))
    assert shown[1:] == [
        f"| {name} | 0 | 0 | 0 | 0.500 | 1.000 | 0 | 0 | 0 | – | – |",
        "| p | 2 | 0 | 2 | 0.000 | 0.000 | 0 | 0 | 0 | – | – |",
        "| q | 1 | 1 | 0 | 1.000 | 1.000 | 0 | 0 | 0 | – | – |",
    ]


def test_the_gate_s_features_are_those_that_it_weighs() -> None:
    names = {part.name for part in all_parts()}

    assert {f"gate features: {one.feature}" for one in read_classifier().weights} <= names
