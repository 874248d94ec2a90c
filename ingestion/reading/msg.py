"""Read a mail that Outlook saved (`.msg`): as any mail, with what is attached as documents of its own.

Flow: file bytes -> **here** -> as `mail.py`. Pure.

Such a file is a small file system (OLE) in which each property of the mail is a stream named by its number. A mail that
is attached is a folder in it, and is read here as well.
"""

import struct
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import BytesIO

import olefile

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.reading.compressed_rtf import unpacked_rtf
from ingestion.reading.containers import ATTACHED_TO, MAX_DEPTH, AttachmentNames, Member, Tally, lost, member_doc_id
from ingestion.reading.files import refusal_of_name
from ingestion.reading.mail import MailItems, headed, headers_of, mail_of, name_and_address
from ingestion.reading.mail_body import add_body, text_of_html
from ingestion.reading.mail_message import Part, parsed, shortened_parts
from ingestion.reading.text import decode, one_line

# Numbers of properties, as [MS-OXPROPS] has them.
_SUBJECT, _BODY, _HTML, _RTF, _HEADERS, _MESSAGE_ID = "0037", "1000", "1013", "1009", "007D", "1035"
_SENDER_NAME, _SENDER_ADDRESSES = "0C1A", ("5D01", "0C1F")
_RECIPIENT_NAME, _RECIPIENT_ADDRESSES, _RECIPIENT_KIND = "3001", ("39FE", "3003"), 0x0C150003
_SHOWN_TO, _SHOWN_CC = "0E04", "0E03"
_SENT_TIME, _DELIVERY_TIME, _CODE_PAGES = 0x00390040, 0x0E060040, (0x3FFD0003, 0x3FDE0003)
_NAMES, _DATA, _TYPE = ("3707", "3704", "3001"), "37010102", "370E"
_EMBEDDED = "__substg1.0_3701000D"
_PROPERTIES = "__properties_version1.0"
_PROPERTY_BYTES = 16
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_TO, _CC = 1, 2
_UTF8_PAGE = 65001
# What olefile raises at damage.
_DAMAGE = (OSError, ValueError, IndexError, KeyError, struct.error)
_DAMAGED = "This is not a mail of Outlook, or a damaged one."

Path = tuple[str, ...]


def read_msg(data: bytes, doc_id: str) -> MailItems:
    """Yield the mail, then what is attached to it.

    Raises:
        UnreadableError: no such file, or a damaged one.
    """
    try:
        file = olefile.OleFileIO(BytesIO(data))
    except _DAMAGE as error:
        raise UnreadableError(_DAMAGED, "Save it again.") from error
    with file:
        if not file.exists(_PROPERTIES):
            raise UnreadableError(_DAMAGED, "Save it again.")
        try:
            yield from _mail(file, (), doc_id, 0)
        except _DAMAGE as error:
            raise UnreadableError(_DAMAGED, "Save it again.") from error


def _mail(file: olefile.OleFileIO, path: Path, doc_id: str, depth: int) -> MailItems:
    mail = _Properties(file, path, 24 if path else 32)
    came_with = parsed(mail.text(_HEADERS).encode("utf-8", "replace"))
    builder = headed(headers := _headers(mail, came_with))
    body = _body(mail, doc_id)
    if isinstance(body, str):
        add_body(builder, body)
    yield mail_of(doc_id, headers, builder)
    yield from shortened_parts(came_with, doc_id)
    if isinstance(body, LeftOut):
        yield body
    yield from _attached(mail, file, path, doc_id, depth)


def _attached(mail: "_Properties", file: olefile.OleFileIO, path: Path, doc_id: str, depth: int) -> MailItems:
    names, tally = AttachmentNames(), Tally(doc_id)
    for folder in mail.folders("__attach"):
        attached = _Properties(file, (*path, folder), 8)
        embedded = (*path, folder, _EMBEDDED)
        is_mail = file.exists([*embedded, _PROPERTIES])
        given = next((name for key in _NAMES if (name := attached.text(key))), "")
        name = names.name(f"{given or 'mail'}.msg" if is_mail else given, attached.text(_TYPE))
        try:
            member_id, data = member_doc_id(doc_id, name), attached.data(_DATA)
        except UnreadableError as error:
            yield lost(f"{doc_id}/{name}", error)
            continue
        if is_mail and depth < MAX_DEPTH:
            for item in _mail(file, embedded, member_id, depth + 1):
                if isinstance(item, Document):
                    item.metadata.setdefault(ATTACHED_TO, doc_id)
                yield item
        elif is_mail:
            tally.add(name, f"a mail inside {depth + 1} others")
        elif reason := refusal_of_name(name):
            tally.add(name, reason)
        elif data is not None:
            yield Member.of(member_id, data, metadata={ATTACHED_TO: doc_id})
    yield from tally.left_out()


def _body(mail: "_Properties", doc_id: str) -> str | LeftOut:
    """Return the plain text, else that of the HTML, else that of the RTF, or why that cannot be read.

    HTML that Outlook has packed into RTF stands in it as formatted text, too.
    """
    if (body := mail.text(_BODY)).strip():
        return body
    if html := mail.text(_HTML):
        return text_of_html(html)
    if not (packed := mail.data(f"{_RTF}0102")):
        return ""
    from ingestion.reading.office.rtf import read_rtf  # noqa: PLC0415  # few mails need it

    try:
        return read_rtf(unpacked_rtf(packed), doc_id).text
    except UnreadableError as error:
        return LeftOut(doc_id, f"Its text in RTF cannot be read. {error}")


def _headers(mail: "_Properties", came_with: Part) -> dict[str, str]:
    """Return the headers as the mail came with them; for one that was never sent, what Outlook has in their place."""
    people: dict[int, list[str]] = {_TO: [], _CC: []}
    for folder in mail.folders("__recip"):
        one = mail.within(folder)
        address = next((text for key in _RECIPIENT_ADDRESSES if "@" in (text := one.text(key))), "")
        kind = one.number(_RECIPIENT_KIND)
        people.setdefault(kind or _TO, []).append(_person(one.text(_RECIPIENT_NAME), address))
    sender = next((text for key in _SENDER_ADDRESSES if "@" in (text := mail.text(key))), "")
    sent = mail.time(_SENT_TIME) or mail.time(_DELIVERY_TIME)
    known = {
        "from": _person(mail.text(_SENDER_NAME), sender),
        "to": ", ".join(filter(None, people[_TO])) or mail.text(_SHOWN_TO),
        "cc": ", ".join(filter(None, people[_CC])) or mail.text(_SHOWN_CC),
        "date": format_datetime(sent) if sent else "",
        "message-id": mail.text(_MESSAGE_ID),
    }
    found = {name: one_line(value) for name, value in known.items()} | headers_of(came_with)
    return found | {"subject": one_line(mail.text(_SUBJECT)) or found.get("subject", "")}


def _person(name: str, address: str) -> str:
    return name_and_address(name, address) if name and address and name != address else address or name


class _Properties:
    """The properties of a mail, an attachment or a recipient.

    Args:
        file: the whole.
        path: its folder.
        skip: bytes before the first property of fixed length.
    """

    def __init__(self, file: olefile.OleFileIO, path: Path, skip: int) -> None:
        self._file = file
        self._path = path
        self._streams = {
            entry[-1].upper(): entry for entry in file.listdir() if tuple(entry[:-1]) == path and len(entry) > len(path)
        }
        self._fixed: dict[int, bytes] = {}
        data = self._read(_PROPERTIES.upper()) or b""
        for start in range(skip, len(data) - _PROPERTY_BYTES + 1, _PROPERTY_BYTES):
            tag = int.from_bytes(data[start : start + 4], "little")
            self._fixed[tag] = data[start + 8 : start + _PROPERTY_BYTES]

    def within(self, folder: str) -> "_Properties":
        """Return the properties of a recipient."""
        return _Properties(self._file, (*self._path, folder), 8)

    def folders(self, start: str) -> list[str]:
        """Return the names of the folders that begin so, in order."""
        depth = len(self._path)
        inside = (entry for entry in self._file.listdir() if tuple(entry[:depth]) == self._path)
        return sorted({entry[depth] for entry in inside if len(entry) > depth + 1 and entry[depth].startswith(start)})

    def data(self, tag: str) -> bytes | None:
        """Return a binary property."""
        return self._read(f"__SUBSTG1.0_{tag}")

    def text(self, number: str) -> str:
        """Return a property of text, or of bytes that are text; empty if it is not there."""
        if (wide := self.data(f"{number}001F")) is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        data = (self.data(f"{number}001E") or self.data(f"{number}0102") or b"").rstrip(b"\0")
        if not data:
            return ""
        page = next(filter(None, map(self.number, _CODE_PAGES)), 0)
        declared = "utf-8" if page == _UTF8_PAGE else f"cp{page or 1252}"
        try:
            return decode(data, declared)
        except UnreadableError:
            return ""

    def number(self, tag: int) -> int:
        """Return a number; 0 if it is not there."""
        return int.from_bytes(self._fixed.get(tag, b"")[:4], "little")

    def time(self, tag: int) -> datetime | None:
        """Return a point in time."""
        ticks = int.from_bytes(self._fixed.get(tag, b""), "little")
        try:
            return _EPOCH + timedelta(microseconds=ticks // 10) if ticks else None
        except OverflowError:
            return None

    def _read(self, name: str) -> bytes | None:
        entry = self._streams.get(name)
        return self._file.openstream(entry).read() if entry is not None else None
