"""Contradictions between documents, by rule."""

import pytest

from research.contradictions import find_contradictions
from tests.fakes.llm import passage
from tests.fakes.words import FakeWords

QUESTION = "Is the rotor limit of wind turbines safe and how high?"


def found(one: str, other: str, *, same: bool = False) -> list[str]:
    passages = [passage(one, "a.md", title="A"), passage(other, "a.md" if same else "b.md", start=900, title="B")]
    return [each.about for each in find_contradictions(QUESTION, passages, FakeWords())]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wind turbines are safe for birds at night.", "Wind turbines are dangerous for birds at night."),
        ("Wind turbines harm birds at night.", "Wind turbines never harm birds at night."),
        ("The rotor limit of wind turbines is 59 per cent.", "The rotor limit of wind turbines is 62 per cent."),
    ],
)
def test_opposites_negations_and_figures_contradict(one: str, other: str) -> None:
    assert len(found(one, other)) == 1
    assert found(one, one) == []
    assert found(one, other, same=True) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Wind turbines are safe for birds at night.", "Old wind farms are dangerous in storms."),
        ("The rotor limit is 59 per cent.", "The rotor of 1919 turned at 20 turns."),
        ("Wind turbines harm birds at night.", "Wind is never still."),
        ("The rotor limit is 59 per cent or 16 of 27.", "The rotor limit is 62 per cent or 3 of 5."),
        ("Prices rise and fall with the wind turbines.", "Prices rise and fall with the wind turbines."),
    ],
)
def test_other_sentences_do_not(one: str, other: str) -> None:
    assert found(one, other) == []


def test_both_sentences_are_quoted_at_their_places() -> None:
    text = "A title.\n\nThe rotor limit of wind turbines is 59 per cent."
    other = "The rotor limit of wind turbines is 62 per cent."
    passages = [passage(text, "a.md", start=5), passage(other, "b.md")]

    (one,) = find_contradictions(QUESTION, passages, FakeWords())

    assert one.first.quote == "The rotor limit of wind turbines is 59 per cent."
    assert text[one.first.start - 5 : one.first.end - 5] == one.first.quote
    assert (one.second.doc_id, one.second.quote) == ("b.md", other)
    assert "rotor, limit" in one.about
