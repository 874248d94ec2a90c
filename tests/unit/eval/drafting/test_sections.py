"""Documents are cut into sections, each of which the scorer finds again as a region."""

from eval.drafting.sections import MAX_CHARS
from eval.nuggets import find_region, fold
from tests.unit.eval.drafting.documents import GUIDE, section, sections, stored


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


def test_a_long_section_goes_on_in_pieces() -> None:
    paragraphs = [f"Sentence number {number} tells of boat {number} and its long way home." * 3 for number in range(30)]
    found = sections(stored("# Boats\n\n" + "\n\n".join(paragraphs) + "\n"))

    assert len(found) > 1
    assert all(len(one.text) <= MAX_CHARS for one in found)


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
