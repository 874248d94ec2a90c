"""The gate: what is measured, how the classifier weighs it, and what raises and lowers the confidence."""

import json
import math
import re
from dataclasses import fields, replace

import pytest

from query_engine.answerability import classifier
from query_engine.answerability.classifier import SHIPPED, Classifier, Confidence, Weight, assess, read_classifier
from query_engine.answerability.features import NOTHING_READ, Features, measure
from query_engine.schema.passage import Passage
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.engines import a_passage
from tests.fakes.reading import a_leaf_reader

COMMON = {"the", "what", "is", "of", "a", "how", "does", "who", "did"}


class PlainWords:
    """Terms are lower-case words; every word but the common ones weighs the same."""

    def words_of(self, question: str) -> "PlainWords":  # noqa: ARG002
        return self

    def terms(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())

    def query_terms(self, question: str) -> list[str]:
        return [term for term in dict.fromkeys(self.terms(question)) if term not in COMMON]

    def weight(self, _term: str) -> float:
        return math.log(10)


QUESTION = "Who published the rotor limit?"
ANSWER = "Betz published the rotor limit."
OTHER = "Zebras graze upon green hills."


def found(text: str, **scores: float) -> Passage:
    return replace(a_passage(text=text), scores=scores)


def measured(*passages: Passage, question: str = QUESTION) -> Features:
    reading = a_leaf_reader().read(question, passages)
    return measure(question, passages, PlainWords(), WordHashEmbedding(), reading)


def judged(*passages: Passage, question: str = QUESTION) -> Confidence:
    return assess(question, passages, PlainWords(), WordHashEmbedding(), a_leaf_reader())


def confidence(*passages: Passage) -> float:
    return judged(*passages).value


def test_without_passages_there_is_no_confidence() -> None:
    assert confidence() == 0


@pytest.mark.promise("B19")
def test_passages_that_say_it_are_trusted_and_others_are_not() -> None:
    assert confidence(found(ANSWER, dense=0.8)) > 0.5 > confidence(found(OTHER, dense=0.1))


@pytest.mark.parametrize(
    "said", ["hi", "Hello!", "thanks", "ok", "bye", "yo", "lol", "Hallo", "merci", "?", "!!!", "👋", "asdf"]
)
def test_what_has_nothing_to_do_with_the_passages_is_declined_however_sure_the_reader_is(
    said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Classifier, "probability", lambda *_: 0.9)

    assert judged(found(OTHER, dense=0.1), question=said).value == 0


@pytest.mark.parametrize(
    ("near", "coverage", "is_declined"),
    [(0.1, 0.0, True), (0.1, 0.6, True), (0.1, 1.0, False), (0.3, 0.0, False), (0.9, 1.0, False)],
)
def test_only_what_is_far_in_meaning_and_in_words_is_unrelated(
    near: float, coverage: float, is_declined: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    features = replace(measured(found(ANSWER, dense=0.5)), near=near, coverage=coverage)
    monkeypatch.setattr(classifier, "measure", lambda *_: features)
    monkeypatch.setattr(Classifier, "probability", lambda *_: 0.9)

    assert (confidence(found(ANSWER, dense=0.5)) == 0) is is_declined


def test_words_that_no_passage_holds_are_named() -> None:
    found_little = judged(found("Betz published it.", dense=0.5))

    assert set(found_little.missing) == {"rotor", "limit"}
    assert found_little.coverage == pytest.approx(1 / 3)


def test_coverage_is_that_of_the_best_passage_not_of_all_together() -> None:
    assert measured(found("Betz published it."), found("The rotor limit.")).coverage == pytest.approx(2 / 3)


def test_the_best_sentence_counts_however_long_its_passage() -> None:
    alone, within = measured(found(ANSWER, dense=0.5)), measured(found(f"{OTHER} {ANSWER} {OTHER}", dense=0.5))

    assert within.leaf == pytest.approx(alone.leaf)
    assert alone.leaf > measured(found(OTHER)).leaf


def test_passages_without_a_sentence_are_as_good_as_unread() -> None:
    assert measured(found("# Rotor", dense=0.3)).leaf == NOTHING_READ


def test_passages_found_by_words_alone_are_compared_in_meaning_too() -> None:
    near, far = (measured(found(text, lexical=9.0)) for text in ("Who published the rotor limit?", "Zebras graze."))

    assert near.similarity > 0.8 > far.similarity


def test_a_question_without_a_word_is_measured() -> None:
    assert measured(found(ANSWER, dense=0.2), question="?!").coverage == 0


def test_the_probability_is_the_sigmoid_of_the_weighed_deviations() -> None:
    classifier = Classifier(0.5, (Weight("coverage", 0.4, 0.2, 1.0), Weight("similarity", 0.5, 0.1, -2.0)))
    features = replace(measured(found(ANSWER)), similarity=0.4, coverage=0.6)

    assert classifier.probability(features) == pytest.approx(1 / (1 + math.exp(-(0.5 + 1.0 + 2.0))))


def test_the_shipped_classifier_weighs_measures_that_exist() -> None:
    names = [weight.feature for weight in read_classifier().weights]

    assert names
    assert set(names) <= {field.name for field in fields(Features)} - {"missing"}
    assert all(weight.scale > 0 for weight in read_classifier().weights)


def test_the_shipped_classifier_names_what_it_learnt_from() -> None:
    assert not {"financebench", "crag"} & set(json.loads(SHIPPED.read_text())["trained_on"]["sets"])
