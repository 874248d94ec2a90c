"""Mails: headers, body, and what is attached."""

from email import policy
from email.message import EmailMessage
from pathlib import Path

import pytest

from index.documents.store import Document
from ingestion.reading.invitation import events_of
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import Items, documents, read_all, refusals, reports
from tests.zoo.archives import make_mail, make_zip
from tests.zoo.outlook import make_msg, make_ole

NAMES = {"subject": "0037", "body": "1000", "html": "1013", "sender": "0C1A", "to": "0E04", "headers": "007D"}


def read(folder: Path, data: bytes, name: str = "mail.eml") -> Items:
    return read_all(folder, name, data)


def only(folder: Path, data: bytes, name: str = "mail.eml") -> Document:
    """Return the only document."""
    (found,) = documents(read(folder, data, name)).values()
    return found


def test_headers_are_pairs_and_metadata(tmp_path: Path) -> None:
    data = make_mail(
        "The tide is high.",
        To="Bo Quay <bo@example.org>, cy@example.org",
        Cc="dee@example.org",
        Message_ID="<1@example.org>",
    )
    mail = only(tmp_path, data)

    assert mail.text.startswith(
        "From: Ann Gale <ann@example.org>\nTo: Bo Quay <bo@example.org>, cy@example.org\nCc: dee"
    )
    assert mail.text.endswith("Subject: Harbour\n\nThe tide is high.")
    assert (mail.title, mail.content_type) == ("Harbour", "mail")
    assert mail.metadata["from"] == "Ann Gale <ann@example.org>"
    assert mail.metadata["to"] == ["Bo Quay <bo@example.org>", "cy@example.org"]
    assert mail.metadata["date"] == "2025-06-02T10:00:00+02:00"
    assert [block.kind for block in mail.structure.blocks] == ["pair"] * 5 + ["paragraph"]


@pytest.mark.parametrize(
    ("raw", "subject"),
    [
        (b"=?utf-8?q?Gr=C3=B6=C3=9Fe?= of =?iso-8859-1?b?5Ng=?=", "Größe of äØ"),
        ("Größe".encode(), "Größe"),
        ("Größe".encode("cp1252"), "Größe"),
        (b"=?no-such?q?abc?=", "abc"),
        (b"folded\r\n over lines", "folded over lines"),
    ],
)
def test_subjects_are_decoded(tmp_path: Path, raw: bytes, subject: str) -> None:
    mail = only(tmp_path, b"Subject: " + raw + b"\r\n\r\nText.")

    assert mail.title == subject


@pytest.mark.parametrize("charset", ["utf-8", "iso-2022-jp", "euc-jp"])
def test_bodies_are_decoded(tmp_path: Path, charset: str) -> None:
    head = f"Subject: x\r\nContent-Type: text/plain; charset={charset}\r\n\r\n"
    mail = only(tmp_path, head.encode() + "港は静かだ。".encode(charset))

    assert mail.text.endswith("港は静かだ。")


def test_plain_text_is_taken_before_html(tmp_path: Path) -> None:
    mail = only(tmp_path, make_mail("Plain words.", "<p>Other words.</p>"))

    assert "Plain words." in mail.text
    assert "Other" not in mail.text


@pytest.mark.parametrize(
    ("delsp", "sent", "shown"),
    [
        (
            "no",
            "The tide \nis high.\n\n> Is it \n> so?\n>> Yes \n Spaced.\n-- \nAnn",
            "The tide is high.\n\n> Is it so?\n\n> > Yes\n\nSpaced.\n\n--\nAnn",
        ),
        ("yes", "Die Fl \nut steigt.", "Die Flut steigt."),
    ],
)
def test_lines_that_flow_are_joined(tmp_path: Path, delsp: str, sent: str, shown: str) -> None:
    kind = f"text/plain; charset=utf-8; format=flowed; delsp={delsp}"
    data = f"From: ann@example.org\nContent-Type: {kind}\n\n{sent}".encode()
    mail = only(tmp_path, data)

    assert mail.text.partition("\n\n")[2] == shown


@pytest.mark.parametrize("plain", ["", " \n"])
def test_html_is_taken_where_there_is_no_plain_text(tmp_path: Path, plain: str) -> None:
    table = "<table><tr><th>Boat</th><th>Seats</th></tr><tr><td>Gannet</td><td>4</td></tr></table>"
    html = f"<html><body><p>Dear Bo,</p><p>these are left.</p>{table}<p>Yours, Ann</p></body></html>"
    mail = only(tmp_path, make_mail(plain, html))

    for words in ("Dear Bo,", "these are left.", "Gannet", "4", "Yours, Ann"):
        assert words in mail.text


CALENDAR = """BEGIN:VCALENDAR
BEGIN:VTIMEZONE
TZID:Europe/Oslo
BEGIN:STANDARD
DTSTART:19701025T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
SUMMARY:Net mending\\, part 2
DTSTART;TZID=Europe/Oslo:20250311T181500
DTEND:20250311T200000Z
LOCATION:Boathouse 4\\; the loft
ORGANIZER;CN="Aune: Solveig";ROLE=CHAIR:mailto:aune@example.org
ATTENDEE:mailto:bo@example.org
ATTENDEE;CN=Ida:mailto:ida@example.org
DESCRIPTION:Bring twine\\nand a need
 le.
BEGIN:VALARM
DESCRIPTION:Beep
END:VALARM
END:VEVENT
BEGIN:VEVENT
SUMMARY:Regatta
DTSTART;VALUE=DATE:20250614
END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize("attached", [False, True])
def test_the_events_of_an_invitation_stand_below_its_text(tmp_path: Path, attached: bool) -> None:
    mail = EmailMessage()
    mail["From"], mail["Subject"] = "ada@example.org", "Invitation"
    mail.set_content("See you there.")
    mail.add_alternative(CALENDAR.replace("\n", "\r\n"), subtype="calendar", params={"method": "REQUEST"})
    if attached:  # as well: programs send both
        mail.add_attachment(CALENDAR, subtype="calendar", filename="invite.ics")

    text = only(tmp_path, mail.as_bytes()).text

    assert text[text.index("See you there.") :].splitlines() == [
        "See you there.",
        "",
        "Event: Net mending, part 2",
        "Start: 2025-03-11 18:15 Europe/Oslo",
        "End: 2025-03-11 20:00 UTC",
        "Location: Boathouse 4; the loft",
        "Organizer: Aune: Solveig <aune@example.org>",
        "Attendees: bo@example.org, Ida <ida@example.org>",
        "Description: Bring twine and a needle.",
        "Event: Regatta",
        "Start: 2025-06-14",
    ]


@pytest.mark.parametrize(
    "text", ["", "BEGIN:VEVENT", "END:VEVENT\nSUMMARY:x", "SUMMARY", "BEGIN:VEVENT\nEND:VEVENT", ";:;"]
)
def test_what_is_not_a_calendar_adds_nothing(text: str) -> None:
    assert list(events_of(text)) == []


def test_what_is_attached_is_a_document_of_its_own(tmp_path: Path) -> None:
    attached = {"plan.md": b"# Plan\n\nDredge the basin.", "map.pdf": make_pdf("The north quay."), "logo.png": b"x"}
    found = read(tmp_path, make_mail("See below.", attachments=attached))

    mail, plan, chart = documents(found).values()
    assert (plan.doc_id, plan.title, plan.content_type) == ("mail.eml/plan.md", "Plan", "markdown")
    assert (chart.doc_id, chart.content_type, chart.source) == ("mail.eml/map.pdf", "pdf", "mail.eml")
    assert plan.metadata["attached_to"] == chart.metadata["attached_to"] == mail.doc_id
    assert "logo.png" in reports(found)


def test_an_archive_in_a_mail_is_attached_with_all_it_holds(tmp_path: Path) -> None:
    found = documents(read(tmp_path, make_mail("x", attachments={"box.zip": make_zip({"a/b.txt": b"Deep."})})))

    assert found["mail.eml/box.zip/a/b.txt"].metadata["attached_to"] == "mail.eml"


def test_a_damaged_attachment_costs_itself_only(tmp_path: Path) -> None:
    found = read(tmp_path, make_mail("x", attachments={"a.pdf": b"%PDF-1.4 broken", "b.txt": b"Sound."}))

    assert list(documents(found)) == ["mail.eml", "mail.eml/b.txt"]
    assert [lost.doc_id for lost in refusals(found)] == ["mail.eml/a.pdf"]


def test_names_of_attachments_hold_no_folders_and_are_told_apart(tmp_path: Path) -> None:
    message = EmailMessage(policy=policy.default)
    message["Subject"] = "Names"
    message.set_content("x")
    for name in ("../../a.txt", "a.txt", "C:\\b.txt", ""):
        message.add_attachment(b"Text.", maintype="text", subtype="plain", filename=name, disposition="attachment")

    found = list(documents(read(tmp_path, message.as_bytes())))

    assert found[1] == "mail.eml/a.txt"
    assert found[3] == "mail.eml/b.txt"
    assert len(set(found)) == 5
    assert all(doc_id.count("/") == 1 for doc_id in found[1:])


def test_mails_in_mails_are_read_to_a_limit(tmp_path: Path) -> None:
    data = make_mail("Level 0.")
    for level in range(1, 5):
        data = make_mail(f"Level {level}.", mails={"inner.eml": data})

    found = read(tmp_path, data)

    levels = [one.text.rpartition("\n")[2] for one in documents(found).values()]
    assert levels == ["Level 4.", "Level 3.", "Level 2."]
    assert documents(found)["mail.eml/inner.eml/inner.eml"].metadata["attached_to"] == "mail.eml/inner.eml"
    assert len(refusals(found)) == 1


def test_what_has_no_headers_is_no_mail(tmp_path: Path) -> None:
    assert "not a mail" in str(*refusals(read(tmp_path, b"\nJust words.")))


def msg(attachments: dict[str, bytes] | None = None, mail: dict[str, str] | None = None, **texts: str) -> bytes:
    inner = {NAMES[name]: text for name, text in mail.items()} if mail else None
    return make_msg({NAMES[name]: text for name, text in texts.items()}, attachments, inner)


def test_a_mail_of_outlook_is_read_as_any(tmp_path: Path) -> None:
    data = msg({"plan.md": b"# Plan"}, subject="Harbour", body="The tide is high.\r\n", sender="Ann Gale", to="Bo Quay")

    mail, plan = documents(read(tmp_path, data, "a.msg")).values()

    assert mail.text == "From: Ann Gale\nTo: Bo Quay\nSubject: Harbour\n\nThe tide is high."
    assert (plan.doc_id, plan.metadata["attached_to"]) == ("a.msg/plan.md", "a.msg")


def test_headers_that_outlook_kept_count_before_its_own(tmp_path: Path) -> None:
    headers = "From: Ann <ann@example.org>\r\nDate: Mon, 02 Jun 2025 10:00:00 +0200\r\n"

    mail = only(tmp_path, msg(subject="S", body="Text.", sender="Ann", headers=headers), "a.msg")

    assert mail.metadata["from"] == "Ann <ann@example.org>"
    assert mail.metadata["date"] == "2025-06-02T10:00:00+02:00"


def test_a_mail_attached_in_outlook_is_read_with_what_is_attached_to_it(tmp_path: Path) -> None:
    data = msg({"plan.md": b"# Plan"}, {"subject": "Inner", "body": "Within."}, subject="Outer", body="Around.")

    found = documents(read(tmp_path, data, "a.msg"))

    assert list(found) == ["a.msg", "a.msg/mail.msg", "a.msg/mail.msg/plan.md"]
    assert found["a.msg/mail.msg"].metadata["attached_to"] == "a.msg"
    assert found["a.msg/mail.msg/plan.md"].metadata["attached_to"] == "a.msg/mail.msg"


@pytest.mark.parametrize(
    "data", [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), b"\0\1\2\3\4\5\6\7", make_msg({})[:600]]
)
def test_what_is_no_mail_of_outlook_is_refused(tmp_path: Path, data: bytes) -> None:
    assert "not a mail of Outlook" in str(*refusals(read(tmp_path, data, "a.msg")))


def test_a_mail_of_outlook_whose_text_is_in_rtf_only(tmp_path: Path) -> None:
    packed = bytes.fromhex(  # the example of [MS-OXRTFCP]
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )
    data = make_ole(
        {
            "__substg1.0_0037001F": "Harbour".encode("utf-16-le"),
            "__substg1.0_10090102": packed,
            "__properties_version1.0": bytes(32),
        }
    )
    mail = only(tmp_path, data, "mail.msg")

    assert mail.text == "Subject: Harbour\n\nhello world"


@pytest.mark.parametrize("packed", [b"", bytes(8) + b"LZFu", bytes(8) + b"LZFu" + bytes(4) + b"\xff" * 99, b"x" * 99])
def test_a_damaged_text_of_a_mail_of_outlook_is_reported(tmp_path: Path, packed: bytes) -> None:
    streams = {"__substg1.0_0037001F": "Harbour".encode("utf-16-le"), "__substg1.0_10090102": packed or b"?"}
    items = read(tmp_path, make_ole({**streams, "__properties_version1.0": bytes(32)}), "mail.msg")

    assert [item.text for item in documents(items).values()] == ["Subject: Harbour"]
    assert "RTF" in reports(items)
