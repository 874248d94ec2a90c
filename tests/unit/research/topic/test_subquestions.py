import pytest

from research.topic.subject import read_topic
from research.topic.subquestions import make_subquestions, reworded

TOPICS = [
    "bioenergy",
    "heat pumps",
    "recycling blades",
    "how to store heat",
    "wind vs solar",
    "Albert Betz",
    "Why did it break?",
]


def asked(topic: str, count: int = 5, *texts: str) -> list[str]:
    return [one.text for one in make_subquestions(read_topic(topic, texts), count, texts)]


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("count", [3, 5, 8])
def test_there_are_so_many_different_ones(topic: str, count: int) -> None:
    found = asked(topic, count)

    assert len(set(found)) == len(found) <= count
    assert len(found) >= 3
    assert all(one.endswith("?") for one in found)


def test_verbs_agree_with_the_thing() -> None:
    assert asked("bioenergy", 2) == ["What is bioenergy?", "How does bioenergy work?"]
    assert asked("heat pumps", 2) == ["What are heat pumps?", "How do heat pumps work?"]


def test_a_question_is_asked_first_and_what_it_compares_by_comes_next() -> None:
    assert asked("Is nuclear cheaper than wind?", 3) == [
        "Is nuclear cheaper than wind?",
        "What does nuclear cost?",
        "What does wind cost?",
    ]
    assert asked("wind vs solar", 2) == ["How do wind and solar differ?", "What are the main advantages of wind?"]


def test_what_no_document_speaks_of_is_asked_last() -> None:
    text = "A dam is a wall. Its price is high: a dam costs millions of dollars."

    found = asked("dam", 8, text)

    assert found[:2] == ["What is a dam?", "What does a dam cost?"]


def test_nobody_asks_what_a_cost_costs() -> None:
    text = "The cost of hydrogen is high. Its price falls."

    assert "What does the cost of hydrogen cost?" not in asked("the cost of hydrogen", 8, text)


def test_a_name_is_asked_for_as_one() -> None:
    assert asked("Albert Betz", 2) == ["Who or what is Albert Betz?", "What is Albert Betz known for?"]


def test_a_template_knows_what_it_asks_about() -> None:
    subject = read_topic("the Betz limit")

    assert {one.about for one in make_subquestions(subject, 8)} == {"Betz limit"}
    assert make_subquestions(read_topic("Why did it break?"), 1)[0].about == ""


def test_a_question_of_two_is_taken_apart() -> None:
    found = asked("Who published the Betz limit and why do gearboxes wear out?", 3)

    assert found[1:] == ["Who published the Betz limit?", "Why do gearboxes wear out?"]


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("What is bioenergy?", "About bioenergy"),
        ("What are the main advantages of bioenergy?", "Describe the benefits of bioenergy."),
        ("How do heat pumps work?", "Explain the working of heat pumps."),
        ("What does nuclear cost?", "State the cost of nuclear."),
        ("What is the history of the Betz limit?", "Describe the history of the Betz limit."),
        ("Who or what is Albert Betz?", "About Albert Betz"),
        ("What is Albert Betz known for?", "Describe what Albert Betz is known for."),
        ("How can you store heat?", "Explain how to store heat."),
        ("Is nuclear cheaper than wind?", "Compare nuclear with wind: cheaper."),
        ("Why did the blades break?", "Explain: the blades break."),
        ("Does it pay?", "State whether: it pay."),
        ("wind", "Describe: wind."),
    ],
)
def test_another_wording_loses_the_interrogative_behind_a_directive(question: str, other: str) -> None:
    assert reworded(question) == other
    assert reworded(question) != question
