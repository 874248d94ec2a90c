"""Questions are taken apart by their form, and stay whole where their form leaves a doubt."""

import pytest

from query_engine.question.decompose_rules import MAX_PARTS, split_question
from query_engine.question.validation import MAX_WORDED_CHARS


def texts(question: str) -> list[str]:
    return [part.text for part in split_question(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who founded Tesla, and where is Rivian made?", ["Who founded Tesla", "where is Rivian made"]),
        ("what is a fjord and how do glaciers move", ["what is a fjord", "how do glaciers move"]),
        ("What is the capital of Peru? And who rules Chile?", ["What is the capital of Peru", "who rules Chile"]),
        ("In which year did Rome fall, and at what age did Nero die?", None),
        ("What is the difference between epistemology and ontology?", ["epistemology", "ontology"]),
        ("Compare solar power with wind power.", ["solar power", "wind power"]),
        ("How does TCP differ from UDP?", ["TCP", "UDP"]),
        ("How do frogs and toads differ?", ["frogs", "toads"]),
        ("What do Japan and Iceland have in common?", ["Japan", "Iceland"]),
        ("Python vs Ruby", ["Python", "Ruby"]),
    ],
)
def test_a_question_that_asks_for_several_things_is_taken_apart(question: str, expected: list[str] | None) -> None:
    parts = texts(question)

    assert len(parts) > 1
    assert expected is None or parts == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who directed the black and white film Casablanca?",
        "What is research and development?",
        "How much does Intel spend on research and development?",
        "Who wrote Romeo and Juliet?",
        "Where is Trinidad and Tobago?",
        "When did Procter and Gamble buy Gillette?",
        "What are the products of Johnson and Johnson?",
        "Who won the Battle of Lexington and Concord?",
        "How and why did the Roman Empire fall?",
        "When and where was Napoleon born?",
        "Who was it, and why?",
        "How tall is it, and by how much?",
        "How to make mac and cheese?",
        "What is the law of supply and demand?",
        "What is the relationship between supply and demand?",
        "How long should you wait between eating a meal and going swimming?",
        "What are the pros and cons of nuclear power?",
        "Which rock and roll band had the most hits?",
        "What is the R&D budget of AT&T?",
        "Can I return it or not?",
        "Are there more or less than five?",
        "Is it older than 100 years?",
        "Is it warmer than usual?",
        "Is it better than ever?",
        "What other reason than cost was given?",
        "Who is the man who sold the world?",
        "What do both countries export and import?",
        "Which of the plants in Spain were built first?",
        "What is the difference between A and B and C and D?",
        "hydrogen",
        "?!?",
        "",
    ],
)
def test_a_question_for_one_thing_stays_whole(question: str) -> None:
    assert split_question(question) == ()


@pytest.mark.parametrize(
    ("question", "query"),
    [
        (
            "Where was Marie Curie born and what did she discover?",
            "Where was Marie Curie born what did she discover",
        ),
        ("Who built the dam and who owns the mill?", "who owns the mill"),
        ("My pump leaks at the valve. How do I stop it?", "My pump leaks at the valve How do I stop it"),
        ("Who built the dam? Who owns the mill?", "Who owns the mill"),
        ("Who built the dam? When was it opened?", "Who built the dam When was it opened"),
    ],
)
def test_a_clause_is_searched_for_with_the_one_before_that_says_what_it_is_about(question: str, query: str) -> None:
    part = split_question(question)[1]

    assert (part.query, part.alone) == (query, True)
    assert part.text in query


def test_a_statement_before_a_question_is_searched_for_but_not_answered() -> None:
    statement, asked = split_question("A dam broke in Italy in October 1963. How many villages did it destroy?")

    assert (statement.text, statement.alone) == ("A dam broke in Italy in October 1963", False)
    assert "dam broke" in asked.query


def test_things_named_without_the_question_cannot_be_answered_alone() -> None:
    assert {part.alone for part in split_question("How does TCP differ from UDP?")} == {False}


def test_there_are_never_more_parts_than_the_limit() -> None:
    asked = " ".join(f"Who is the mayor of Town{letter}?" for letter in "ABCDEFGH")

    assert len(split_question(asked)) == MAX_PARTS


def test_a_text_is_no_question_to_take_apart() -> None:
    assert split_question("Who built it and who paid for it? " * (MAX_WORDED_CHARS // 30)) == ()
    assert split_question("for a in b:\n    what is a and who is b?") == ()


def test_hostile_forms_cost_no_time() -> None:
    for form in (
        "a and " * 80,
        "which of " * 50,
        "A, " * 150 + "and B",
        "both in " * 60,
        "more than " * 45,
        "? " * 240,
    ):
        assert len(split_question(form)) <= MAX_PARTS
