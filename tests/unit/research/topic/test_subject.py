import pytest

from research.topic.subject import Subject, Thing, read_topic

TEXT = """A heat pump is a device. Every heat pump needs power. Heat pumps are quiet.

The capacity factor is a share. A low capacity factor does not matter. The capacity factor of wind is low.

Bioenergy is energy from plants. Waste is used for bioenergy. Denmark is windy. In Denmark, bioenergy is used."""


@pytest.mark.parametrize(
    ("topic", "thing"),
    [
        ("heat pump", Thing("a heat pump", False)),
        ("Heat pumps", Thing("heat pumps", True)),
        ("Bioenergy", Thing("bioenergy", False)),
        ("capacity factor", Thing("the capacity factor", False)),
        ("the capacity factor", Thing("the capacity factor", False)),
        ("Denmark", Thing("Denmark", False)),
        ("COVID-19", Thing("COVID-19", False)),
        ("Amazon Bedrock Knowledge Bases", Thing("Amazon Bedrock Knowledge Bases", True)),
        ("wind and solar power", Thing("wind and solar power", True)),
        ("What do we know about heat pumps?", Thing("heat pumps", True)),
        ("Tell me everything about bioenergy.", Thing("bioenergy", False)),
        ("What is a heat pump", Thing("a heat pump", False)),
        ("How do heat pumps work?", Thing("heat pumps", True)),
    ],
)
def test_a_thing_is_named_as_the_documents_name_it(topic: str, thing: Thing) -> None:
    assert read_topic(topic, [TEXT]) == Subject("thing", (thing,))


def test_a_question_about_a_thing_is_asked_too() -> None:
    found = read_topic("What is the cost of heat pumps?", [TEXT])

    assert found == Subject("thing", (Thing("heat pumps", True),), "What is the cost of heat pumps?")


@pytest.mark.parametrize(
    ("topic", "names", "question", "criterion"),
    [
        ("wind vs solar", ["wind", "solar"], None, ""),
        ("heat pump versus gas boiler", ["a heat pump", "gas boiler"], None, ""),
        ("Is nuclear cheaper than wind?", ["nuclear", "wind"], "Is nuclear cheaper than wind?", "cheaper"),
        ("is nuclear cheaper than wind", ["nuclear", "wind"], "Is nuclear cheaper than wind?", "cheaper"),
        ("What is the difference between AC and DC?", ["AC", "DC"], "What is the difference between AC and DC?", ""),
        ("Which is cheaper, coal or wind?", ["coal", "wind"], "Which is cheaper, coal or wind?", "cheaper"),
        ("How do cars compare with bikes?", ["cars", "bikes"], "How do cars compare with bikes?", ""),
    ],
)  # fmt: skip
def test_two_things_are_compared(topic: str, names: list[str], question: str | None, criterion: str) -> None:
    found = read_topic(topic, [TEXT])

    assert found.kind == "comparison"
    assert [thing.name for thing in found.things] == names
    assert (found.question, found.criterion) == (question, criterion)


def test_the_first_of_two_winds_is_completed() -> None:
    texts = ["Onshore wind is cheap. Offshore wind is steady."]

    found = read_topic("Which is cheaper, onshore or offshore wind?", texts)

    assert [thing.name for thing in found.things] == ["onshore wind", "offshore wind"]


def test_an_activity_and_a_way_are_told_from_things() -> None:
    assert read_topic("recycling wind turbine blades") == Subject(
        "activity", (Thing("recycling wind turbine blades", False),)
    )
    assert read_topic("How to store electricity?") == Subject("way", (Thing("store electricity", False),))
    assert read_topic("spring water").kind == "thing"


def test_any_other_question_keeps_the_things_that_documents_name_so() -> None:
    texts = ["The first offshore wind farm was built at sea. An offshore wind farm is costly."]

    found = read_topic("When was an offshore wind farm built?", texts)

    assert (found.kind, found.question) == ("question", "When was an offshore wind farm built?")
    assert [thing.name for thing in found.things] == ["an offshore wind farm"]


def test_a_question_without_known_things_stands_for_itself() -> None:
    assert read_topic("Why did it break?") == Subject("question", (), "Why did it break?")


@pytest.mark.parametrize("topic", ["?", "...", "“”", "x" * 1000, "a " * 500, "was ist das", "風力"])
def test_odd_topics_are_read_as_something(topic: str) -> None:
    assert read_topic(topic, [TEXT]).kind in {"thing", "question"}
