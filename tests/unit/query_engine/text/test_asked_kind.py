"""What kind of thing a question asks for, and which texts hold one."""

import pytest

from query_engine.text.asked_kind import AskedKind, asked_kind, holds_kind, points_back


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many seats are there?", AskedKind.AMOUNT),
        ("What does a child seat cost per day?", AskedKind.AMOUNT),
        ("What is the monthly rent?", AskedKind.AMOUNT),
        ("Was kostete die Pumpe?", AskedKind.AMOUNT),
        ("Wie schwer muss ein Igel sein?", AskedKind.AMOUNT),
        ("When does it end?", AskedKind.TIME),
        ("Until when can I come?", AskedKind.TIME),
        ("Wann beginnt es?", AskedKind.TIME),
        ("Why is it closed?", AskedKind.REASON),
        ("Warum ist es zu?", AskedKind.REASON),
        ("What does it mean when a wind farm is curtailed?", None),
        ("Who is the fire warden?", None),
    ],
)
def test_a_question_asks_for_a_kind_of_thing(question: str, kind: AskedKind | None) -> None:
    assert asked_kind(question) is kind


@pytest.mark.parametrize(
    ("kind", "text", "holds"),
    [
        (AskedKind.AMOUNT, "The edge is catorce años.", True),
        (AskedKind.AMOUNT, "It cost 31.500 Euro.", True),
        (AskedKind.AMOUNT, "The house of 1936 was rebuilt in 2023.", False),
        (AskedKind.TIME, "It is open until Friday.", True),
        (AskedKind.TIME, "It is made of steel.", False),
        (AskedKind.REASON, "It was never rebuilt, since the railway had come.", True),
        (AskedKind.REASON, "It has stood here since 1904.", False),
        (AskedKind.REASON, "Die Fenster blieben, weil sie neu waren.", True),
    ],
)
def test_a_text_holds_a_kind_of_thing(kind: AskedKind, text: str, holds: bool) -> None:
    assert holds_kind(kind, text) is holds


def test_some_reasons_point_to_the_sentence_before() -> None:
    assert points_back("Therefore the edge overhangs.")
    assert points_back("The reason is its bran.")
    assert not points_back("It is closed because of ice.")
