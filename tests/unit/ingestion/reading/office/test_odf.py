"""OpenDocument files, written out by the test."""

from index.documents.store import Document
from ingestion.reading.office.odf import read_odf
from tests.zoo.office import make_odf

LIMIT = 10_000_000
_NUMBERED = (
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    "</text:list-style>"
)


def read(suffix: str, kind: str, body: str, **options: str) -> Document:
    return read_odf(make_odf(kind, body, **options), f"a_b.{suffix}", LIMIT)


def test_headings_paragraphs_lists_and_notes_stay_in_order() -> None:
    body = (
        '<text:h text:outline-level="2">Kinds</text:h><text:p>Heat<text:note text:note-class="footnote">'
        "<text:note-body><text:p>Or cold.</text:p></text:note-body></text:note> pumps<text:s text:c='2'/>move.</text:p>"
        '<text:list text:style-name="N"><text:list-item><text:p>Air</text:p></text:list-item>'
        "<text:list-item><text:p>Ground</text:p></text:list-item></text:list><text:p>End.</text:p>"
    )

    document = read("odt", "text", body, styles=_NUMBERED)

    assert document.text == "## Kinds\n\nHeat pumps  move.\n\nFootnote 1: Or cold.\n\n1. Air\n2. Ground\n\nEnd."
    assert document.title == "Kinds"


def test_deleted_passages_and_comments_are_left_out() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>Gone.</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:p>Here<office:annotation><text:p>Hm.</text:p>"
        "</office:annotation>.</text:p>"
    )

    assert read("odt", "text", body).text == "Here."


def test_tables_name_their_columns_where_they_say_so_and_fill_merged_cells() -> None:
    def row(*cells: str) -> str:
        return "<table:table-row>" + "".join(cells) + "</table:table-row>"

    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    covered = "<table:covered-table-cell/>"
    body = (
        f"<table:table><table:table-header-rows>{row(cell('Kind'), cell('COP'))}</table:table-header-rows>"
        f"{row(cell('Air', 'table:number-rows-spanned=' + chr(34) + '2' + chr(34)), cell('3.1'))}"
        f"{row(covered, cell('3.3'))}</table:table>"
    )

    assert read("odt", "text", body).text == "Kind | COP\n--- | ---\nAir | 3.1\nAir | 3.3"


def test_an_image_is_what_people_wrote_for_those_who_cannot_see_it() -> None:
    body = "<text:p>See:<draw:frame><draw:image/><svg:desc>A boat</svg:desc></draw:frame></text:p>"

    assert read("odt", "text", body).text == "See:\n\nA boat"


def test_a_slide_is_a_section_with_its_notes() -> None:
    def frame(kind: str, text: str) -> str:
        box = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{box}</draw:frame>'

    notes = f"<presentation:notes>{frame('notes', 'Say hello.')}</presentation:notes>"
    body = f"<draw:page>{frame('outline', 'They move heat.')}{frame('title', 'Heat pumps')}{notes}</draw:page>"

    assert read("odp", "presentation", body).text == "# Heat pumps\n\nThey move heat.\n\nSpeaker notes: Say hello."


def test_sheets_show_what_cells_show_and_end_where_their_content_ends() -> None:
    def cell(text: str, kind: str = "string") -> str:
        return f'<table:table-cell office:value-type="{kind}"><text:p>{text}</text:p></table:table-cell>'

    body = (
        f'<table:table table:name="Prices"><table:table-row>{cell("Boat")}{cell("Price")}</table:table-row>'
        f'<table:table-row table:number-rows-repeated="2">{cell("Tern")}{cell("€ 9,50", "currency")}</table:table-row>'
        '<table:table-row table:number-rows-repeated="1048573"><table:table-cell '
        'table:number-columns-repeated="16384"/></table:table-row></table:table>'
    )
    document = read("ods", "spreadsheet", body, title="Spreadsheet")

    assert document.text == "# Prices\n\nBoat | Price\n--- | ---\nTern | € 9,50\nTern | € 9,50"
    assert document.title == "a b"
