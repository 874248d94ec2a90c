"""What is read for a question, beyond the reader's own scores."""

from dataclasses import replace

from query_engine.reader.reading import CONTRADICTED_LACKS, LeafReader, Reading
from tests.fakes.engines import a_passage
from tests.fakes.reading import WordReader, a_leaf_reader
from tests.fakes.words import FakeWords


def read(question: str, *texts: str) -> Reading:
    passages = [a_passage(f"{number}.md", text) for number, text in enumerate(texts)]
    return a_leaf_reader().read(question, passages)


def test_the_best_sentence_says_something_else() -> None:
    reading = read("Who chaired the board in 2019?", "Ms Doe chaired the board in 2018. It met in the library.")

    assert reading.contradicted == ("2019",)
    assert reading.units[0].text == "Ms Doe chaired the board in 2018."
    assert all(one.lacking >= CONTRADICTED_LACKS for one in reading.units)


def test_a_sentence_nearly_as_good_that_says_what_is_asked() -> None:
    of_2018, of_2019 = "In 2018 Ms Doe chaired the board of us.", "In 2019 Mr Roe chaired it. The board is ours."
    reading = read("Who chaired the whole board in 2019?", of_2018, of_2019)

    assert reading.contradicted == ()
    assert reading.units[0].text == "In 2019 Mr Roe chaired it."
    assert [one.lacking for one in reading.units if "2018" in one.text] == [CONTRADICTED_LACKS]


def test_what_is_far_worse_does_not_settle_it() -> None:
    reading = read("Which new pump is harder to service?", "The new pump is easier to service.", "It was harder.")

    assert reading.contradicted == ("harder",)


def test_the_date_at_the_top_of_a_document_counts_below() -> None:
    quoted = "Ms Doe chaired the board."
    text = "Minutes of 3 May 2019\n\n" + "We met in the library.\n\n" * 60 + quoted
    passage = replace(a_passage("1.md", quoted), start=len(text) - len(quoted), end=len(text), hits=())
    reader = LeafReader(WordReader(), lambda _: text, FakeWords())

    assert reader.read("Who chaired the board in 2019?", [passage]).contradicted == ()
    assert reader.read("Who chaired the board in 2018?", [passage]).contradicted == ("2018",)


def test_only_english_is_compared() -> None:
    reading = read("Wer leitete den Vorstand im Jahr 2019?", "Frau Doe leitete den Vorstand im Jahr 2018.")

    assert reading.contradicted == ()
