"""Which term a question asks to define, and which one a sentence defines."""

import pytest

from query_engine.text.definitions import asked_term, defined_terms


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is a heat pump?", "heat pump"),
        ("what's a ghost booking", "ghost booking"),
        ("What are comb jellies?", "comb jellies"),
        ("What is a buddy at the surveyors' firm, and who chooses them?", "buddy"),
        ("what is stare decisis and how does it make law", "stare decisis"),
        ("What does the term corkage mean?", "corkage"),
        ("define endosymbiosis", "endosymbiosis"),
        ('What does the surgery mean by a "door event"?', "door event"),
        ("what is meant by corkage", "corkage"),
        # One thing's value, facts, the purpose of something
        ("What is the rent?", ""),
        ("What is your phone number?", ""),
        ("What is known of it?", ""),
        ("What are commando carriers for?", ""),
        ("What is the purpose of a buddy?", ""),
        ("Where is a heat pump?", ""),
    ],
)
def test_the_term_that_is_asked_for(question: str, term: str) -> None:
    assert asked_term(question) == term


@pytest.mark.parametrize(
    ("sentence", "terms"),
    [
        ("A heat pump is a machine that moves heat.", ["heat pump"]),
        ("**Corkage** means the charge for your own wine.", ["Corkage"]),
        ("Comb jellies are marine animals.", ["Comb jellies"]),
        ("This is known as the Lombard effect.", ["Lombard effect"]),
        ('It is written on the sheet as a "door event" and needs no call.', ["door event"]),
        ("The heat pump is out of order.", []),
        ("It runs as a service all day.", []),
    ],
)
def test_the_terms_that_a_sentence_defines(sentence: str, terms: list[str]) -> None:
    assert defined_terms(sentence) == terms
