"""Things that a question names side by side, and the question about each of them."""

import pytest

from query_engine.question.sides import sides


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("Compare the fee in 2017 and 2019", "Compare the fee in 2017", "Compare the fee in 2019"),
        ("What do the QR-7, the QR-70 and the QR-71 weigh?", "What do the QR-7 weigh?", "What do the QR-71 weigh?"),
        ("How much does the QR-70 lift, and the QR-71?", "How much does the QR-70 lift, and the ?", None),
        ("Is the Ash plan or the Elm plan cheaper?", "Is the Ash plan cheaper?", "Is the Elm plan cheaper?"),
        ("Which of North Pier and South Pier is longer?", "Which of North Pier is longer?", None),
        ("Which is older, the Tern 2 or the Gull 40?", "Which is older, the Tern 2?", "Which is older, the Gull 40?"),
        ("Who came on March 5th, 2019 and 6th of March 2019?", "Who came on March 5th, 2019?", None),
        ("basic plan vs pro plan", "basic plan", "pro plan"),
        ("Is the ferry or the bus cheaper?", "Is the ferry cheaper?", "Is the bus cheaper?"),
        ("Ist der Tarif Eiche oder der Tarif Esche billiger?", "Ist der Tarif Eiche billiger?", None),
        ("Le vélo pliant ou le vélo cargo est-il plus lourd ?", "Le vélo pliant est-il plus lourd ?", None),
        ("¿Es más caro el plan Roble o el plan Haya?", "¿Es más caro el plan Roble?", "¿Es más caro el plan Haya?"),
    ],
)  # fmt: skip
def test_each_thing_is_asked_about_by_itself(question: str, first: str, last: str | None) -> None:
    asked = [one.question for one in sides(question)]

    assert asked[0] == first
    assert last is None or asked[-1] == last
    assert len(asked) > 1


@pytest.mark.parametrize(
    "question",
    [
        "What does the ferry cost?",
        "What is the rent and when is it due?",
        "Who founded Tesla, and where is Rivian made?",
        "And what about the QR-70?",
        "How do I open and close a valve?",
        "What did the repair cost in the end, and who agreed to it?",
        "Welche Fristen und Kosten gelten?",
        "Was the fee of the QR-70 raised in 2019?",
        "Is it the QR-70 or the QR-70?",
        "and",
        "",
    ],
)
def test_other_questions_have_no_sides(question: str) -> None:
    assert sides(question) == ()
