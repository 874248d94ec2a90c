"""What is read for a question: leaves, their units, and the windows around the likeliest."""

from dataclasses import replace

import numpy as np
import pytest

from index.embedding.cached import CachedEmbedding
from query_engine.reader.leaves import NEAREST_LEAVES, RANKED_LEAVES
from query_engine.reader.reading import GROWN_UNITS, LeafReader, Reading
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.engines import a_passage
from tests.fakes.reading import WordReader, a_leaf_reader
from tests.fakes.words import FakeWords


def read(question: str, *texts: str) -> Reading:
    passages = [a_passage(f"{number}.md", text) for number, text in enumerate(texts)]
    return a_leaf_reader().read(question, passages)


def test_units_are_ordered_by_what_speaks_for_them_and_labels_are_none() -> None:
    reading = read("Who built the pump?", "# Who built the pump?\n\nA miller built the pump. Zebras graze.")

    assert [one.text for one in reading.units] == ["A miller built the pump.", "Zebras graze."]
    assert reading.units[0].worth > reading.units[1].worth


SECTION = """# Pumps

## Who built it

A miller built the pump of the mill.

It took two years.

## Zebras

Zebras graze.
"""


def test_windows_of_several_lengths_stay_within_the_section() -> None:
    windows = [one.window.text for one in read("Who built the pump?", SECTION).windows]

    assert "A miller built the pump of the mill." in windows
    assert "A miller built the pump of the mill.\n\nIt took two years." in windows
    assert not any("Zebras" in text and "miller" in text for text in windows)


def test_the_sentences_that_answer_are_marked_in_a_window() -> None:
    windows = read("Who built the pump?", SECTION).windows

    (both,) = (one for one in windows if "miller" in one.window.text and "years" in one.window.text)
    text = both.window.best.leaf.layout.text
    assert [text[start:end] for start, end in both.marks] == ["A miller built the pump of the mill."]
    (alone,) = (one for one in windows if one.window.text == "A miller built the pump of the mill.")
    assert alone.marks == (), "all of it answers"


def test_windows_are_compared_with_the_question_below_their_headings() -> None:
    question = "Who built the pump?"
    reader = LeafReader(WordReader(), lambda _: None, FakeWords(), WordHashEmbedding())
    windows = reader.read(question, [a_passage("1.md", SECTION)]).windows

    (whole,) = (one for one in windows if one.window.text.startswith("A miller") and "years" in one.window.text)
    wanted = float(np.dot(word_vector(f"Pumps\nWho built it\n{whole.window.text}"), word_vector(question)))
    assert whole.similarity == pytest.approx(wanted)
    assert [one.worth for one in windows] == sorted((one.worth for one in windows), reverse=True)


def test_windows_are_grown_around_the_likeliest_units_alone() -> None:
    texts = [f"The pump of house {number} was built by a miller." for number in range(GROWN_UNITS + 3)]
    reading = read("Who built the pump?", *texts)

    assert {one.window.best.key for one in reading.windows} == {one.key for one in reading.units[:GROWN_UNITS]}


def test_the_same_passages_are_read_once_for_a_question() -> None:
    words = WordReader()
    reader = LeafReader(words, lambda _: None, FakeWords())
    passages = [a_passage("1.md", "Ms Doe chaired the board.")]

    first = reader.read("Who chaired the board?", passages)

    assert reader.read("Who chaired the board?", list(passages)) is first
    assert words.read_texts == 1
    assert reader.read("Who chaired it?", passages) is not first
    assert reader.read("Who chaired the board?", [a_passage("2.md", "Ms Doe chaired the board.")]) is not first


def test_the_most_similar_leaves_are_read_beside_the_best() -> None:
    passages = [
        replace(
            a_passage(f"{place}.md", f"Sentence number {place} stands here."),
            score=1 / (1 + place),
            scores={"dense": place / 100, "fused": 1 / (1 + place)},
            hits=(),
        )
        for place in range(20)
    ]

    leaves = a_leaf_reader().read("Which sentence?", passages).leaves

    assert [leaf.rank for leaf in leaves] == [*range(RANKED_LEAVES), *range(19, 19 - NEAREST_LEAVES, -1)]


class Bilingual(WordHashEmbedding):
    """Takes the German words of a pump for the English ones."""

    def _get_query_embedding(self, query: str) -> list[float]:
        german = {"wer": "who", "hat": "has", "die": "the", "pumpe": "pump", "gebaut": "built"}
        return word_vector(" ".join(german.get(word, word) for word in query.lower().strip("?").split()))


def asked_in_german(text: str, similarity: float, *, multilingual: bool) -> Reading:
    embedder = CachedEmbedding(Bilingual(), 100, multilingual=multilingual)
    reader = LeafReader(WordReader(), lambda _: None, FakeWords(), embedder)
    passage = replace(a_passage("1.md", text), scores={"dense": similarity})
    return reader.read("Wer hat die Pumpe gebaut?", [passage])


ENGLISH = "The zebras graze in the yard of the mill. The miller has built the pump for the mill in 1911."
GERMAN = "Der Müller hat die Pumpe für die Mühle gebaut. Die Zebras grasen auf dem Hof der Mühle."


def test_a_multilingual_model_finds_the_sentence_in_another_language() -> None:
    reading = asked_in_german(ENGLISH, 0.5, multilingual=True)

    assert [leaf.foreign for leaf in reading.leaves] == [True]
    assert reading.units[0].text == "The miller has built the pump for the mill in 1911."
    assert reading.units[0].score > reading.units[1].score


def test_the_nearer_a_leaf_in_another_language_the_more_it_is_worth() -> None:
    near, far = (asked_in_german(ENGLISH, similarity, multilingual=True) for similarity in (0.4, 0.1))

    assert near.leaves[0].scores.passage > 0 > far.leaves[0].scores.passage
    assert near.units[0].worth > far.units[0].worth


def test_words_judge_what_is_in_the_language_of_the_question_and_where_the_model_knows_one_language() -> None:
    own, single = asked_in_german(GERMAN, 0.5, multilingual=True), asked_in_german(ENGLISH, 0.5, multilingual=False)

    assert not own.leaves[0].foreign
    assert not single.leaves[0].foreign
    assert own.units[0].text.startswith("Der Müller hat die Pumpe")
    assert single.units[0].score < 0
