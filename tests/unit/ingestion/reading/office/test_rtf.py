"""Documents in Rich Text Format, written out by the test."""

from ingestion.reading.office.rtf import read_rtf

_HEAD = (
    r"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}{\f2\fcharset128 Mincho;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2 toc 1;}}"
)


def text_of(body: str) -> str:
    return read_rtf(f"{_HEAD}{body}}}".encode("latin-1"), "a.rtf").text


def test_headings_paragraphs_and_lists_stay_in_order() -> None:
    text = text_of(
        r"\pard\s1 Heat pumps\par\pard They move heat.\par{\listtext 1.\tab}Air\par{\listtext\'b7\tab}\ilvl1 Ground\par"
    )

    assert text == "# Heat pumps\n\nThey move heat.\n\n1. Air\n  - Ground"


def test_characters_are_read_in_the_code_of_their_font_and_as_unicode() -> None:
    assert text_of(r"Gr\'f6\'dfe {\f1\'ef\'f0} {\f2\'93\'fa\'96\'7b} \u8364?\uc2\u916 ??\uc1  \u-10179?\u-8703?") == (
        "Größe пр 日本 €Δ 😁"
    )


def test_what_is_no_text_is_left_out() -> None:
    text = text_of(
        r"{\header Confidential}{\*\unknown secret}{\pict 0102ff}{\v hidden}A\~field: {\field{\*\fldinst HYPERLINK}"
        r"{\fldrslt here}}.{\bin3 }}{\par}\pard\s2 Contents 1\par"
    )

    assert text == "A field: here."


def test_tables_name_their_columns_where_they_say_so_and_fill_merged_cells() -> None:
    rows = (
        r"\trowd\trhdr\cellx100\cellx200\pard\intbl Kind\cell COP\cell\row"
        r"\trowd\clvmgf\cellx100\cellx200\pard\intbl Air\cell 3.1\cell\row"
        r"\trowd\clvmrg\cellx100\cellx200\pard\intbl\cell 3.3\cell\row\pard Done.\par"
    )

    assert text_of(rows) == "Kind | COP\n--- | ---\nAir | 3.1\nAir | 3.3\n\nDone."


def test_a_footnote_stands_behind_its_paragraph() -> None:
    assert (
        text_of(r"Heat{\footnote\pard Or cold.\par} pumps.\par Next.") == "Heat pumps.\n\nFootnote 1: Or cold.\n\nNext."
    )


def test_title_and_author_are_the_properties() -> None:
    document = read_rtf(rb"{\rtf1{\info{\title Annual report}{\author Ann}{\operator X}}Text.}", "a.rtf")

    assert (document.title, document.metadata, document.text) == ("Annual report", {"author": "Ann"}, "Text.")


def test_a_file_cut_short_is_read_as_far_as_it_goes() -> None:
    assert read_rtf(rb"{\rtf1 Begun\par {\b and", "a.rtf").text == "Begun\n\nand"
