"""Presentations, written out by the test."""

from ingestion.reading.office.pptx import read_pptx
from tests.zoo.office import make_pptx, shape

LIMIT = 10_000_000
_CELL = "<a:tc{}><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"


def text_of(*slides: str) -> str:
    return read_pptx(make_pptx(slides), "a.pptx", LIMIT).text


def test_a_slide_is_a_section_with_its_title_first_and_its_notes_last() -> None:
    slides = [shape("Air", "Ground", role="body") + shape("Heat pumps", role="title"), shape("The end")]
    document = read_pptx(make_pptx(slides, notes={1: "Say hello."}), "a.pptx", LIMIT)

    assert document.text == "# Heat pumps\n\n- Air\n- Ground\n\nSpeaker notes: Say hello.\n\n# Slide 2\n\nThe end"
    assert document.title == "Heat pumps"


def test_shapes_are_read_from_the_top_down_and_from_left_to_right() -> None:
    text = text_of(
        shape("right", place=(5_000_000, 1_000_000))
        + shape("below", place=(0, 4_000_000))
        + shape("left", place=(0, 1_000_100))
    )

    assert text.split() == ["#", "Slide", "1", "left", "right", "below"]


def test_numbered_paragraphs_are_ordered_items() -> None:
    assert "1. One\n2. Two" in text_of(shape("One", "Two", marks='<a:buAutoNum type="arabicPeriod"/>'))


def test_a_table_has_its_header_and_its_merged_cells_filled() -> None:
    rows = [
        _CELL.format("", "Kind") + _CELL.format("", "COP"),
        _CELL.format(' rowSpan="2"', "Air") + _CELL.format("", "3.1"),
        _CELL.format(' vMerge="1"', "") + _CELL.format("", "3.3"),
    ]
    table = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    frame = f'<p:graphicFrame><a:graphic><a:tbl><a:tblPr firstRow="1"/>{table}</a:tbl></a:graphic></p:graphicFrame>'

    assert "Kind | COP\n--- | ---\nAir | 3.1\nAir | 3.3" in text_of(frame)


def test_an_image_is_what_people_wrote_for_those_who_cannot_see_it() -> None:
    def picture(words: str) -> str:
        return f'<p:pic><p:nvPicPr><p:cNvPr id="1" name="x" descr="{words}"/><p:nvPr/></p:nvPicPr></p:pic>'

    assert text_of(picture("A boat") + picture("image1.png")) == "# Slide 1\n\nA boat"


def test_footers_and_slide_numbers_are_left_out() -> None:
    assert (
        text_of(shape("Words") + shape("Confidential", role="ftr") + shape("7", role="sldNum")) == "# Slide 1\n\nWords"
    )
