"""What is asked about a topic: the headings under which documents speak of it."""

import pytest

from query_engine.inquiry import Inquiry
from research.topic.outline import outline
from settings import RetrievalSettings
from tests.fakes.answers import KnowingEngine
from tests.fakes.corpora import stored

TEXT = """# Heat pumps and stores

A heat pump moves heat.

## How a heat pump works

It pumps.

## [`COSTS`](#costs)

A heat pump costs money.

## Heat pumps and stores

Again.

## History of stores

The sea is deep.
"""


async def asked(topic: str, text: str = TEXT, title: str = "Heat pumps and stores", count: int = 8) -> list[str]:
    engine = KnowingEngine({}, stored("guide.md", text, title=title))
    return [one.text for one in await outline(engine, Inquiry(topic), RetrievalSettings(), count)]


@pytest.mark.parametrize("topic", ["heat pumps", "What do we know about heat pumps?"])
async def test_headings_that_speak_of_the_topic_are_asked_after_it(topic: str) -> None:
    assert await asked(topic) == [
        topic,
        "Heat pumps and stores",
        "How a heat pump works",
        "Heat pumps and stores: COSTS",
        "History of stores",
    ]
    assert await asked(topic, count=3) == [topic, "Heat pumps and stores", "How a heat pump works"]


async def test_sections_that_do_not_name_it_are_left_out() -> None:
    assert (await asked("deep sea mining"))[:2] == ["deep sea mining", "History of stores"]
    assert not set(await asked("nuclear fusion")) & {"History of stores", "Heat pumps and stores"}


@pytest.mark.promise("E31")
@pytest.mark.parametrize("topic", ["nuclear fusion", "salt", "deep sea mining", "heat pumps"])
async def test_a_topic_has_three_sub_questions_or_more_each_with_another_wording(topic: str) -> None:
    engine = KnowingEngine({}, stored("guide.md", TEXT, title="Heat pumps and stores"))
    found = await outline(engine, Inquiry(topic), RetrievalSettings(), 5)

    assert 3 <= len({one.text for one in found}) <= 5
    assert all(one.again and one.again != one.text for one in found)


async def test_both_halves_of_a_topic_are_asked() -> None:
    assert (await asked("heat pumps and wind turbines"))[:3] == [
        "heat pumps and wind turbines",
        "heat pumps",
        "wind turbines",
    ]
    assert "Advantages" not in await asked("Advantages and costs of heat pumps")


async def test_a_heading_that_names_nothing_is_asked_with_its_title_and_again_without() -> None:
    engine = KnowingEngine({})

    found = {one.text: one for one in await outline(engine, Inquiry("wind"), RetrievalSettings(), 8)}

    assert (found["Wind: Part 0"].again, found["How wind works"].again) == ("Part 0", "Wind: How wind works")
    assert {one.about for one in found.values()} == {"Wind"}


@pytest.mark.parametrize(
    ("topic", "about"),
    [
        ("Tell me everything about wind", "Wind"),  # a title
        ("free air", "free air"),  # a name by which documents call something
        ("PV", ""),  # one that they do not know
        ("Is the sun free and is it air?", ""),
    ],
)
async def test_answers_must_name_what_the_topic_is_about(topic: str, about: str) -> None:
    first, *_ = await outline(KnowingEngine({}), Inquiry(topic), RetrievalSettings(), 8)

    assert (first.text, first.about) == (topic, about)


async def test_a_document_without_headings_is_asked_by_its_title() -> None:
    assert (await asked("salt", "Salt is white.", "The sea"))[:2] == ["salt", "The sea"]
