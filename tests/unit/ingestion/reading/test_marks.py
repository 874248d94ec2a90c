"""Superscripts, subscripts, symbols and formulas, in every format that has them."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ingestion.reading.asciidoc import read_asciidoc
from ingestion.reading.html import read_html, read_html_lines
from ingestion.reading.markdown import read_markdown
from ingestion.reading.marks import lowered, raised
from ingestion.reading.office.docx import read_docx
from ingestion.reading.office.epub import read_epub
from ingestion.reading.office.odf import read_odf
from ingestion.reading.office.pptx import read_pptx
from ingestion.reading.office.rtf import read_rtf
from ingestion.reading.office.xls import _placed
from ingestion.reading.office.xlsx import read_xlsx
from ingestion.reading.rst import read_rst
from ingestion.reading.text import clean, one_line
from ingestion.reading.text_builder import TextBuilder
from ingestion.reading.wikitext import Prefixes, add_wikitext
from ingestion.reading.xml import read_xml
from tests.zoo.office import make_epub, make_odf, make_pptx, make_word, make_xlsx

LIMIT = 10_000_000
# Text in which what is raised stands in braces, what is lowered in brackets.
SOURCE = "A pulse of 4 x 10{9} J warms 30 m{3} of CO[2] in 10{-12} s, on the 3{rd} day"
SHOWN = "A pulse of 4 x 10⁹ J warms 30 m³ of CO₂ in 10⁻¹² s, on the 3rd day"


def marked(up: str, down: str) -> str:
    """Return the source in a format, given what stands around `|`."""
    source = SOURCE
    for opening, closing, form in (("{", "}", up), ("[", "]", down)):
        before, after = form.split("|")
        source = source.replace(opening, before).replace(closing, after)
    return source


def runs(up: str, down: str, form: str) -> str:
    """Return the source as runs of a form, `%s` in it the properties and the text."""
    text = marked("\0u|\0", "\0d|\0")
    ways = {"u": up, "d": down}
    parts = text.split("\0")
    placed = [(ways[part[0]], part[1:]) if at % 2 else ("", part) for at, part in enumerate(parts)]
    return "".join(form % one for one in placed)


def _wiki(text: str) -> str:
    builder = TextBuilder()
    add_wikitext(builder, text, Prefixes())
    return builder.finished()[0]


def _html(text: str) -> bytes:
    return f"<html><body><h1>Pulses</h1><p>{text}</p></body></html>".encode()


def _word(body: str, styles: str = "") -> str:
    return read_docx(make_word(f"<w:p>{body}</w:p>", styles=styles), "a.docx", LIMIT).text


def _slide(text: str) -> str:
    slide = (
        f"<p:sp><p:nvSpPr><p:cNvPr id='1' name='x'/><p:nvPr/></p:nvSpPr><p:txBody><a:p>{text}</a:p></p:txBody></p:sp>"
    )
    return read_pptx(make_pptx([slide]), "a.pptx", LIMIT).text


def _book(text: str) -> str:
    return read_epub(make_epub({"a": f"<p>{text}</p>"}, spine=["a"]), "a.epub", LIMIT).text


def _sheet(text: str) -> str:
    row = f'<row r="1"><c r="A1" t="inlineStr"><is>{text}</is></c></row>'
    return read_xlsx(make_xlsx({"S": row}), "a.xlsx", LIMIT).text


def _open_text(text: str) -> str:
    styles = "".join(
        f'<style:style style:name="{name}"><style:text-properties style:text-position="{place}"/></style:style>'
        for name, place in (("U", "super 58%"), ("D", "-20% 66%"))
    )
    return read_odf(make_odf("text", f"<text:p>{text}</text:p>", styles=styles), "a.odt", LIMIT).text


def _xml(name: str, text: str) -> str:
    return read_xml(f"<article><body><{name}>{text}</{name}></body></article>".encode(), "a.xml").text


TAGS = ("<sup>|</sup>", "<sub>|</sub>")
_RUN = '<w:r><w:rPr>%s</w:rPr><w:t xml:space="preserve">%s</w:t></w:r>'
_WORD_RUNS = runs('<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>', _RUN)
_STYLED = (
    '<w:style w:type="character" w:styleId="Up"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    '<w:style w:type="character" w:styleId="Power"><w:basedOn w:val="Up"/></w:style>'
    '<w:style w:type="character" w:styleId="Down"><w:rPr><w:vertAlign w:val="subscript"/></w:rPr></w:style>'
)
FORMATS: dict[str, Callable[[], str]] = {
    "html": lambda: read_html(_html(marked(*TAGS)), "a.html").text,
    "html lines": lambda: read_html_lines(_html(marked(*TAGS)), "a.html").text,
    "html cell": lambda: (
        read_html(_html(f"Pulses.</p><table><tr><td>{marked(*TAGS)}</td><td>x</td></tr></table><p>End."), "a.html").text
    ),
    "epub": lambda: _book(marked(*TAGS)),
    "docx": lambda: _word(_WORD_RUNS),
    "docx by style": lambda: _word(runs('<w:rStyle w:val="Power"/>', '<w:rStyle w:val="Down"/>', _RUN), _STYLED),
    "xlsx": lambda: _sheet(
        runs('<vertAlign val="superscript"/>', '<vertAlign val="subscript"/>', "<r><rPr>%s</rPr><t>%s</t></r>")
    ),
    "pptx": lambda: _slide(runs(' baseline="30000"', ' baseline="-25000"', "<a:r><a:rPr%s/><a:t>%s</a:t></a:r>")),
    "odt": lambda: _open_text(
        marked('<text:span text:style-name="U">|</text:span>', '<text:span text:style-name="D">|</text:span>')
    ),
    "rtf": lambda: read_rtf(rb"{\rtf1 %s\par}" % marked(r"{\super |}", r"\sub |\nosupersub ").encode(), "a.rtf").text,
    "markdown": lambda: read_markdown(marked(*TAGS).encode(), "a.md").text,
    "pandoc": lambda: read_markdown(marked("^|^", "~|~").encode(), "a.md").text,
    "wikitext templates": lambda: _wiki(marked("{{sup!|}}", "{{sub!|}}").replace("!", "|")),
    "wikitext": lambda: _wiki(marked(*TAGS)),
    "asciidoc": lambda: read_asciidoc(marked("^|^", "~|~").encode(), "a.adoc").text,
    "rst": lambda: read_rst(marked(r"\ :sup:`|`\ ", r"\ :sub:`|`\ ").encode(), "a.rst").text,
    "docbook": lambda: _xml("para", marked("<superscript>|</superscript>", "<subscript>|</subscript>")),
    "jats": lambda: _xml("p", marked(*TAGS)),
    "tei": lambda: _xml("p", marked('<hi rend="superscript">|</hi>', '<hi rend="sub">|</hi>')),
}


@pytest.mark.fault("D19")
@pytest.mark.parametrize("form", FORMATS)
def test_what_is_raised_or_lowered_keeps_its_meaning_in_every_format(form: str) -> None:
    assert SHOWN in FORMATS[form]()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2" + raised("n+1"), "2ⁿ⁺¹"),
        ("2" + raised("n" + raised("2")), "2^(n²)"),
        ("e" + raised("ax"), "e^(ax)"),
        ("x" + raised("k"), "x^k"),
        ("V" + lowered("max"), "V_(max)"),
        ("x" + lowered("i") + raised("2"), "xᵢ²"),
        ("1" + raised("0") + raised("6"), "1⁰⁶"),
        ("Ca" + raised("2+"), "Ca²⁺"),
        (raised("14") + "C", "¹⁴C"),
        ("10" + raised("6 ") + "N", "10⁶ N"),
        ("10" + raised("−3"), "10⁻³"),
        ("le 1" + raised("er") + " et le XIX" + raised("e"), "le 1er et le XIXe"),
        ("21" + raised("st"), "21st"),
        ("N" + raised("o") + " 4 at 20" + raised("o") + "C", "Nº 4 at 20°C"),
        ("Acme" + raised("TM") + " Co" + raised("®"), "Acme™ Co®"),
        ("steel" + raised("*") + " and tin" + raised("†"), "steel and tin"),
        ("It is steel." + raised("4") + " Or tin," + raised("5, 6") + " or", "It is steel. Or tin, or"),
        (lowered("Copyright 2020"), "Copyright 2020"),
        ("a " + lowered("2020 in small print"), "a 2020 in small print"),
        ("a" + raised(""), "a"),
        ("a" + raised(" ") + "b", "a b"),
        (raised("never closed")[:-1] + " 5", "never closed 5"),
    ],
)
def test_unicode_has_digits_and_signs_and_other_words_stand_behind_a_mark(text: str, shown: str) -> None:
    assert clean(text) == one_line(text) == shown


def test_offsets_count_the_text_as_it_is_stored() -> None:
    builder = TextBuilder()
    builder.heading("Load in 10" + raised("3") + " N", 1)
    builder.row(["Beam", "7 m" + raised("2")])
    text, blocks = builder.finished()

    assert [text[slice(*cell)] for cell in blocks[1].cells] == ["Beam", "7 m²"]
    assert text[slice(*blocks[0].inner)] == "Load in 10³ N"


@pytest.mark.parametrize(
    "mark",
    [
        '<sup><a href="#fn3">3</a></sup>',
        '<a href="#fn3"><sup>3</sup></a>',
        '<sup class="reference">3</sup>',
        '<sup id="fnref:3" role="doc-noteref">3</sup>',
        "<sup>[3]</sup>",
        "<sup>*</sup>",
    ],
)
def test_marks_of_notes_go_from_pages(mark: str) -> None:
    assert "wall is 9 m² long" in read_html(_html(f"The wall{mark} is 9 m<sup>2</sup> long."), "a.html").text


def test_what_stands_before_a_superscript_may_be_in_bold() -> None:
    page = _html(
        "It costs <b>10</b><i><sup>5</sup></i> and <b>the 2</b><sup>nd</sup> "
        "is <math><msup><mi>t</mi><mn>4</mn></msup></math>."
    )

    assert "It costs 10⁵ and the 2nd is t⁴." in read_html(page, "a.html").text


@pytest.mark.parametrize(
    "kept",
    [
        "`x<sup>2</sup>`",
        "```html\nm<sup>2</sup> or 10^4^\n```",
        "~~~\n```\nm<sup>2</sup>\n~~~",
        "$2^a^b$",
        "~~gone~~ and a~b~",
        "See[^1] and[^2].",
        "~/bin ~9~",
    ],
)
def test_markdown_keeps_code_and_other_marks(kept: str) -> None:
    assert read_markdown(f"{kept}\n\nm<sup>2</sup>".encode(), "a.md").text == f"{kept}\n\nm²"


def _math(body: str) -> str:
    for name in "f num den rad deg e sSup sSub sSubSup sup sub nary naryPr d func fName".split():
        body = body.replace(f"<{name}>", f"<m:{name}>").replace(f"</{name}>", f"</m:{name}>")
    namespace = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    return f'<m:oMath xmlns:m="{namespace}">{body}</m:oMath>'.replace("[", "<m:r><m:t>").replace("]", "</m:t></m:r>")


@pytest.mark.fault("D19")
@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("[p=]<f><num>[F]</num><den>[A]</den></f>", "p=F/A"),
        ("<f><num>[a+b]</num><den>[4]</den></f>[y]", "(a+b)/4 y"),
        ("<rad><deg></deg><e>[2g]</e></rad>", "√(2g)"),
        ("<rad><deg>[5]</deg><e>[z]</e></rad>", "⁵√(z)"),
        ("[8×]<sSup><e>[10]</e><sup>[-4]</sup></sSup>", "8×10⁻⁴"),
        ("<sSup><e>[2]</e><sup>[kT]</sup></sSup>", "2^(kT)"),
        ("<sSubSup><e>[v]</e><sub>[0]</sub><sup>[2]</sup></sSubSup>", "v₀²"),
        ('<nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><sub>[k=1]</sub><sup>[n]</sup><e>[k]</e></nary>', "∑_(k=1)ⁿ(k)"),
        ("<func><fName>[sin]</fName><e>[t]</e></func>", "sin(t)"),
        ("<d><e>[r+1]</e></d>", "(r+1)"),
    ],
)
def test_formulas_of_word_are_written_on_one_line(formula: str, shown: str) -> None:
    assert _word(_math(formula)) == shown


@pytest.mark.fault("D19")
@pytest.mark.parametrize(
    ("font", "code", "shown"),
    [
        ("Symbol", "F0B0", "°"),
        ("Symbol", "F0B1", "±"),
        ("Symbol", "F0A3", "≤"),
        ("Symbol", "F0B3", "≥"),
        ("Symbol", "F057", "Ω"),
        ("Symbol", "6D", "μ"),
        ("Wingdings", "F0FE", "☑"),
        ("Wingdings", "F0A8", "☐"),
        ("Wingdings", "F0E0", "→"),
        ("Wingdings 2", "F052", "☑"),
        ("Arial", "2265", "≥"),
        ("Unknown", "F0AA", ""),
        ("Symbol", "no code", ""),
    ],
)
def test_symbols_of_word_are_the_characters_that_they_show(font: str, code: str, shown: str) -> None:
    def run(inner: str, properties: str = "") -> str:
        return f"<w:r><w:rPr>{properties}</w:rPr>{inner}</w:r>"

    around = run("<w:t>a</w:t>"), run("<w:t>b</w:t>")

    assert _word(around[0] + run(f'<w:sym w:font="{font}" w:char="{code}"/>') + around[1]) == f"a{shown}b"
    if code.startswith("F0"):
        text = run(f"<w:t>&#x{code};</w:t>", f'<w:rFonts w:ascii="{font}"/>')
        assert _word(around[0] + text + around[1]) == f"a{shown}b"


@pytest.mark.fault("D19")
@pytest.mark.parametrize(
    ("state", "shown"), [('<w14:checked w14:val="1"/>', "☑"), ('<w14:checked w14:val="0"/>', "☐"), ("", "☐")]
)
def test_a_box_to_tick_shows_its_state_whatever_stands_in_it(state: str, shown: str) -> None:
    namespace = "http://schemas.microsoft.com/office/word/2010/wordml"
    box = f'<w:sdtPr><w14:checkbox xmlns:w14="{namespace}">{state}</w14:checkbox></w:sdtPr>'
    control = f"<w:sdt>{box}<w:sdtContent><w:r><w:t>☒</w:t></w:r></w:sdtContent></w:sdt>"

    assert _word(f"{control}<w:r><w:t>Insured</w:t></w:r>") == f"{shown}Insured"


def test_runs_of_old_workbooks_are_raised_or_lowered_by_their_fonts() -> None:
    book = SimpleNamespace(font_list=[SimpleNamespace(escapement=place) for place in (0, 1, 2)])

    assert clean(_placed(book, "Q is 10234 CO2", [(7, 1), (9, 0), (13, 2)])) == "Q is 10²³4 CO₂"
    assert _placed(book, "plain", []) == "plain"
