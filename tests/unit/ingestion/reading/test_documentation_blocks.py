"""Whatever a file of documentation holds, its blocks tile its text, and damage ends in a refusal."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from errors import UnreadableError
from index.documents.store import Document
from index.documents.structure import check_blocks
from ingestion.reading.asciidoc import read_asciidoc
from ingestion.reading.notebook import read_notebook
from ingestion.reading.org import read_org
from ingestion.reading.rst import read_rst
from ingestion.reading.text import clean
from ingestion.reading.xml import read_xml

PIECES: dict[Callable[[bytes, str], Document], str] = {
    read_rst: "= - * + | .. :: : ` `` _ [#] term T\n= ====\n +---+ |a| :r:`x` .. note:: .. table:: --opt >>> \\",
    read_asciidoc: "= == ==== ---- .... |=== | * ** . + term:: [NOTE] [source] :a: {a} `` _ <<x>> "
    "NOTE: a:b[c] //// -- // 2+|",
    read_org: "* ** - + 1. :: #+begin_src #+end_src #+begin_quote #+end_quote | |-- : # :END: "
    ":PROPERTIES: [[a][b]] =x= [fn:1]",
}


def check(reader: Callable[[bytes, str], Document], data: bytes) -> None:
    try:
        document = reader(data, "a.b")
    except UnreadableError:
        return
    check_blocks(document.structure.blocks, document.text)
    assert document.text == clean(document.text).strip("\n")
    assert document.title


@pytest.mark.parametrize("reader", PIECES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_mixture_of_marks(reader: Callable[[bytes, str], Document], data: st.DataObject) -> None:
    pieces = st.sampled_from(
        [*PIECES[reader].split(" "), "word", "two words", "\n", "\n\n", "\n  ", "\t", " ", "é\u200b\u00a0"]
    )
    check(reader, "".join(data.draw(st.lists(pieces, max_size=60))).encode())


NAMES = st.sampled_from(
    "book chapter section title para p table tgroup tbody row entry td list list-item dl dt dd ref note x".split()
)
TREES = st.recursive(
    st.sampled_from(["text", " ", "a &lt; b", "&me;", ""]),
    lambda inner: st.builds(
        lambda name, children: f"<{name}>{''.join(children)}</{name}>", NAMES, st.lists(inner, max_size=4)
    ),
    max_leaves=25,
)


@settings(max_examples=60, deadline=None)
@given(TREES)
def test_any_tree(inner: str) -> None:
    check(read_xml, f"<article>{inner}</article>".encode())


@pytest.mark.parametrize("reader", [*PIECES, read_xml, read_notebook])
@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes(reader: Callable[[bytes, str], Document], data: bytes) -> None:
    check(reader, data)
