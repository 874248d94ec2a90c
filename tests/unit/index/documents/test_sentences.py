"""Sentence spans: what ends a sentence, which lines are blocks by themselves."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.documents.sentences import MAX_CHARS, split_sentences

HOME = Path(__file__).parents[4]


def cut(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns. It stops.", ["It turns.", "It stops."]),
        ("Dr. Smith met J. R. Lee. They left.", ["Dr. Smith met J. R. Lee.", "They left."]),
        (
            "It makes 14.0 GW, i.e. more than U.S. plants. Good.",
            ["It makes 14.0 GW, i.e. more than U.S. plants.", "Good."],
        ),
        ('"Stop!" She ran.', ['"Stop!"', "She ran."]),
        ("wrapped\nover lines. Next", ["wrapped\nover lines.", "Next"]),
        ("# Head\nBody text here.", ["Head", "Body text here."]),
        ("- one thing\n- two things. Really.", ["one thing", "two things.", "Really."]),
        ("one paragraph\n\nand another", ["one paragraph", "and another"]),
        ("| a | b |\n| c | d |", ["| a | b |", "| c | d |"]),
        ("See Fig. 3 for it. Done.", ["See Fig. 3 for it.", "Done."]),
        ("‣ One thing\n‣ Another", ["One thing", "Another"]),
        (
            "请在入口处购票。馆内禁止吸烟！「为什么？」潮湿。",
            ["请在入口处购票。", "馆内禁止吸烟！", "「为什么？」", "潮湿。"],
        ),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_text_is_cut_at_sentences_and_lines(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_headings_and_lines_are_told_from_prose() -> None:
    text = "# Only a heading\n| a | b |\n\nno full stop\n\nA sentence."

    assert [sentence.kind for sentence in split_sentences(text)] == ["heading", "line", "line", "prose"]


def test_a_run_on_is_cut_at_its_lines() -> None:
    pieces = cut("\n".join(f"row {i} of a table without any stops" for i in range(60)))

    assert len(pieces) > 1
    assert all(len(piece) <= MAX_CHARS for piece in pieces)
    assert all(piece.startswith("row ") for piece in pieces)


@given(st.text(st.characters(codec="utf-8"), max_size=400))
def test_spans_are_in_order_and_never_overlap(text: str) -> None:
    last = 0
    for sentence in split_sentences(text):
        assert last <= sentence.start < sentence.end <= len(text)
        assert text[sentence.start : sentence.end].strip() == text[sentence.start : sentence.end]
        last = sentence.end


def test_a_long_run_of_stops_costs_no_more_than_its_length() -> None:
    # In a process that can be killed: reading each stop of the run again took minutes.
    program = "from index.documents.sentences import split_sentences; print(len(split_sentences('.' * 200_000)))"

    run = subprocess.run(
        [sys.executable, "-c", program], cwd=HOME, capture_output=True, text=True, timeout=60, check=True
    )

    assert int(run.stdout) > 0


@pytest.mark.parametrize(
    "line",
    [
        "1984. Itaipu delivers its first power.",
        "12 March 1984. Itaipu delivers its first power.",
        "1984–1991. Turbines follow one by one.",
        "March 12, 1984. Turbines follow one by one.",
        "It opened on 12. March 2024 after years.",
        "It opened on 5. Mai and closed soon.",
        "The price was EUR 1.234,56 in all.",
    ],
)
def test_a_date_or_number_stays_in_its_sentence(line: str) -> None:
    assert line in cut(f"It begins here.\n{line}\nIt goes on.")


@pytest.mark.parametrize(
    "sentences",
    [
        ["The largest group is 12.", "Children count.", "The fee is 5."],
        ["The tap is open until 2:30 a.m.", "Boxes stand outside."],
        ["It is open until 5 p.m. Monday to Friday."],
        ["It is handout no. 12 of the guild."],
        ["1. Open the tap.", "Then wait."],
        ["Section 3. The tenant pays."],
        ["Es war im 19. Jahrhundert anders.", "Heute nicht."],
        ["Es gibt Birnen usw. über das ganze Jahr.", "Überall."],
        ["Они живут в домах и т.д. в городе.", "Им нравится."],
        ["Gruppen zahlen bzw. Firmen zahlen inkl. Steuer den Preis.", "Kinder nicht."],
        ["Die Wohnung Lindenstr. 14 ist frei."],
        ["Es gilt Abs. 2 und Nr. 7 der Ordnung."],
        ["De huurder betaalt kosten, bijv. Gas en licht."],
        ["Живёт на ул. Мира, у А. Петрова."],
        ["The dam was built until 1984.", "Then it delivered power."],
        ["Director: Orla Penhallow, ext. 1100.", "Ring before ten."],
        ['So it went on...!"', "Then it stopped."],
    ],
)
def test_a_stop_behind_a_number_or_an_abbreviation(sentences: list[str]) -> None:
    assert cut(" ".join(sentences)) == sentences


def test_a_run_on_is_not_cut_inside_a_number() -> None:
    text = "It cost 1 234 567.89 EUR and then " * 60
    cuts = {place for one in split_sentences(text) for place in (one.start, one.end)}
    numbers = [match.span() for match in re.finditer(r"1 234 567\.89 EUR", text)]

    assert len(cuts) > 4
    assert not any(start < place < end for place in cuts for start, end in numbers)


def test_hindi_and_arabic_sentences_end_at_their_own_stops() -> None:
    assert [one.kind for one in split_sentences("यह एक वाक्य है। यह दूसरा है।")] == ["prose", "prose"]
    assert len(split_sentences("متى يفتح المتحف؟ يفتح الساعة العاشرة.")) == 2
