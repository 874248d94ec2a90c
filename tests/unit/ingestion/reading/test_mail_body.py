"""The body of a mail: quoted text is separated from new text."""

import random

import pytest

from index.documents.structure import check_blocks
from ingestion.reading.mail_body import add_body, text_of_html
from ingestion.reading.text_builder import TextBuilder


def blocks(body: str) -> list[tuple[str, str]]:
    """Return (kind and depth of a quotation, text) of each block."""
    builder = TextBuilder()
    add_body(builder, body)
    text, found = builder.finished()
    check_blocks(found, text)
    return [
        (f"quote {block.level}" if block.kind == "quote" else block.kind, text[block.start : block.end].strip())
        for block in found
    ]


def test_lines_behind_marks_are_quotations() -> None:
    assert blocks("Yes.\n> Is it?\n>> It was.\n>> Once.\n\nNo.\n") == [
        ("paragraph", "Yes."),
        ("quote 0", "> Is it?"),
        ("quote 1", "> > It was.\n> > Once."),
        ("paragraph", "No."),
    ]


@pytest.mark.parametrize(
    "said",
    [
        "On Mon, Jun 2, 2025 at 10:00 AM Ann Gale <ann@example.org> wrote:",
        "On Mon, Jun 2, 2025 at 10:00 AM Ann Gale\n<ann@example.org> wrote:",
        "Am 02.06.2025 um 10:00 schrieb Ann Gale:",
        "Le 2 juin 2025 à 10:00, Ann Gale a écrit :",
        "Ann Gale writes:",
    ],
)
def test_who_is_quoted_belongs_to_the_quotation(said: str) -> None:
    found = blocks(f"I agree.\n\n{said}\n> The tide is high.\n\nAnd so it is.")

    assert [kind for kind, _ in found] == ["paragraph", "quote 0", "quote 0", "paragraph"]
    assert "> The tide is high." in found[2][1]


def test_a_thread_without_marks_reaches_to_the_end() -> None:
    found = blocks("I agree.\n\nOn 2 June 2025, Ann Gale wrote:\n\nThe tide is high.\n\nCome soon.\n")

    assert [kind for kind, _ in found] == ["paragraph", "quote 0", "quote 0", "quote 0"]


@pytest.mark.parametrize(
    "head",
    [
        "-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Bo\nSubject: Tide",
        "---------- Forwarded message ---------\nFrom: Ann\nDate: Monday\nSubject: Tide",
        "-----Ursprüngliche Nachricht-----\nVon: Ann\nGesendet: Montag\nAn: Bo\nBetreff: Tide",
        "________________________________\nFrom: Ann\nSent: Monday\nTo: Bo\nSubject: Tide",
        "From: Ann\nSent: Monday\nTo: Bo\nSubject: Tide",
        "From: Ann\n\nSent: Monday\n\nTo: Bo\n\nSubject: Tide",
    ],
)
def test_the_mail_that_is_answered_reaches_to_the_end(head: str) -> None:
    found = blocks(f"I agree.\n\n{head}\n\nThe tide is high.\n\nCome soon.")

    assert found[0] == ("paragraph", "I agree.")
    assert {kind for kind, _ in found[1:]} == {"quote 0"}
    assert found[-1][1] == "> Come soon."


@pytest.mark.parametrize(
    "text",
    [
        "On the 2nd of June we wrote: nothing at all.",
        "From: here it is two miles.",
        "-----\nA rule.",
        "He wrote:\n\nand wrote.",
    ],
)
def test_prose_is_no_quotation(text: str) -> None:
    assert not any(kind.startswith("quote") for kind, _ in blocks(text))


def test_a_signature_is_a_paragraph_up_to_the_next_quotation() -> None:
    found = blocks("Yes.\n\n-- \nAnn Gale\n\n- Harbour Office\n> Is it?")

    assert found == [
        ("paragraph", "Yes."),
        ("paragraph", "--\nAnn Gale\n\n- Harbour Office"),
        ("quote 0", "> Is it?"),
    ]


def test_lists_in_a_mail_are_items() -> None:
    assert [kind for kind, _ in blocks("We need:\n\n- rope\n- paint\n")] == ["paragraph", "item", "item"]


def test_every_word_of_an_html_body_is_kept() -> None:
    quoted = "<blockquote>The tide is high, and it will stay so until the evening.</blockquote>"
    html = f"<div>I agree.</div><div>On 2 June 2025, Ann wrote:</div>{quoted}<footer>Sent from a boat</footer>"

    text = text_of_html(html)

    for words in ("I agree.", "The tide is high", "until the evening", "Sent from a boat"):
        assert words in text


def test_any_body_is_tiled_and_keeps_its_words() -> None:
    chance = random.Random(5)
    lines = [
        "", "", "Words of a line.", "> quoted", ">> twice", "-- ", "--", "On 2 June Ann wrote:", "From: Ann", "To: Bo",
        "Subject: Tide", "-----Original Message-----", "- item", "a | b | c", "key: value", "```", "# Heading",
        "    code",
    ]  # fmt: skip
    for _ in range(500):
        body = "\n".join(chance.choices(lines, k=chance.randint(1, 25)))
        shown = "".join(text for _, text in blocks(body))
        assert shown.count("Words") == body.count("Words")
