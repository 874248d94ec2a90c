"""Split a mailbox file into its mails.

Flow: open file -> **here** -> a `Member` a mail -> `mail.py`. Never holds more than one mail.

A mail begins at a line `From … 12:34:56 …` behind a blank one, with a header below it. Text may begin like that too,
which is why all of this is asked.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

from errors import UnreadableError
from ingestion.reading.containers import Member

MAX_MAIL_BYTES = 64_000_000
_MAX_LINE_BYTES = 1_000_000
_FROM = b"From "
_SEPARATOR = re.compile(rb"From .*\d\d:\d\d")
_HEADER = re.compile(rb"[A-Za-z][\w-]*+[ \t]*+:|>From ")
_ESCAPED = re.compile(rb">+From ")


def read_mbox(stream: BinaryIO, doc_id: str, size: int) -> Iterator[Member | UnreadableError]:
    """Yield the mails, named after the file and their place in it.

    Args:
        stream: at its beginning.
        doc_id: the file.
        size: bytes to read; what is appended meanwhile belongs to the next run.

    Raises:
        UnreadableError: the file is not a mailbox.
    """
    for number, data in enumerate(_mails(stream, size), 1):
        mail_id = f"{doc_id}#{number:06d}"
        if data is None:
            fact = f"{mail_id}: The mail is larger than {MAX_MAIL_BYTES // 1_000_000} MB."
            yield UnreadableError(fact, "Take it out of the mailbox.", mail_id)
        else:
            yield Member.of(mail_id, data, "mail.eml")


def _mails(stream: BinaryIO, size: int) -> Iterator[bytes | None]:
    """Yield the bytes of each mail, without the line that parts it from the one before; None if they are too many."""
    first = stream.readline(_MAX_LINE_BYTES)
    if not first.startswith(_FROM):
        raise UnreadableError("This is not a mailbox: it does not begin with `From `.", "Give it the right suffix.")
    lines: list[bytes] = []
    held, done, blank = 0, len(first), True
    parting = b""  # a line that begins a mail if a header follows
    while done < size and (line := stream.readline(_MAX_LINE_BYTES)):
        done += len(line)
        if parting and _HEADER.match(line):
            yield b"".join(lines) if held <= MAX_MAIL_BYTES else None
            lines, held = [], 0
        elif parting:
            lines.append(parting)
        parting = b""
        if blank and line.startswith(_FROM) and _SEPARATOR.match(line):
            parting = line
            continue
        blank = line in (b"\n", b"\r\n")
        held += len(line)
        if held <= MAX_MAIL_BYTES:
            lines.append(line[1:] if line.startswith(b">") and _ESCAPED.match(line) else line)
    yield b"".join([*lines, parting]) if held <= MAX_MAIL_BYTES else None
