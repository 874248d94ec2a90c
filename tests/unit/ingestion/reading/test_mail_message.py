"""Mails made to take long: what the standard library parses is bounded, and the mail is read all the same."""

import email.header
import email.message
import email.utils
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ingestion.reading import mail
from ingestion.reading.mail_message import MAX_HEADER_CHARS, MAX_NESTING, MAX_PARAMETERS_CHARS, parsed
from tests.fakes.readings import Items, documents, read_all, reports
from tests.zoo.archives import make_mbox, make_zip
from tests.zoo.outlook import make_msg

CHARS = 20_000
FROM = "From: ann@example.org\n"


def typed(parameters: str, name: str = "Content-Type", value: str = "text/plain") -> str:
    return f"{FROM}{name}: {value}{parameters}\n\nThe tide is high.\n"


def in_a_part(header: str) -> str:
    kind = "Content-Type: multipart/mixed; boundary=b"
    return f"{FROM}{kind}\n\n--b\n{header}\n\nThe tide is high.\n--b--\n"


def nested(depth: int, kind: str) -> str:
    begins = [f"Content-Type: {kind}; boundary=b{number}\n\n--b{number}\n" for number in range(depth)]
    return FROM + "".join(begins) + "Content-Type: text/plain\n\nThe tide is high.\n"


# Of some `n` characters each.
LONG_HEADERS: dict[str, Callable[[int], str]] = {
    "semicolons": lambda n: typed(";" * n),
    "semicolons in open quotes": lambda n: typed(';x="' + '";' * (n // 2)),
    "escaped quotes": lambda n: typed(";x=" + '\\"' * (n // 2)),
    "lines of semicolons": lambda n: typed("\n ;" * (n // 3)),
    "disposition": lambda n: typed(";" * n, "Content-Disposition", "inline"),
    "encoding": lambda n: typed(";" * n, "Content-Transfer-Encoding", "8bit"),
    "name of a file": lambda n: typed(f'; name="{"a" * n}.txt"', "content-type"),
    "continuations": lambda n: typed("".join(f"; name*{number}*=a" for number in range(n // 12))),
    "number of a continuation": lambda n: typed(f"; name*{'9' * n}*=a"),
    "parameters of a part": lambda n: in_a_part(f"Content-Type: text/plain{';' * n}"),
    "parameters of an attached mail": lambda n: in_a_part(f"Content-Type: message/rfc822\n\n{typed(';' * n)}"),
    "addresses": lambda n: f"From: ann@example.org\nTo: {'a@b.example,' * (n // 12)}\n\nThe tide is high.",
    "lines of addresses": lambda n: f"{FROM}Cc: c@d.example" + ",\n a@b.example" * (n // 14) + "\n\nThe tide is high.",
    "comments in comments": lambda n: f"{FROM}To: {'(' * n}\n\nThe tide is high.",
    "encoded words": lambda n: f"{FROM}Subject: {'=?utf-8?q?x?= ' * (n // 14)}\n\nThe tide is high.",
    "encoded words without an end": lambda n: f"{FROM}Subject: ?={'=?utf-8?q?' * (n // 10)}\n\nThe tide is high.",
    "an encoding of names": lambda n: f"{FROM}Subject: =?punycode?q?{'a' * n}?=\n\nThe tide is high.",
    "date": lambda n: f"{FROM}Date: Mon, {'1 ' * (n // 2)}\n\nThe tide is high.",
    "digits": lambda n: f"{FROM}Date: {'1' * n}\n\nThe tide is high.",
    "id": lambda n: f"{FROM}Message-ID: {'<a@b>' * (n // 5)}\n\nThe tide is high.",
    "references": lambda n: f"{FROM}References: " + "<a@b>\n " * (n // 7) + "x\n\nThe tide is high.",
}
DEEP: dict[str, Callable[[int], str]] = {
    kind: lambda n, kind=kind: nested(n // 50, kind)
    for kind in ("multipart/mixed", "multipart/digest", "multipart/alternative")
} | {"mails in mails": lambda n: FROM + "Content-Type: message/rfc822\n\n" * (n // 30) + "The tide is high."}
OTHERS: dict[str, Callable[[int], str]] = {
    "many headers": lambda n: FROM + "".join(f"X-{number}: =?a?q?\n" for number in range(n // 15)) + "\nHigh.",
    "many parts": lambda n: in_a_part("Content-Type: text/plain;;;\n\nx\n--b\n" * (n // 36) + "X: y"),
    "marks of a part's end that are none": lambda n: in_a_part("X: y\n\n" + "--bx\n" * (n // 5)),
    "spaces behind a mark": lambda n: in_a_part(f"X: y\n\n--b{' ' * n}x"),
    "reports of delivery": lambda n: typed("\n\n" + "A: b\n\n" * (n // 6), value="message/delivery-status"),
    "a name of a header": lambda n: f"{FROM}{'X' * n}: a\n\nThe tide is high.",
}
# The others are shorter: counting the calls that each of their lines makes would take seconds.
EVERY = LONG_HEADERS | DEEP | {name: lambda n, make=make: make(n // 5) for name, make in OTHERS.items()}


def read(folder: Path, text: str) -> Items:
    return read_all(folder, "mail.eml", text.encode())


def text_of(items: Items) -> str:
    return "\n".join(document.text for document in documents(items).values())


@contextmanager
def calls() -> Iterator[list[int]]:
    """Count calls of functions, those in C too."""
    count = [0]

    def profile(_frame: Any, event: str, _argument: Any) -> None:
        count[0] += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield count
    finally:
        sys.setprofile(before)


@pytest.mark.fault("D11")
@pytest.mark.parametrize("kind", EVERY)
def test_twice_the_mail_is_at_most_twice_the_work(tmp_path: Path, kind: str) -> None:
    read(tmp_path, EVERY[kind](CHARS))  # what is imported, and kept, at the first mail
    counts = []
    for chars in (CHARS, 2 * CHARS):
        with calls() as count:
            read(tmp_path, EVERY[kind](chars))
        counts.append(count[0])

    assert counts[1] < 2.5 * counts[0]


@pytest.mark.fault("D11")
@pytest.mark.parametrize("kind", EVERY)
def test_what_takes_a_header_apart_gets_little_at_once(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, int]] = []

    def watch(module: Any, name: str) -> None:
        inner = getattr(module, name)

        def watched(value: Any, *rest: Any) -> Any:
            given.append((name, len("".join(map(str, value)))))
            return inner(value, *rest)

        monkeypatch.setattr(module, name, watched)

    watch(email.message, "_parseparam")
    watch(mail, "decode_header")
    watch(mail, "getaddresses")
    watch(mail, "parsedate_to_datetime")
    read(tmp_path, EVERY[kind](2 * CHARS))

    assert given
    assert max([size for name, size in given if name == "_parseparam"], default=0) <= MAX_PARAMETERS_CHARS
    assert max(size for _, size in given) <= MAX_HEADER_CHARS


@pytest.mark.fault("D11")
@pytest.mark.parametrize("kind", LONG_HEADERS)
def test_a_long_header_is_cut_and_reported_and_the_mail_is_read(tmp_path: Path, kind: str) -> None:
    found = read(tmp_path, LONG_HEADERS[kind](CHARS))

    assert "The tide is high." in text_of(found)
    assert "cut" in reports(found)


@pytest.mark.fault("D11")
@pytest.mark.parametrize("kind", DEEP)
def test_parts_that_are_nested_without_end_are_reported(tmp_path: Path, kind: str) -> None:
    found = read(tmp_path, DEEP[kind](CHARS))

    assert "ann@example.org" in text_of(found)
    assert f"{MAX_NESTING} deep" in reports(found)


@pytest.mark.fault("D11")
@pytest.mark.parametrize("name", ["box.mbox", "box.zip", "box.msg"])
def test_mails_in_other_files_are_bounded_alike(tmp_path: Path, name: str) -> None:
    one = typed(";" * CHARS).encode()
    data = {
        "box.mbox": make_mbox(one, one),
        "box.zip": make_zip({"a.eml": one, "b.eml": one}),
        "box.msg": make_msg({"0037": "Harbour", "1000": "The tide is high.", "007D": typed(";" * 3000)}),
    }[name]
    found = read_all(tmp_path, name, data)

    assert "The tide is high." in text_of(found)
    assert "Content-Type" in reports(found)


@pytest.mark.parametrize(
    "header",
    [
        "Content-Type: text/plain; charset*=utf-8''x; charset*0=utf-8",
        "Content-Type: text/plain; charset=a\0b",
        "Content-Type: multipart/mixed; boundary*=a%00b''x",
        "Content-Disposition: inline; filename*=a\0b''x",
        "Subject: =?a\0b?q?x?=",
        f"To: {'(' * 1900}",
    ],
)
def test_damaged_parameters_cost_no_mail(tmp_path: Path, header: str) -> None:
    assert "The t\N{LATIN SMALL LETTER I WITH DIAERESIS}de" in text_of(
        read(tmp_path, f"{FROM}{header}\n\nThe t\N{LATIN SMALL LETTER I WITH DIAERESIS}de.\n\N{EURO SIGN}")
    )


def test_usual_headers_stay_whole() -> None:
    references = "\n ".join(f"<{number:04d}.{'x' * 60}@example.org>" for number in range(150))
    message = parsed(f"References: {references}\nContent-Type: text/plain; name={'n' * 200}.txt\n\nText.".encode())

    assert message["References"] == references
    assert message.get_filename() == f"{'n' * 200}.txt"
    assert not message.cut
