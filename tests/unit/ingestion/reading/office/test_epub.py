"""Books, written out by the test."""

from ingestion.reading.office.epub import read_epub
from tests.zoo.office import make_epub

LIMIT = 10_000_000


def text_of(body: str) -> str:
    return read_epub(make_epub({"one": body}, spine=["one"]), "a.epub", LIMIT).text


def test_chapters_come_in_the_order_of_the_book_under_their_headings() -> None:
    data = make_epub(
        {"b": "<h1>Second</h1><p>Two.</p>", "a": "<p>One.</p>", "unused": "<p>No.</p>"},
        spine=["a", "b"],
        title="Of boats",
        toc='<a href="a.xhtml">First</a><a href="b.xhtml#x">Other</a>',
    )
    document = read_epub(data, "a.epub", LIMIT)

    assert document.text == "# First\n\nOne.\n\n# Second\n\nTwo."
    assert (document.title, document.metadata) == ("Of boats", {"author": "A. Writer", "language": "en"})


def test_what_a_chapter_holds_keeps_its_form() -> None:
    body = (
        "<div>Loose <b>words</b>&nbsp;here<p>A\nline<br/>and one</p></div><ol start='3'><li>Three<ul><li>inner</li>"
        "</ul></li></ol><blockquote><p>Said.</p></blockquote><pre>a\n  b</pre><img alt='A boat' src='x'/>"
        "<table><tr><th>Kind</th><th>COP</th></tr><tr><td rowspan='2'>Air</td><td>1</td></tr><tr><td>2</td></tr>"
        "</table><dl><dt>Term</dt><dd>Meaning</dd></dl>"
    )

    assert text_of(body) == (
        "Loose words here\n\nA line\nand one\n\n3. Three\n  - inner\n\n> Said.\n\n```\na\n  b\n```\n\nA boat\n"
        "Kind | COP\n--- | ---\nAir | 1\nAir | 2\n\n- Term: Meaning"
    )


def test_a_chapter_that_is_no_clean_xml_is_read() -> None:
    assert text_of("<p>One<br>two & three") == "One\ntwo & three"
