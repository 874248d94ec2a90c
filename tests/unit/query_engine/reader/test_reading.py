"""What is read for a question, beyond the reader's own scores."""

import math
from dataclasses import replace

import numpy as np
import pytest

from index.documents.store import Document
from index.embedding.cached import CachedEmbedding
from query_engine.reader.named_rows import NAMED_ROW
from query_engine.reader.ranking import CONTRADICTION_PENALTY, HEADING_PENALTY
from query_engine.reader.reading import LeafReader
from query_engine.reader.units import DEFINES_WEIGHT, EMBEDDED_UNITS, STEPS_WEIGHT, Reading
from query_engine.reader.windows import NEAREST_LEAVES, RANKED_LEAVES
from tests.fakes.embedding import WordHashEmbedding, word_vector
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
    assert all(one.penalty >= CONTRADICTION_PENALTY for one in reading.units)


def test_a_sentence_nearly_as_good_that_says_what_is_asked() -> None:
    of_2018, of_2019 = "In 2018 Ms Doe chaired the board of us.", "In 2019 Mr Roe chaired it. The board is ours."
    reading = read("Who chaired the whole board in 2019?", of_2018, of_2019)

    assert reading.contradicted == ()
    assert reading.units[0].text == "In 2019 Mr Roe chaired it."
    assert [one.penalty for one in reading.units if "2018" in one.text] == [CONTRADICTION_PENALTY]


def test_what_is_far_worse_does_not_settle_it() -> None:
    reading = read("Which new pump is harder to service?", "The new pump is easier to service.", "It was harder.")

    assert reading.contradicted == ("harder",)


def test_the_date_at_the_top_of_a_document_counts_below() -> None:
    quoted = "Ms Doe chaired the board."
    text = "Minutes of 3 May 2019\n\n" + "We met in the library.\n\n" * 60 + quoted
    passage = replace(a_passage("1.md", quoted), start=len(text) - len(quoted), end=len(text), hits=())
    document = Document("1.md", "", text).structured()
    reader = LeafReader(WordReader(), lambda _: document, FakeWords())

    assert reader.read("Who chaired the board in 2019?", [passage]).contradicted == ()
    assert reader.read("Who chaired the board in 2018?", [passage]).contradicted == ("2018",)


def test_only_english_is_compared() -> None:
    reading = read("Wer leitete den Vorstand im Jahr 2019?", "Frau Doe leitete den Vorstand im Jahr 2018.")

    assert reading.contradicted == ()


def test_a_line_that_reads_like_a_heading_loses_to_the_text_below_it() -> None:
    text = "2 Knowledge distillation of a model\n\nA small model learns from a large one. This needs a teacher."
    penalties = {one.text: one.penalty for one in read("What is knowledge distillation of a model?", text).units}

    assert penalties == {line: HEADING_PENALTY if line.startswith("2 ") else 0.0 for line in penalties}


def test_a_heading_may_have_a_year() -> None:
    (one,) = (unit for unit in read("What was the flood?", "The flood of 1908\n\nIt rose.").units if "of" in unit.text)

    assert one.penalty == HEADING_PENALTY


def test_a_bare_line_with_a_figure_or_at_the_end_may_answer() -> None:
    texts = ("Ground floor, room 12\n\nThe desk is there.", "The desk is there.\n\nOn the left of the big door")

    assert [one.penalty for one in read("Where is the desk?", *texts).units] == [0.0] * 4


def test_a_document_s_title_is_no_answer() -> None:
    titled = replace(
        a_passage("a.md", "QUIET LUNCHES: FELT, PANELS AND LIGHTS.\n\nPanels work."),
        title="Quiet lunches: felt, panels and lights.",
    )

    assert [one.penalty for one in a_leaf_reader().read("What works at lunches?", [titled]).units][-1:] == [
        HEADING_PENALTY
    ]


def test_the_words_that_only_one_of_the_compared_things_has() -> None:
    question = "What is the difference between the flex tier and the priority tier?"

    assert read(question, "The tiers differ.").compared == (frozenset({"flex"}), frozenset({"priority"}))
    assert read("What is the flex tier?", "The tiers differ.").compared == ()


def compared_singly(question: str, text: str) -> Reading:
    reader = LeafReader(WordReader(), lambda _: None, FakeWords(), WordHashEmbedding())
    return reader.read(question, [a_passage("1.md", text)])


def test_the_likeliest_sentences_are_compared_with_the_question_singly() -> None:
    question = "Who built the pump?"
    sentences = [f"The pump of house {number} was built by a miller." for number in range(EMBEDDED_UNITS)]

    units = compared_singly(question, " ".join((*sentences, "Zebras graze."))).units

    wanted = [float(np.dot(word_vector(one), word_vector(question))) for one in sentences]
    assert sorted(one.similarity for one in units if one.similarity is not None) == pytest.approx(sorted(wanted))
    assert [one.text for one in units if one.similarity is None] == ["Zebras graze."]


def test_a_row_is_compared_below_its_header() -> None:
    question, header, row = "What is the price of apples?", "| Fruit | Price |", "| Apples | 3.00 |"

    units = compared_singly(question, f"{header}\n|---|---|\n{row}\n| Pears | 4.00 |").units

    (apples,) = (one for one in units if "Apples" in one.text)
    wanted = float(np.dot(word_vector(f"{header} {row}"), word_vector(question)))
    assert apples.similarity == pytest.approx(wanted)


def test_steps_below_the_heading_that_is_asked_for_are_worth_more_where_the_question_is_how() -> None:
    text = (
        "# Loans\n\n## How to book\n\nRead this.\n\n1. Sign in.\n2. Add the items.\n\n## Returns\n\n1. Coil the cables."
    )
    units = read("How do I book a camera?", text).units

    assert {one.text for one in units if one.wanted_step} == {"1. Sign in.", "2. Add the items."}
    assert all(one.worth - replace(one, wanted_step=False).worth == pytest.approx(STEPS_WEIGHT) for one in units[:2])
    assert not any(one.wanted_step for one in read("Who may book a camera?", text).units)


def test_a_row_that_is_named_with_nothing_but_the_document_counts_as_read() -> None:
    text = "| Item | 2019 | 2018 |\n|---|---|---|\n| Income tax | 401 | 309 |\n| Rent | 12 | 11 |"
    passage = replace(a_passage("a.md", text), title="Acme results")
    named = {one.text: one.named for one in a_leaf_reader().read("acme income tax", [passage]).units}

    assert named["| Income tax | 401 | 309 |"] == NAMED_ROW
    assert named["| Rent | 12 | 11 |"] == -math.inf
    assert a_leaf_reader().read("globex income tax", [passage]).units[0].named == -math.inf


def test_a_month_names_the_row_that_spans_it() -> None:
    text = "| When | Hall |\n|---|---|\n| March to May | 9 to 5 |\n| June to August | 9 to 6 |\n| October | 9 to 4 |"
    named = {one.text: one.named for one in read("opening hours of the hall in July", text).units}

    assert named["| June to August | 9 to 6 |"] == NAMED_ROW
    assert named["| March to May | 9 to 5 |"] == named["| October | 9 to 4 |"] == -math.inf


def test_an_age_names_the_row_that_spans_it_and_counts_against_the_others() -> None:
    text = "| Who | Tower |\n|---|---|\n| Under 6 | No |\n| Child 6 to 15 | 5.00 |\n| Adult | 9.50 |"
    units = {one.text: one for one in read("tower price for a 9 year old", text).units}

    assert [text for text, one in units.items() if one.named == NAMED_ROW] == ["| Child 6 to 15 | 5.00 |"]
    assert [text for text, one in units.items() if one.penalty] == ["| Under 6 | No |"]


def test_one_word_of_a_long_name_and_a_light_word_name_no_row() -> None:
    text = "| Trip | Rate |\n|---|---|\n| Second passenger on the same trip | 5p |\n| Up to ten | 3p |"
    units = read("what is the rate up to the passenger's house", text).units

    assert {one.named for one in units} == {-math.inf}


def test_two_months_name_a_row_and_brackets_do_not() -> None:
    text = (
        "| When | Last tour |\n|---|---|\n| July and August | 17.00 |\n| Supporters (no tour) | 9.00 |\n| May | 16.00 |"
    )
    named = {one.text: one.named for one in read("last tour in August", text).units}

    assert named == {
        "| July and August | 17.00 |": NAMED_ROW,
        "| Supporters (no tour) | 9.00 |": -math.inf,
        "| May | 16.00 |": -math.inf,
    }


def test_a_word_of_the_title_names_no_row() -> None:
    text = "Report of the Stannagh team\n\n| Source | £ |\n|---|---|\n| Stannagh Hill Race | 12 |\n| Gifts | 7 |"
    units = a_leaf_reader().read("minimum age to join the Stannagh team", [a_passage("a.md", text)]).units

    assert {one.named for one in units} == {-math.inf}


def test_a_title_in_capitals_is_no_answer() -> None:
    text = "OPERATING PROCEDURE 17: VACCINE FRIDGES\n\nThe fridges hold vaccines."

    assert [one.text for one in read("What make are the vaccine fridges?", text).units] == [
        "The fridges hold vaccines."
    ]


def test_a_definition_of_the_term_that_is_asked_for_wins() -> None:
    text = "The firm has a buddy at the firm. A buddy is a colleague who helps."
    units = read("What is a buddy at the firm?", text).units

    assert {one.text: one.defines for one in units} == {
        "The firm has a buddy at the firm.": False,
        "A buddy is a colleague who helps.": True,
    }
    plain = replace(units[0], defines=False)
    assert replace(plain, defines=True).worth == plain.worth + DEFINES_WEIGHT


def test_a_record_does_not_go_on_from_the_one_before_it() -> None:
    text = "item: Matt glass\nprice: 34\n\nitem: Safety glass\nprice: 54"
    (safety,) = (one for one in read("matt or safety glass", text).units if "Safety" in one.text)

    assert "matt" not in safety.known


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
