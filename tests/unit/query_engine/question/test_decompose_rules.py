"""Questions are taken apart by their form, and stay whole where their form leaves a doubt."""

import pytest

from query_engine.question.decompose_rules import MAX_CHARS, MAX_PARTS, compared_things, split_question


def texts(question: str) -> list[str]:
    return [part.text for part in split_question(question)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who founded Tesla, and where is Rivian made?", ["Who founded Tesla", "where is Rivian made"]),
        ("what is a fjord and how do glaciers move", ["what is a fjord", "how do glaciers move"]),
        ("What is the capital of Peru? And who rules Chile?", ["What is the capital of Peru", "who rules Chile"]),
        ("In which year did Rome fall, and at what age did Nero die?", None),
        ("Which is larger, Mars or Venus?", ["Which is larger: Mars", "Which is larger: Venus"]),
        ("which firm is older, acme or initech?", ["which firm is older: acme", "which firm is older: initech"]),
        ("Which dam is higher, Hoover or Oroville, and by how much?", None),
        ("Which of Paris and London hosted the games first?", None),
        ("which of paris and london is older?", ["paris is older", "london is older"]),
        ("Is the studio owned by time warner or universal pictures?", None),
        ("Is the Eiffel Tower taller than the Chrysler Building?", None),
        ("Is cork lighter than balsa wood?", ["Is cork lighter", "balsa wood: lighter"]),
        ("What is the difference between epistemology and ontology?", ["epistemology", "ontology"]),
        ("Compare solar power with wind power.", ["solar power", "wind power"]),
        ("How does TCP differ from UDP?", ["TCP", "UDP"]),
        ("How do frogs and toads differ?", ["frogs", "toads"]),
        ("What do Japan and Iceland have in common?", ["Japan", "Iceland"]),
        ("Python vs Ruby", ["Python", "Ruby"]),
        ("Did both Einstein and Bohr win it?", ["Did Einstein win it", "Did Bohr win it"]),
        ("Is coal mined both in Poland and in Spain?", ["Is coal mined in Poland", "Is coal mined in Spain"]),
        ("What are the capitals of France, Spain and Italy?", None),
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
        "What is the capital of France? Answer in one word.",
        "You are a teacher and my friend. What is photosynthesis?",
        "What is the difference between A and B and C and D?",
        "hydrogen",
        "?!?",
        "",
    ],
)
def test_a_question_for_one_thing_stays_whole(question: str) -> None:
    assert split_question(question) == ()


def test_a_clause_that_refers_back_is_searched_for_with_what_it_refers_to() -> None:
    first, second = split_question("Where was Marie Curie born and what did she discover?")

    assert (first.query, first.alone) == ("Where was Marie Curie born", True)
    assert (second.text, second.alone) == ("what did she discover", False)
    assert "Marie Curie" in second.query


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("What is a heat pump and how efficient is it?", "how efficient is a heat pump"),
        ("What is pumped storage and what does it cost?", "what does pumped storage cost"),
        ("Who was Ada Lovelace and what are her works?", "what are Ada Lovelace's works"),
        ("What are tides, and what causes them?", "what causes tides"),
    ],
)
def test_a_clause_that_refers_to_what_is_asked_about_can_be_answered_by_itself(question: str, query: str) -> None:
    part = split_question(question)[1]

    assert (part.query, part.alone) == (query, True)


def test_what_a_question_is_about_is_said_again_for_each_clause() -> None:
    assert texts("In Rome, who built the baths and which emperor closed the theatres?") == [
        "In Rome, who built the baths",
        "In Rome, which emperor closed the theatres",
    ]


def test_a_statement_before_a_question_is_searched_for_but_not_answered() -> None:
    statement, asked = split_question("A dam broke in Italy in October 1963. How many villages did it destroy?")

    assert (statement.text, statement.alone) == ("A dam broke in Italy in October 1963", False)
    assert "dam broke" in asked.query


def test_things_named_without_the_question_cannot_be_answered_alone() -> None:
    assert {part.alone for part in split_question("How does TCP differ from UDP?")} == {False}
    assert {part.alone for part in split_question("Which is larger, Mars or Venus?")} == {True}


def test_there_are_never_more_parts_than_the_limit() -> None:
    names = ", ".join(f"Town{letter}" for letter in "ABCDEFGH")

    assert len(split_question(f"What are the mayors of {names} and TownI?")) == MAX_PARTS


def test_a_text_is_no_question_to_take_apart() -> None:
    assert split_question("Who built it and who paid for it? " * (MAX_CHARS // 30)) == ()
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


@pytest.mark.parametrize("asked", ["included in the price", "included", "needed urgently", "being built"])
def test_what_is_done_to_something_is_not_its_name(asked: str) -> None:
    assert not split_question(f"What is {asked} and what does it cost?")[1].alone


@pytest.mark.parametrize(
    ("question", "things"),
    [
        ("What's the difference between the flex tier and the priority tier?", ("the flex tier", "the priority tier")),
        ("What is the difference between the small and the large tent?", ("the small tent", "the large tent")),
        ("How is PAL different from chain-of-thought prompting?", ("PAL", "chain-of-thought prompting")),
        ("pursuit predators vs ambush predators", ("pursuit predators", "ambush predators")),
        ("Alkaline or PEM electrolyser: what speaks for each?", ("Alkaline", "PEM electrolyser")),
        ("Can I come by car or bike, how far is it?", ()),
        ("Is it colder than last year?", ()),
        ("Who built the tower?", ()),
    ],
)
def test_the_things_that_are_compared(question: str, things: tuple[str, ...]) -> None:
    assert compared_things(question) == things
