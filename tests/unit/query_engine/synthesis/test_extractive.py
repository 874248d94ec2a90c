"""The quoting synthesizer, over a reader that compares words: which window of a document it shows."""

import threading
from collections.abc import Sequence
from dataclasses import replace

from index.documents.store import Document
from index.documents.structure import Block, Structure
from query_engine.reader.reading import LeafReader
from query_engine.reader.window import MAX_CHARS
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.extractive import ExtractiveSynthesizer
from tests.fakes.engines import a_passage
from tests.fakes.reading import WordReader, a_leaf_reader
from tests.fakes.words import FakeWords

BETZ = a_passage(
    "wind.md",
    "# Rotors\n\nWind is air that moves. Albert Betz published the limit of a rotor in 1919.\n\n"
    "# Towers\n\nTowers are made of steel or concrete.",
)
COOKING = a_passage("cook.md", "Boil the pasta for nine minutes. Drain it well and add the sauce.")


def write(question: str, passages: Sequence[Passage], max_chars: int = MAX_CHARS) -> tuple[str, Citations]:
    reader = LeafReader(WordReader(), lambda _: None, FakeWords(), max_chars=max_chars)
    synthesizer, citations = ExtractiveSynthesizer(reader), Citations()
    return "".join(synthesizer.write(question, passages, citations, threading.Event())), citations


def test_the_section_that_answers_is_shown_and_no_other() -> None:
    text, citations = write("Who published the limit of a rotor?", [COOKING, BETZ])

    assert "Albert Betz published the limit of a rotor in 1919." in text
    assert text.endswith("[1]")
    assert "Towers" not in text
    assert "pasta" not in text
    assert [citation.doc_id for citation in citations.all()] == ["wind.md"]


def test_a_quote_is_the_text_at_its_span_and_the_answer_shows_it() -> None:
    text, citations = write("Who published the limit of a rotor?", [BETZ, COOKING])

    (citation,) = citations.all()
    assert BETZ.text[citation.start - BETZ.start : citation.end - BETZ.start] == citation.quote
    assert text == f"{citation.quote} [1]"


def test_a_citation_marks_the_sentence_that_answers() -> None:
    text = "Albert Betz published the limit of a rotor in 1919. The limit of a rotor is 59 per cent of the wind."
    _, citations = write("Who published the limit of a rotor?", [a_passage("wind.md", text)])

    (citation,) = citations.all()
    assert citation.quote == text
    marked = [citation.quote[start - citation.start : end - citation.start] for start, end in citation.marks]
    assert marked == ["Albert Betz published the limit of a rotor in 1919."]


def test_a_window_that_reaches_beyond_its_passage_is_cited_as_it_stands() -> None:
    text = (
        "# Rotor\n\nThe rotor limit is 59 per cent. The rotor limit holds for every rotor. "
        "It is the rotor limit of all.\n"
    )
    start = text.index("The rotor limit holds")
    found = replace(a_passage("a.md"), start=start, end=start + 41, text=text[start : start + 41], hits=())
    document = Document("a.md", "", text).structured()
    reader, citations = LeafReader(WordReader(), lambda _: document, FakeWords()), Citations()
    "".join(ExtractiveSynthesizer(reader).write("What is the rotor limit?", [found], citations, threading.Event()))

    (citation,) = citations.all()
    assert citation.start < start
    assert text[citation.start : citation.end] == citation.quote


COMMAND = """# Backup

To restore a snapshot of the archive, run:

```console
$ tool restore --target /tmp  'a|b'
```

Everything is put back <in place>, see https://example.org/restore.

# Other

Nothing here.
"""


def test_a_window_runs_on_to_the_command_which_stays_byte_for_byte() -> None:
    text, citations = write("How do I restore a snapshot of the archive?", [a_passage("m.md", COMMAND)])

    assert "```console\n$ tool restore --target /tmp  'a|b'\n```" in text
    assert "<in place>, see https://example.org/restore." in text
    assert "Nothing here" not in text
    assert all(citation.quote in COMMAND for citation in citations.all())


def test_code_without_fences_of_its_own_gets_some_and_its_quote_none() -> None:
    said, code = "To restore a snapshot:\n\n", "    tool restore --all\n    tool check\n"
    blocks = [
        Block("paragraph", 0, len(said), (0, len(said) - 2)),
        Block("code", len(said), len(said + code), (len(said), len(said + code))),
    ]
    document = Document("m.rst", "", said + code, structure=Structure(blocks))
    passage = replace(a_passage("m.rst", said + code), start=0, end=len(said + code), hits=())
    reader, citations = LeafReader(WordReader(), lambda _: document, FakeWords()), Citations()
    text = "".join(
        ExtractiveSynthesizer(reader).write("How do I restore a snapshot?", [passage], citations, threading.Event())
    )

    assert "```\n    tool restore --all\n    tool check\n```\n\n[1]" in text
    assert citations.all()[0].quote == (said + code).rstrip()


STEPS = "# Camera\n\nTo book a camera:\n\n" + "".join(
    f"{number}. Step {number} of booking a camera says what you have to do next, in some words.\n"
    for number in range(1, 13)
)


def test_steps_are_shown_whole_with_the_line_that_leads_in() -> None:
    text, _ = write("How do I book a camera?", [a_passage("c.md", STEPS)])

    assert text.startswith("To book a camera:")
    assert all(f"{number}. Step {number} " in text for number in range(1, 13))


def test_what_is_too_long_is_shown_from_what_answers_on() -> None:
    rows = "".join(f"- Room number {number} costs {number} pounds a day and has a window.\n" for number in range(1, 80))
    text, citations = write("What does the room number 40 cost?", [a_passage("r.md", f"# Rooms\n\n{rows}")])

    assert "- Room number 40 costs 40 pounds" in text
    assert "Room number 79" not in text
    assert len(citations.all()[0].quote) <= 1500


def test_a_long_section_is_cut_to_the_length_that_is_set() -> None:
    section = "\n\n".join(f"Year {number} says that the rotor limit has been known for years." for number in range(30))
    long, _ = write("What about the rotor limit in year 7?", [a_passage("a.md", section)])
    short, _ = write("What about the rotor limit in year 7?", [a_passage("a.md", section)], max_chars=200)

    assert "Year 7 " in short
    assert len(short) <= 210
    assert len(short) < len(long) <= 710


def test_neither_a_heading_nor_a_question_is_an_answer() -> None:
    passage = a_passage("faq.md", "# Who publishes the rotor limit?\n\nAlbert Betz did, in 1919.\n")

    assert write("Who publishes the rotor limit?", [passage])[0] == "Albert Betz did, in 1919. [1]"


SETTINGS = """# Reader

Settings of the reader.

## READER_LANGUAGES

: Languages that the reader knows beside English.

    ```bash
    reader start --with tur
    ```

    Separate several languages by spaces.

## Beside the wall

The clock hangs there.
"""


def test_the_name_of_a_setting_is_shown_and_indented_text_is_not_taken_for_code() -> None:
    text, citations = write("Which languages does the reader know?", [a_passage("s.md", SETTINGS)])

    assert "## READER_LANGUAGES\n\nLanguages that the reader knows" in text
    assert "\n```bash\nreader start --with tur\n```\n" in text
    assert "\nSeparate several languages" in text
    assert citations.all()[0].quote in SETTINGS


def test_a_heading_of_everyday_words_is_left_to_the_citation() -> None:
    text, _ = write("Where does the clock hang?", [a_passage("s.md", SETTINGS)])

    assert text == "The clock hangs there. [1]"


def test_rows_of_a_table_come_with_the_names_of_its_columns() -> None:
    table = "# Prices\n\n| Bike | Day |\n|---|---|\n| City bike | 18 |\n| Cargo bike | 45 |\n"
    text, _ = write("What does a cargo bike cost a day?", [a_passage("p.md", table)])

    assert "| Bike | Day |\n| --- | --- |\n" in text
    assert "| Cargo bike | **45** |\n\n[1]" in text


def test_a_documents_own_marks_of_references_are_no_citations() -> None:
    text, citations = write("What is the rotor limit?", [a_passage("a.md", "The rotor limit is 59 per cent [12].")])

    assert text == "The rotor limit is 59 per cent (12). [1]"
    assert citations.all()[0].quote == "The rotor limit is 59 per cent [12]."


def test_nothing_is_written_without_text_or_after_a_stop() -> None:
    stop = threading.Event()
    stop.set()

    assert write("What is the rotor limit?", [a_passage("a.md", "# Rotor\n")])[0] == ""
    synthesizer = ExtractiveSynthesizer(a_leaf_reader())
    assert not list(synthesizer.write("What is the rotor limit?", [BETZ], Citations(), stop))


NORTH = a_passage("north.md", "# North quay\n\nThe weighing room is open from 9 to 17.")
SOUTH = a_passage("south.md", "# South quay\n\nThe weighing room is open from 12 to 20.")


def test_two_documents_that_answer_alike_are_both_quoted_unless_the_question_names_one() -> None:
    both, cited = write("When is the weighing room open?", [NORTH, SOUTH, COOKING])
    one, _ = write("When is the weighing room of the south quay open?", [NORTH, SOUTH])

    assert {one.doc_id for one in cited.all()} == {"north.md", "south.md"}
    assert both.endswith("[2]")
    assert "9 to 17" not in one
