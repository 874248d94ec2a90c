"""Web pages."""

import pytest

from index.documents.store import Document
from index.documents.structure import Block, check_blocks
from ingestion.reading.html import read_html, read_html_lines

PARAGRAPH = "Falling water has turned mills for two thousand years, and turbines for one hundred and forty. "
PAGE = f"""<!DOCTYPE html><html><head><meta charset="utf-8"><title>Hydro power - A site</title>
<link rel="Canonical" href="https://example.org/hydro"><style>.css-x{{color:red}}</style></head>
<body><nav><ul><li><a href="/">Home</a></li><li><a href="/wind">Wind</a></li></ul></nav>
<main><h1>Hydro <b>power</b></h1><p>{PARAGRAPH * 3}The head<sup>[12]</sup> is the height.</p>
<h2>Turbines<span class="mw-editsection">[edit]</span></h2>
<table><tr><th>Type</th><th>Head</th></tr><tr><td>Pelton</td><td>Above 300&nbsp;m</td></tr></table>
<ul><li>First<ul><li>Inner <i>one</i></li></ul></li><li>Second</li></ul><ol><li>Alpha</li><li>Beta</li></ol>
<p>{PARAGRAPH * 2}A <b>bold</b> word and x<sup>2</sup>.</p></main>
<footer><p>All rights reserved</p></footer><script>var secret = "script text";</script></body></html>"""


def test_a_page_gives_its_main_text_with_headings_tables_and_lists() -> None:
    document = read_html(PAGE.encode(), "water/hydro.html")
    lines = document.text.split("\n")

    assert (document.title, document.url) == ("Hydro power", "https://example.org/hydro")
    assert lines[0] == "# Hydro power"
    assert "## Turbines" in lines
    assert "\nType | Head\n--- | ---\nPelton | Above 300 m\n" in document.text
    assert "\n- First\n  - Inner one\n- Second\n" in document.text
    assert "\n1. Alpha\n2. Beta\n" in document.text
    assert "A bold word and x²." in document.text


@pytest.mark.parametrize("noise", ["Home", "rights reserved", "script text", "css-x", "[12]", "[edit]"])
def test_menus_scripts_and_footnote_marks_are_left_out(noise: str) -> None:
    assert noise not in read_html(PAGE.encode(), "a.html").text


def test_without_a_title_the_first_heading_is_it_and_without_both_the_file_name() -> None:
    assert read_html(b"<html><body><h1>Tidal</h1><p>Some text.</p></body></html>", "a_b.html").title == "Tidal"
    assert read_html(b"<html><body><p>Some text.</p></body></html>", "a_b.html").title == "a b"


def test_a_canonical_address_that_is_not_http_is_left_out() -> None:
    page = PAGE.replace("https://example.org/hydro", "javascript:alert(1)")

    assert read_html(page.encode(), "a.html").url is None


@pytest.mark.parametrize(
    ("declaration", "encoding"),
    [
        ('<meta charset="iso-8859-1">', "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">', "cp1251"),
        ('<?xml version="1.0" encoding="utf-8"?>', "utf-8"),
        ('<meta charset="utf-16">', "utf-8"),
    ],
)
def test_the_declared_encoding_is_used_as_browsers_do(declaration: str, encoding: str) -> None:
    word = "“дом”" if encoding != "cp1252" else "“Größe”"
    page = f"<html><head>{declaration}</head><body><p>A word: {word} and that is all there is.</p></body></html>"
    if declaration.startswith("<?xml"):
        page = declaration + page.replace(declaration, "")

    assert word in read_html(page.encode(encoding), "a.html").text


def test_control_characters_do_no_harm() -> None:
    page = f"<html><body><p>{PARAGRAPH}A\0 w\x01o\x1frd\ufffe &#11;&#x1;&#31;&#65; end.</p></body></html>"

    assert read_html(page.encode(), "a.html").text.endswith("A word A end.")


def test_nesting_that_still_can_be_read_is_read() -> None:
    page = "<html><body>" + "<div>" * 400 + f"<p>{PARAGRAPH}</p>" + "</div>" * 400 + "</body></html>"

    assert PARAGRAPH.strip() in read_html(page.encode(), "a.html").text


def test_headings_stay_where_no_element_holds_the_main_text() -> None:
    menu = '<nav><h2>Menu</h2><a href="/">Home</a></nav>'
    parts = f"<h2>Booking</h2><ol><li>Sign in.</li><li>Choose a day.</li></ol><h3>Refunds</h3><p>{PARAGRAPH}</p>"
    page = (
        f"<html><body>{menu}<h1>Help</h1><p>{PARAGRAPH * 3}</p>{parts}<footer><h2>About us</h2></footer></body></html>"
    )
    text = read_html(page.encode(), "a.html").text

    assert "\n## Booking\n\n1. Sign in.\n2. Choose a day.\n\n### Refunds\n" in text
    assert "Menu" not in text
    assert "About us" not in text


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><th>Badge</th><td>Meaning</td></tr><tr><td>Dot</td><td>Well</td></tr>",
        "<tr><td>Badge</td><td>Meaning</td></tr><tr><td>Dot</td><td>Well</td></tr>",
        "<tr><th colspan='2'>Badges</th></tr><tr><td>Dot</td><td>Well</td></tr>",
        "<tr><th>Badge</th><th>Meaning</th></tr>",
    ],
)
def test_only_a_row_of_header_cells_with_rows_below_gets_a_line(rows: str) -> None:
    page = f"<html><body><main><p>{PARAGRAPH * 3}</p><table>{rows}</table><p>{PARAGRAPH}</p></main></body></html>"

    assert "---" not in read_html(page.encode(), "a.html").text


@pytest.mark.fault("D17")
@pytest.mark.parametrize(
    ("head", "names"),
    [
        (
            "<tr><th rowspan=2>Mill</th><th colspan=2>2021</th><th colspan=2>2022</th></tr>"
            "<tr><th>Flour</th><th>Bran</th><th>Flour</th><th>Bran</th></tr>",
            "Mill | 2021 Flour | 2021 Bran | 2022 Flour | 2022 Bran",
        ),
        (
            "<thead><tr><td></td><td colspan=4>Tonnes</td></tr>"
            "<tr><td>Mill</td><td>Wheat</td><td>Rye</td><td>Oats</td><td>Maize</td></tr></thead>",
            "Mill | Tonnes Wheat | Tonnes Rye | Tonnes Oats | Tonnes Maize",
        ),
        (
            "<tr><th colspan=5>Mills of the valley</th></tr>"
            "<tr><th>Mill</th><th>Wheat</th><th>Rye</th><th>Oats</th><th>Maize</th></tr>",
            "Mill | Wheat | Rye | Oats | Maize",
        ),
    ],
    ids=["years", "td", "title"],
)
def test_names_of_columns_in_several_rows_are_joined_and_a_title_names_none(head: str, names: str) -> None:
    rows = "<tr><td>Asp</td><td>7</td><td>1</td><td>8</td><td>2</td></tr>" * 2
    page = f"<html><body><main><p>{PARAGRAPH * 3}</p><table>{head}{rows}</table><p>{PARAGRAPH}</p></main></body></html>"
    document = read_html(page.encode(), "a.html")

    assert f"{names}\n--- | --- | --- | --- | ---\nAsp | 7 | 1 | 8 | 2\n" in document.text
    assert [block.columns for block in document.structure.blocks if block.columns] == [tuple(names.split(" | "))] * 2
    assert ("Mills of the valley" in document.text) == ("Mills of the valley" in head)


@pytest.mark.fault("D17")
@pytest.mark.parametrize(
    ("source", "shown", "hidden"),
    [
        ("<p>It costs <s>80</s> 60 crowns.</p>", "It costs 60 crowns.", "80"),
        ("<p>Open <del>Mondays</del><ins>Tuesdays</ins> and <strike>noon</strike> later.</p>",
         "Open Tuesdays and later.", "Mondays"),
        ("<p>Open <time datetime='07:30'>half past seven</time> on.</p>", "Open half past seven on.", "07:30"),
        ("<p>Before.</p><p hidden>A draft.</p><p>After.</p>", "Before.\n\nAfter.", "draft"),
        ("<body style='display:none'><p>Shown by a script.</p>", "Shown by a script.", "none"),
        ("<p>Kept.</p><div style='margin: 0; display : none'>A draft.</div>", "Kept.", "draft"),
        ("<pre><del>- old line</del>\n+ new line</pre>", "- old line", "<del>"),
        ("<figure><img src=a.png alt='Weir seen from above'></figure>", "Weir seen from above", "a.png"),
        ("<figure><picture><img src=a.png alt='Weir'></picture><figcaption>Fig. 2: The <b>weir</b> in May."
         "</figcaption></figure>", "Fig. 2: The weir in May.", "Weir\n"),
        ("<figure><img alt='The old weir'><figcaption>The old weir, 1931</figcaption></figure>",
         "The old weir, 1931", "weir\n"),
        ("<p><img src=b.png alt='Plan of the lock'></p>", "Plan of the lock", "b.png"),
        ("<figure><img alt=''><figcaption><p>Two gates.</p><p>One sluice.</p></figcaption></figure>",
         "Two gates.\n\nOne sluice.", "img"),
        ("<p><img alt='IMG_0042 copy.JPG'></p><p>Shown here.</p>", "Shown here.", "0042"),
        ("<p><img alt='logo'></p><p>Shown here.</p>", "Shown here.", "logo"),
        ("<p>Press <img alt='round red button'> twice.</p>", "Press twice.", "round"),
        ("<p><a href=x><img alt='Buy our tickets'></a></p><p>Shown here.</p>", "Shown here.", "tickets"),
        ("<figure><table><tr><th>Gate</th><th>Width</th></tr><tr><td>East</td><td>7 m</td></tr></table>"
         "<figcaption>Widths of gates</figcaption></figure>", "Widths of gates", "<"),
    ],
)  # fmt: skip
def test_captions_and_words_for_images_are_read_and_what_is_struck_is_not(source: str, shown: str, hidden: str) -> None:
    page = f"<html><body><main><p>{PARAGRAPH * 3}</p>{source}<p>{PARAGRAPH * 2}</p></main></body></html>"
    text = read_html(page.encode(), "a.html").text

    assert shown in text
    assert hidden not in text


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Falls - Wiki</title>", "<h1>Falls</h1>", "Falls"),
        ("<title>Wiki | Falls</title>", "<h1>Falls</h1>", "Falls"),
        ('<title>The falls – Wiki</title><meta property="og:site_name" content="Wiki">', "<h1>Falls</h1>", "The falls"),
        ("<title>Falls - height and width - Wiki</title>", "<h1>Falls - height and width</h1>", None),
        ("<title>Falls - height</title>", "<h1>Of water</h1>", "Falls - height"),
        ("<title>Prices 2024-2025</title>", "", "Prices 2024-2025"),
    ],
)
def test_the_name_of_the_site_is_no_part_of_the_title(head: str, heading: str, title: str | None) -> None:
    page = f"<html><head>{head}</head><body>{heading}<p>{PARAGRAPH * 3}</p></body></html>"

    assert read_html(page.encode(), "a.html").title == (title or "Falls - height and width")


@pytest.mark.parametrize(
    ("title", "kept"),
    [
        ("Plan your visit | Wychmoor Salt Works", True),
        ("Quillbrook Leisure Centre - Plan your visit", True),
        ("Plan your visit - A guide to energy", False),
        ("Plan your visit - Wiki", False),
        ("Salt Works - Open County Encyclopedia", False),
    ],
)
def test_a_page_without_a_name_keeps_that_of_its_site(title: str, kept: bool) -> None:
    heading = "Salt Works" if "Salt Works -" in title else "Plan your visit"
    page = f"<html><head><title>{title}</title></head><body><h1>{heading}</h1><p>{PARAGRAPH * 3}</p></body></html>"

    assert read_html(page.encode(), "a.html").title == (title if kept else heading)


def test_the_only_heading_of_a_short_page_stays() -> None:
    page = (
        "<html><head><title>Contacts</title></head><body><h1>Who is who</h1><table><tr><th>Name</th><th>Phone</th></tr>\
<tr><td>Ana</td><td>12</td></tr></table><p>Call the porter at night, who has a list of all numbers.</p></body></html>"
    )

    assert read_html(page.encode(), "a.html").text.startswith("# Who is who\n\nName | Phone\n--- | ---\nAna | 12")


def test_of_all_lines_a_line_end_between_links_begins_none() -> None:
    page = b"<body><p>See <a>one</a>\n<a>two</a>\n<b>three</b> end.</p><p>Next.</p></body>"

    assert read_html_lines(page, "a.html").text == "See one two three end.\nNext."


def blocks_of(main: str) -> tuple[str, list[Block]]:
    page = f"<html><body><main><h1>Top</h1><p>{PARAGRAPH * 3}</p>{main}<p>{PARAGRAPH}</p></main></body></html>"
    document = read_html(page.encode(), "a.html")
    check_blocks(document.structure.blocks, document.text)
    return document.text, list(document.structure.blocks)


@pytest.mark.parametrize(
    ("main", "text"),
    [
        ("<dl><dt>Hard bounce</dt><dd>It came back.</dd><dt>Spam</dt><dt>Junk</dt><dd>Unasked.</dd><dd>Or more.</dd>"
         "<dt>Rest</dt></dl>", "- Hard bounce: It came back.\n- Spam, Junk: Unasked.\n- Or more.\n- Rest"),
        ("<table><caption>Who is who</caption><thead><tr><th>Name</th>\n<th>Print</th>"
         "<th><a href='?sort'>Phone</a></th><th>E-mail</th><th>Comments</th></tr></thead>"
         "<tr><td>Ana</td><td>yes</td><td>12</td><td>a@b.example</td><td></td>"
         "</tr><tr><td>Bo</td><td>no</td><td>13</td><td>b@b.example</td><td>Share</td></tr></table>",
         "Who is who\nName | Print | Phone | E-mail | Comments\n--- | --- | --- | --- | ---\n"
         "| Ana | yes | 12 | a@b.example |  |\nBo | no | 13 | b@b.example | Share"),
        ("<table><tr><th></th><th>2024</th><th>2025</th></tr><tr><th>Sales</th><td>10</td><td>11</td></tr></table>",
         "|  | 2024 | 2025 |\n--- | --- | ---\nSales | 10 | 11"),
        ("<table><tr><th>Day</th><th>From</th><th>To</th></tr><tr><td rowspan=2>Monday</td><td>9:00</td><td>12:00</td>"
         "</tr><tr><td>14:00</td><td>18:00</td></tr><tr><td>Sunday</td><td colspan=2>closed</td></tr></table>",
         "Day | From | To\n--- | --- | ---\nMonday | 9:00 | 12:00\nMonday | 14:00 | 18:00\n| Sunday | closed |  |"),
        ("<pre>if a:\n    b = 1 | 2\n\n# no heading</pre>", "```\nif a:\n    b = 1 | 2\n\n# no heading\n```"),
        ("<pre><code class='language-py'>if <b>a</b>:\n    b = 1 | 2\n</code></pre>",
         "```py\nif a:\n    b = 1 | 2\n```"),
        ("<div class='highlight-py notranslate'><div class='highlight'><pre><span>if</span> a:<br>    b = 1 | 2<br>"
         "<button>Copy</button></pre></div></div>", "```py\nif a:\n    b = 1 | 2\n```"),
    ],
    ids=["terms", "cells", "names of rows", "spans", "code", "code in a language", "highlighted code"],
)  # fmt: skip
def test_the_text_shows_what_the_page_says(main: str, text: str) -> None:
    shown = blocks_of(main)[0].removeprefix(f"# Top\n\n{PARAGRAPH * 3}".rstrip()).removesuffix(PARAGRAPH.rstrip())

    assert shown.strip() == text


def test_a_page_that_is_one_preformatted_text_is_text() -> None:
    page = f"<html><body><pre>{PARAGRAPH}\n\n{PARAGRAPH}\n\n- item\n- another</pre></body></html>"
    document = read_html(page.encode(), "a.html")

    assert [block.kind for block in document.structure.blocks] == ["paragraph", "paragraph", "item", "item"]
    assert document.text == f"{PARAGRAPH.strip()}\n\n{PARAGRAPH.strip()}\n\n- item\n- another"


def test_cells_items_quotations_and_pairs_are_told() -> None:
    text, blocks = blocks_of(
        "<table><caption>Fleet</caption><tr><th>Boat</th><th>Seats</th></tr><tr><td>Gannet</td><td></td></tr></table>"
        "<ol><li>Sign<ul><li>here</li></ul></li></ol><dl><dt>Tide</dt><dd>It rises.</dd></dl>"
        f"<blockquote><p>{PARAGRAPH}</p><p>Twice.</p></blockquote><p>Harbour: Ness</p>"
    )
    found = [(block.kind, text[slice(*block.inner)]) for block in blocks[2:-1]]

    assert found == [
        ("caption", "Fleet"), ("row", "Boat | Seats"), ("row", "| Gannet |  |"), ("item", "Sign"), ("item", "here"),
        ("item", "Tide: It rises."), ("quote", PARAGRAPH.strip()), ("quote", "Twice."), ("pair", "Harbour: Ness"),
    ]  # fmt: skip
    rows = [block for block in blocks if block.kind == "row"]
    assert (rows[0].header, rows[1].columns) == (True, ("Boat", "Seats"))
    assert [text[slice(*cell)] for cell in rows[1].cells] == ["Gannet", ""]
    items = [block for block in blocks if block.kind == "item"]
    assert [(item.level, item.ordered) for item in items] == [(0, True), (1, False), (0, False)]


def test_two_tables_in_a_row_do_not_share_their_columns() -> None:
    rows = "<tr><td>Gannet</td><td>4</td></tr><tr><td>Tern</td><td>6</td></tr>"
    _, blocks = blocks_of(f"<table><tr><th>Boat</th><th>Seats</th></tr>{rows}</table><table>{rows}</table>")

    named = [block.columns for block in blocks if block.kind == "row"]
    assert named == [(), ("Boat", "Seats"), ("Boat", "Seats"), (), ()]


@pytest.mark.parametrize("around", ["main", "article", "div role='main'", "div class='body' role='main'", "body"])
@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("Related work", "<section id='related-work'><h2>Related work</h2>{}</section>"),
        ("Comments in code", "<div id='comments-in-code'><h2>Comments in code</h2>{}</div>"),
        ("Footer", "<section id='footer'><span id='std-footer'></span><h2>Footer</h2>{}</section>"),
        ("Sharing data", "<div class='section' id='sharing-data'>\n<h2>Sharing data<a href='#x'></a></h2>{}</div>"),
        ("Built-in tags", "<div id='s-built-in-tags'><span id='built-in-tags'></span><h2>Built-in tags</h2>{}</div>"),
        ("strip_tags()", "<section id='strip-tags'><h2><code>strip_tags()</code></h2>{}</section>"),
        ("Hidden files", "<h2 id='hidden-files'>Hidden files</h2>{}"),
        ("Market shares", "<h2><span id='Market_shares'>Market shares</span></h2>{}"),
    ],
)
def test_a_section_that_its_heading_names_stays(around: str, heading: str, section: str) -> None:
    other = f"<section id='other'><h2>Other</h2><p>{PARAGRAPH * 20}</p></section>"
    section = section.format(f"<p>{PARAGRAPH * 5}Unique.</p>")
    page = f"<body><{around}><h1>Notes</h1>{other}{section}{other}</{around.split(maxsplit=1)[0]}></body>"
    document = read_html(page.encode(), "a.html")

    assert heading in headings(document)
    assert "Unique." in document.text


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("Kin of the heron", "<section id='related'><h2>Kin of the heron</h2>{}</section>"),
        ("What it shows", "<div id='menu-bar'><div><h2>What it shows</h2></div>{}</div>"),
        ("Menus and bars", "<section id='menus-and-bars'><header><h2>Menus and bars</h2></header>{}</section>"),
        ("Banners", "<div class='sect1'><div><div><h2><a name='x'></a>Banners</h2></div></div>{}</div>"),
        ("Options", "<section class='level2 options' id='options'><h2>Options</h2>{}</section>"),
        ("Menu", "<article class='menu'><div class='menu'><h2>Menu</h2>{}</div></article>"),
    ],
)
def test_what_a_heading_opens_in_the_main_element_stays(heading: str, section: str) -> None:
    section = section.format(f"<p>{PARAGRAPH}Unique.</p>")
    page = f"<main><h1>Notes</h1><p>{PARAGRAPH * 20}</p>{section}<p>End.</p></main>"
    document = read_html(page.encode(), "a.html")

    assert heading in headings(document)
    assert "Unique." in document.text


@pytest.mark.parametrize(
    "noise",
    [
        "<nav id='x'><h2>Noise</h2><p>{}</p></nav>",
        "<aside><section id='noise'><h2>Noise</h2><p>{}</p></section></aside>",
        "<footer><section id='noise'><h2>Noise</h2><p>{}</p></section></footer>",
        "<div role='navigation'><h2>Noise</h2><p>{}</p></div>",
        "<div class='share-bar'><p>Noise</p></div>",
        "<div id='comments' class='comments-area'><h2>3 thoughts</h2><div class='comment'><p>{} Noise</p></div></div>",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_what_stands_around_the_text_is_left_out(noise: str, inside: bool) -> None:
    noise = noise.format(PARAGRAPH)
    text = f"<h1>Notes</h1><p>{PARAGRAPH * 20}</p>"
    page = f"<main>{text}{noise}<p>End.</p></main>" if inside else f"<body><main>{text}</main>{noise}</body>"

    assert "Noise" not in read_html(page.encode(), "a.html").text


@pytest.mark.parametrize(
    "noise",
    [
        "<section id='related-posts' class='related-posts'><h2>Related posts</h2><p>{} Noise</p></section>",
        "<div id='sidebar'><h2>Sidebar</h2><p>{} Noise</p></div>",
    ],
)
def test_what_stands_beside_the_main_element_is_left_out_by_its_name(noise: str) -> None:
    page = f"<body><main><h1>Notes</h1><p>{PARAGRAPH * 20}</p></main>{noise.format(PARAGRAPH)}</body>"

    assert "Noise" not in read_html(page.encode(), "a.html").text


def headings(document: Document) -> list[str]:
    return [document.text[slice(*one.inner)] for one in document.structure.blocks if one.kind == "heading"]
