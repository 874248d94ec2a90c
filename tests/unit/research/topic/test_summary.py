from research.topic.findings import Finding
from research.topic.statements import statements_of
from research.topic.summary import NOTHING, summarise
from tests.fakes.answers import Quote, quoted
from tests.fakes.engines import a_done


def finding(*quotes: Quote, text: str | None = None) -> Finding:
    done = quoted(*quotes, text=text) if quotes else a_done(None)
    return Finding("What is wind?", done, tuple(statements_of(done)))


def test_the_first_new_thing_of_each_answer_is_told_with_its_citation() -> None:
    wind, sun = ("wind.md", "Wind turns blades. It is free."), ("sun.md", "Sun warms cells.")

    told = summarise([finding(wind), finding(wind, sun), finding()])

    assert told == ("Wind turns blades. [1] It is free. [1] Not answered by the documents: What is wind?")


def test_prose_goes_before_a_list_and_of_a_list_some_lines_are_told() -> None:
    steps = ("steps.md", "1. Dig a hole.\n2. Fill it;\n3. Go home.")

    assert summarise([finding(steps)]) == "1. Dig a hole.\n2. Fill it;\n3. Go home. [1]"
    assert summarise([finding(steps, ("a.md", "Holes are useful."))]) == "Holes are useful. [2]"


def test_gaps_alone_are_told_as_not_knowing() -> None:
    assert summarise([finding()]) == NOTHING
    assert NOTHING.startswith("I don't know.")
