"""A draft's facts stand in its region, which the scorer finds again; a search reaches it; nothing is asked twice."""

from collections.abc import Sequence

import numpy as np

from eval.cases import Nugget
from eval.drafting.draft import DEPTH, MAX_CHARS, NEAR_MISS, Candidate, Checks, Leaf, Section
from eval.nuggets import find_region, fold
from tests.unit.eval.drafting.documents import GUIDE, section, sections, stored

KETTLE = section("Tar kettle")
HULL = section("Mending the hull")


def candidate(
    question: str, *phrases: str, kind: str = "factual", vital: bool = True, of: tuple[Section, ...] = (KETTLE,)
) -> Candidate:
    facts = tuple(Nugget(text=phrase, vital=vital, any=(phrase,)) for phrase in phrases)
    return Candidate(kind, question, "An answer.", facts, of)


def leaf(one: Section) -> Leaf:
    return Leaf(one.document.doc_id, one.start, one.start + 20, one.text[:20])


def checks(*found: Leaf) -> Checks:
    vectors: dict[str, Sequence[float]] = {}

    def embed(question: str) -> Sequence[float]:
        """Questions that begin with the same word have the same vector."""
        return vectors.setdefault(question.partition(" ")[0], list(np.eye(8)[len(vectors)]))

    return Checks(lambda _question: found or (leaf(KETTLE), leaf(HULL)), embed, "model")


def test_a_draft_says_what_it_was_made_of_and_is_scored_by_its_region() -> None:
    made = checks()

    assert made.take(candidate("What is it?", "iron pot"))

    (draft,) = made.drafts
    assert draft.nuggets[0].any == ("iron pot",)
    assert draft.regions == (KETTLE.region,)
    assert draft.reference_contexts == (KETTLE.text,)
    assert draft.relevant_docs == ("boats/guide.md",)
    assert (draft.category, draft.drafted_by, draft.reviewed) == ("factual", "model", False)
    assert "Tar kettle" in draft.source


def test_phrases_that_do_not_stand_in_the_region_are_left_out_and_without_a_vital_fact_the_question_too() -> None:
    made = checks()
    mixed = Nugget(text="pot", vital=True, any=("a copper pot", "IRON  pot"))

    assert made.take(Candidate("factual", "What is it?", "A.", (mixed,), (KETTLE,)))
    assert made.drafts[0].nuggets[0].any == ("IRON  pot",)
    assert not made.take(candidate("Which pot?", "copper"))
    assert not made.take(candidate("Whose pot?", "iron pot", vital=False))
    assert sum(made.dropped.values()) == 2


def test_a_repeated_fact_or_wording_is_dropped() -> None:
    made = checks()

    assert made.take(candidate("What is it?", "iron pot"))
    assert not made.take(candidate("Which thing is it?", "iron pot"))
    assert not made.take(candidate("What else is it?", "small fire"))
    assert made.take(candidate("How hot?", "small fire"))


def test_each_region_has_to_be_among_the_leaves_that_a_search_finds() -> None:
    too_late = [*[leaf(HULL)] * DEPTH, leaf(KETTLE)]

    assert not checks(*too_late).take(candidate("What is it?", "iron pot"))
    assert not checks(leaf(HULL)).take(candidate("What is it?", "iron pot", "warm pitch", of=(KETTLE, HULL)))
    assert checks(leaf(HULL), leaf(KETTLE)).take(candidate("What is it?", "iron pot", "warm pitch", of=(KETTLE, HULL)))


def test_a_near_miss_has_no_answer_in_the_corpus() -> None:
    made = checks(leaf(HULL))

    assert made.take(candidate("What does it cost?", kind=NEAR_MISS))

    assert made.drafts[0].unanswerable
    assert not made.drafts[0].regions


def test_each_heading_with_enough_text_makes_a_section_which_the_scorer_finds_again() -> None:
    found = sections()

    assert {one.headings[-1] for one in found} == {
        "Boat guide",
        "Mending the hull",
        "Tar kettle",
        "Kinds of oars",
        "Who may sail at night?",
    }
    document = fold(GUIDE)
    for one in found:
        span = find_region(document, one.region)
        assert span is not None
        assert document[slice(*span)] == fold(one.text)


def test_a_long_section_goes_on_in_pieces_of_which_the_first_has_the_heading() -> None:
    paragraphs = [f"Sentence number {number} tells of boat {number} and its long way home." * 3 for number in range(30)]
    found = sections(stored("# Boats\n\n" + "\n\n".join(paragraphs) + "\n"))

    assert len(found) > 1
    assert all(len(one.text) <= MAX_CHARS for one in found)
    assert [one.begins for one in sorted(found, key=lambda one: one.start)] == [True] + [False] * (len(found) - 1)


def test_sections_that_begin_and_end_alike_are_told_apart() -> None:
    text = "".join(
        f"# A\n\nThe same eight words begin each of these, then {word}, and they end alike.\n\n" for word in "xyz"
    )
    found = sections(stored(text))

    assert len(found) == 3
    assert all(fold(text)[slice(*(find_region(fold(text), one.region) or ()))] == fold(one.text) for one in found)


def test_documents_take_turns_and_the_order_is_always_the_same() -> None:
    documents = [stored(doc_id="a.md"), stored(doc_id="b.md")]

    names = [one.document.doc_id for one in sections(*documents)]

    assert set(names[:2]) == {"a.md", "b.md"}
    assert [one.place for one in sections(*documents)] == [one.place for one in sections(*reversed(documents))]


def test_regions_bring_their_text_where_readers_differ() -> None:
    assert section("Tar kettle").region.text == ""
    assert "iron pot" in section("Tar kettle", stored(content_type="docx")).region.text
