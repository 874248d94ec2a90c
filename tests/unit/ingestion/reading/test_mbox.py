"""Mailbox files: one mail after the other."""

import io

import pytest

from errors import UnreadableError
from ingestion.reading import mbox
from ingestion.reading.containers import Member
from tests.zoo.archives import make_mail, make_mbox


def read(data: bytes) -> list[bytes]:
    return [
        one.stream.read() for one in mbox.read_mbox(io.BytesIO(data), "box.mbox", len(data)) if isinstance(one, Member)
    ]


def test_mails_are_told_apart_and_named_by_their_place() -> None:
    mails = [make_mail(f"Text {number}.") for number in range(3)]
    data = make_mbox(*mails)

    found = list(mbox.read_mbox(io.BytesIO(data), "box.mbox", len(data)))

    assert [one.doc_id for one in found] == ["box.mbox#000001", "box.mbox#000002", "box.mbox#000003"]
    assert [one.strip() for one in read(data)] == [one.strip() for one in mails]


@pytest.mark.parametrize(
    "text",
    [
        "From there it is a mile.",
        "\nFrom 10:30 on it rains.\nThen it does not.",
        "x\nFrom ann@example.org Mon Jun  2 10:00:00 2025\nSubject: no",  # not behind a blank line
    ],
)
def test_text_that_begins_like_a_mail_does_not_part_one(text: str) -> None:
    found = read(make_mbox(b"Subject: A\n\nText.\n" + text.encode(), b"Subject: B\n\nText."))

    assert len(found) == 2
    assert text.encode().strip() in found[0]


def test_lines_that_were_escaped_are_restored() -> None:
    (found,) = read(make_mbox(b"Subject: A\n\n>From here on.\n>>From there.\n"))

    assert b"\nFrom here on.\n>From there.\n" in found


def test_windows_line_ends_part_mails_too() -> None:
    data = make_mbox(b"Subject: A\n\nText.", b"Subject: B\n\nText.").replace(b"\n", b"\r\n")

    assert len(read(data)) == 2


def test_a_mail_over_the_limit_is_reported_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mbox, "MAX_MAIL_BYTES", 100)
    data = make_mbox(b"Subject: A\n\n" + b"long line\n" * 50, b"Subject: B\n\nText.")

    large, small = mbox.read_mbox(io.BytesIO(data), "box.mbox", len(data))

    assert isinstance(large, UnreadableError)
    assert large.doc_id == "box.mbox#000001"
    assert small.doc_id == "box.mbox#000002"


def test_what_is_appended_meanwhile_belongs_to_the_next_run() -> None:
    first, both = make_mbox(b"Subject: A\n\nText."), make_mbox(b"Subject: A\n\nText.", b"Subject: B\n\nText.")

    assert len(list(mbox.read_mbox(io.BytesIO(both), "box.mbox", len(first)))) == 1
