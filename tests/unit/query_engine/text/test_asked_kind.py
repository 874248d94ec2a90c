"""What kind of thing a question asks for, and which texts hold one."""

import pytest

from query_engine.text.asked_kind import (
    AskedKind,
    asked_kind,
    asks_for_much,
    asks_how_to,
    holds_kind,
    missing_kind_penalty,
    points_back,
)


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many seats are there?", AskedKind.AMOUNT),
        ("What does a child seat cost per day?", AskedKind.AMOUNT),
        ("What is the monthly rent?", AskedKind.AMOUNT),
        ("Was kostete die Pumpe?", AskedKind.MONEY),
        ("Wie schwer muss ein Igel sein?", AskedKind.AMOUNT),
        ("When does it end?", AskedKind.TIME),
        ("Until when can I come?", AskedKind.TIME),
        ("Wann beginnt es?", AskedKind.TIME),
        ("Why is it closed?", AskedKind.REASON),
        ("Warum ist es zu?", AskedKind.REASON),
        ("Combien coûte le billet ?", AskedKind.MONEY),
        ("How much paid leave is there?", AskedKind.AMOUNT),
        ("押金要付多少？", AskedKind.MONEY),
        ("一年有几天假期？", AskedKind.AMOUNT),
        ("夏祭りはいつですか？", AskedKind.TIME),
        ("为什么关门？", AskedKind.REASON),
        ("Que faire quand le filtre est plein ?", None),
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
        (AskedKind.AMOUNT, "The rent is 1800 euros a month.", True),
        (AskedKind.AMOUNT, "The hall seats 2000 people.", True),
        (AskedKind.TIME, "It is open until Friday.", True),
        (AskedKind.TIME, "It is made of steel.", False),
        (AskedKind.AMOUNT, "员工享有十二天年假。", True),
        (AskedKind.MONEY, "管理費は一万二千円である。", True),
        (AskedKind.MONEY, "Rent: 845.00", True),
        (AskedKind.MONEY, "It takes 45 days.", False),
        (AskedKind.REASON, "It was never rebuilt, since the railway had come.", True),
        (AskedKind.REASON, "It has stood here since 1904.", False),
        (AskedKind.REASON, "It has been closed since Monday.", False),
        (AskedKind.REASON, "Since then it is closed.", False),
        (AskedKind.REASON, "It is closed since the roof leaks.", True),
        (AskedKind.REASON, "Die Fenster blieben, weil sie neu waren.", True),
    ],
)
def test_a_text_holds_a_kind_of_thing(kind: AskedKind, text: str, holds: bool) -> None:
    assert holds_kind(kind, text) is holds


def test_some_reasons_point_to_the_sentence_before() -> None:
    assert points_back("Therefore the edge overhangs.")
    assert points_back("The reason is its bran.")
    assert not points_back("It is closed because of ice.")


def test_a_number_may_be_a_sum_of_money_and_a_sentence_without_one_is_none() -> None:
    signed, bare, none = (
        missing_kind_penalty(AskedKind.MONEY, text) for text in ("It is 40 euros.", "It is 40.", "It is dear.")
    )

    assert signed == 0 < bare < none


def test_several_things_are_asked_for() -> None:
    assert asks_for_much("Which stalls will there be at the fair?")
    assert not asks_for_much("Which stall is the largest?")
    assert not asks_for_much("Which class will start first?")
    assert not asks_for_much("How long is the waiting list?")


def test_asks_how_to_do_something() -> None:
    assert all(map(asks_how_to, ("How do I book a camera?", "how to book", "What do I have to do to book a camera?")))
    assert not any(map(asks_how_to, ("How does a camera work?", "How much do I pay?", "What do I pay?")))
