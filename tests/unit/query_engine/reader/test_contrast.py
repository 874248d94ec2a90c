"""What a text says instead of what is asked."""

import pytest

from query_engine.reader.contrast import asked, says


def contradicted(question: str, text: str, document: str = "") -> tuple[str, ...]:
    return asked(question).contradicted(text, text, text, document or text)


@pytest.mark.parametrize(
    ("question", "text", "words"),
    [
        ("Which pump is harder to service?", "The new pump is easier to service.", ("harder",)),
        ("What do the tariffs increase?", "The tariffs decreased the price of power.", ("increase",)),
        ("What is the least used reduction?", "The most used reduction is in polynomial time.", ("least",)),
        ("What is an informal proof?", "A formal proof is a list of steps.", ("informal",)),
        ("What may unregistered guests use?", "Registered guests may use the pool.", ("unregistered",)),
        ("Who chaired the board in 2019?", "In 2018 Ms Doe chaired the board.", ("2019",)),
        ("Who attacked in the 14th century?", "They attacked in the 12th century.", ("14th",)),
        ("What is WX-0188 worth?", "Code: WX-0008, worth: 18 euros", ("WX-0188",)),
        ("What was built in the 1950s?", "The mill was built in 1963.", ("1950s",)),
        ("What is in room 12?", "Room 11 holds the pumps.", ("room 12",)),
        ("Who wrote to Acme in spring?", "Ms Doe wrote to Bolt in spring.", ("Acme",)),
        ("What is not covered by the policy?", "The policy covers fire and theft.", ("not",)),
        ("Which rooms aren't heated?", "All rooms are heated.", ("not",)),
        # What else is denied says nothing of the word that the question denies.
        ("Which guests are not allowed to swim?", "Guests of the non-smoking wing are allowed to swim.", ("not",)),
        ("What is usually not covered?", "Fire is covered, which nobody doubts.", ("not",)),
        # "interested" has no prefix that denies.
        ("What do they want to decrease?", "They are interested in an increase to 5.", ("decrease",)),
    ],
)
def test_says_something_else(question: str, text: str, words: tuple[str, ...]) -> None:
    assert contradicted(question, text) == words


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which pump is harder to service?", "The old pump is harder to service than the new, easier one."),
        # Both are asked for, or the words only look like a comparison.
        ("Where does the river start and end?", "The river begins in the hills."),
        ("I'd like to know more about heating.", "Networks lose less heat on the way."),
        ("Which is the most used tool?", "The tool is used by at least forty people."),
        # The other thing is the answer.
        ("Is the pump hard to service?", "The pump is easy to service."),
        ("The pump is hard to service?", "The pump is easy to service."),
        ("Which exits are safe?", "Two exits are out of order."),
        ("Was the bridge opened in 1932?", "The bridge was opened in 1933."),
        ("Where may I walk with my Labrador?", "Dogs may walk on the beach."),
        ("Which room is 2hot?", "The room is cold."),
        # It is said of something else.
        ("Why do small birds fly at night?", "Many birds migrate large distances at night."),
        ("Why do small birds fly at night?", "The smaller birds go far, as do large birds."),
        # It says something of one of two.
        ("Which rock is there both at Decatur and at Hellisheidi?", "Hellisheidi stands on basalt."),
        ("What changed between 2018 and 2019?", "In 2019 the rent rose."),
        # What denies the opposite says the same.
        ("Which algorithm is unknown?", "No algorithm is known."),
        ("Who is Emma's brother?", "Emma is the sister of Duke Richard."),
        ("Will form E7 do for a purchase of 95 euros?", "Form E7 will do up to 100 euros."),
        ("May I bring 5 guests?", "You may bring 4 guests."),
        ("What is paid for 2,019 hours?", "The hour is paid with 20 euros."),
        ("When did we write to Hartmanis?", "We wrote to Hartmannis in May."),
        ("What is not covered by the policy?", "The policy excludes floods."),
        ("On which day is it not open?", "It is closed on Mondays."),
        ("Who could not come to the meeting?", "Apologies: Ms Doe"),
        ("Which rooms are not heated?", "The hall is heated; the loft stays unheated."),
        ("Which fees aren't refunded?", "Fees are refunded except for the deposit."),
        ("What should I do so that the pipes do not freeze?", "Leave the heating on, or the pipes freeze."),
        ("Which of them worked and which did not, pumps or fans?", "The pumps worked."),
        ("Who did Emma Marry?", "The marriage of Emma and the king was held in May."),
        ("What happens if the pump does not start?", "Press the red button and call the operator."),
        ("What not only heats but cools?", "A heat pump heats and cools."),
        ("Why does the pump not start?", "The filter is full."),
        ("What time does the shop close?", "Opening hours: open from 9 to 5"),
        ("What was built in the 1950s?", "The mill was built in 1953."),
        ("What was built in the 1900s?", "The mill was built in 1963."),
    ],
)
def test_says_the_same(question: str, text: str) -> None:
    assert contradicted(question, text) == ()


def test_a_name_may_stand_anywhere_in_the_document() -> None:
    question, text = "What rent does Mrs Hill ask for?", "The rent is 800 euros."
    assert contradicted(question, text) == ("Hill",)
    assert contradicted(question, text, f"Landlady: Anna Hill\n\n{text}") == ()


def test_the_first_word_is_no_name() -> None:
    assert contradicted("Blades turn how fast? What stops them?", "They turn slowly and brakes stop them.") == ()


def test_holds_the_word_or_denies() -> None:
    assert says("2019", "In 2019 it rained.")
    assert not says("2019", "In 2018 it rained.")
    assert says("increase", "Prices increased.")
    assert says("not", "It never rained.")
    assert not says("not", "It rained.")
