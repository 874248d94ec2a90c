"""Read a mail: its headers, what was written, the thread it quotes; what is attached is a document of its own.

Flow: file bytes -> **here** -> a `Document`, and `Member`s for what is attached, which `formats.py` reads. Pure.

The plain text is taken where there is one, else the HTML; the events of an invitation stand below it. Signatures that
machines check, and pictures that belong to the HTML, are passed over in silence.
"""

import re
from collections.abc import Iterator
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import formataddr, getaddresses, parsedate_to_datetime
from itertools import chain

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document, Metadata
from index.documents.structure import Structure
from ingestion.reading import fields
from ingestion.reading.containers import ATTACHED_TO, AttachmentNames, Member, Tally, lost, member_doc_id
from ingestion.reading.files import refusal_of_name
from ingestion.reading.invitation import Event, events_of
from ingestion.reading.mail_body import add_body, text_of_html, unflowed
from ingestion.reading.mail_message import BURIED, Part, parsed, shortened_parts
from ingestion.reading.text import decode, one_line, title_from_name
from ingestion.reading.text_builder import TextBuilder

SHOWN_HEADERS = ("From", "To", "Cc", "Date", "Subject")
_READ_HEADERS = frozenset(("message-id", "in-reply-to", *map(str.lower, SHOWN_HEADERS)))
# Of a mail to a thousand people as many names are shown.
MAX_HEADER_CHARS = 2000
_SIGNATURES = frozenset(("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"))
# Encodings in 7 bits, which would pass for UTF-8.
_SEVEN_BITS = ("iso-2022", "utf-7", "hz-gb")
_LINE_ENDS = re.compile(r"\r?\n[ \t]*|\r")

MailItems = Iterator[Document | Member | LeftOut | UnreadableError]


def read_mail(data: bytes, doc_id: str) -> MailItems:
    """Yield the mail, then what is attached to it.

    Raises:
        UnreadableError: it has no headers, so this is not a mail.
    """
    message = parsed(data)
    if not message.keys():
        raise UnreadableError("This is not a mail: it does not begin with headers.", "Give it the right suffix.")
    headers, parts = headers_of(message), _Parts(message)
    builder = headed(headers)
    for body in parts.bodies:
        add_body(builder, body)
    for name, value in chain.from_iterable(dict.fromkeys(parts.events)):
        builder.pair(name, value)
    yield mail_of(doc_id, headers, builder)
    yield from shortened_parts(message, doc_id)
    yield from parts.attached(doc_id)


def headed(headers: dict[str, str]) -> TextBuilder:
    """Return a text that begins with these headers of a mail, by their names in small letters."""
    builder = TextBuilder()
    for name in SHOWN_HEADERS:
        builder.pair(name, shortened(headers.get(name.lower(), "")))
    return builder


def shortened(value: str) -> str:
    """Return a header's value, cut after `MAX_HEADER_CHARS`."""
    return value if len(value) <= MAX_HEADER_CHARS else f"{value[:MAX_HEADER_CHARS]} …"


def mail_of(doc_id: str, headers: dict[str, str], builder: TextBuilder) -> Document | UnreadableError:
    """Return the document of a mail, or the reason why it cannot be read; its attachments may still be readable."""
    text, blocks = builder.finished()
    if not text:
        return UnreadableError(f"The mail {doc_id!r} holds no text.", "Remove it.", doc_id)
    title = fields.title(headers.get("subject")) or title_from_name(doc_id)
    return Document(doc_id, title, text, metadata=_metadata(headers), source=doc_id, structure=Structure(blocks))


def _metadata(headers: dict[str, str]) -> Metadata:
    record: dict[str, object] = {
        "from": headers.get("from"),
        "to": addresses(headers.get("to", "")),
        "cc": addresses(headers.get("cc", "")),
        "message_id": headers.get("message-id"),
        "in_reply_to": headers.get("in-reply-to"),
    }
    try:
        record["date"] = parsedate_to_datetime(headers.get("date", "")).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        record["date"] = None
    return fields.metadata(record, without=())


def addresses(value: str) -> list[str]:
    """Return the addresses of a header, each as `Name <address>`; the first hundred."""
    try:
        found = getaddresses([value[:MAX_HEADER_CHARS]])
    except RecursionError:  # comments in comments
        return []
    return [name_and_address(name, address) for name, address in found if address][: fields.MAX_LIST_ENTRIES]


def name_and_address(name: str, address: str) -> str:
    """Return `Name <address>`, or the address alone."""
    try:
        return formataddr((name, address), "utf-8") if name.isascii() else f"{name} <{address}>"
    except UnicodeError:
        return address


def headers_of(message: Message) -> dict[str, str]:
    """Return the headers that are shown or kept, the first of each name, decoded, by its name in small letters."""
    found: dict[str, str] = {}
    for name, value in message.raw_items():
        key = name.lower()
        if key in _READ_HEADERS and key not in found:
            found[key] = one_line(_decoded(str(value)))
    return found


def _decoded(value: str) -> str:
    """Return a header's text without its encoded words; bytes that stand there as they are count as UTF-8."""
    value = " ".join(_LINE_ENDS.sub(" ", _without_surrogates(value)[: 4 * MAX_HEADER_CHARS]).splitlines())
    # From each word that begins behind the last end of one, its end would be looked for in all that follows.
    words, end, rest = value.rpartition("?=")
    try:
        found = decode_header(words + end)
    except (HeaderParseError, ValueError):
        return value
    return "".join(piece if isinstance(piece, str) else _of_bytes(piece, charset) for piece, charset in found) + rest


def _without_surrogates(value: str) -> str:
    try:
        return _of_bytes(value.encode("ascii", "surrogateescape"), None)
    except UnicodeEncodeError:
        return value


def _of_bytes(data: bytes, charset: str | None) -> str:
    for encoding in (charset or "utf-8", "utf-8"):
        try:
            return data.decode(encoding)
        except (LookupError, ValueError):
            continue
    return data.decode("cp1252", errors="replace")


class _Parts:
    """What a mail consists of: the texts of its body, the events it invites to, and the parts that are attached."""

    def __init__(self, message: Part) -> None:
        self._attached: list[Message] = []
        self.events: list[Event] = []
        self.bodies = [text for _, text in self._texts(message) if text.strip()]

    def attached(self, doc_id: str) -> Iterator[Member | LeftOut | UnreadableError]:
        """Yield what is attached to the mail of this id."""
        names, tally = AttachmentNames(), Tally(doc_id)
        for part in self._attached:
            content_type = part.get_content_type()
            if content_type in _SIGNATURES or (part.get_content_maintype() == "image" and part.get("Content-ID")):
                continue
            is_mail = content_type == "message/rfc822"
            name = names.name(f"{_file_name(part)}{'.eml' if is_mail and not _file_name(part) else ''}", content_type)
            if reason := refusal_of_name(name):
                tally.add(name, reason if "." in name else f"{reason} {content_type}")
                continue
            try:
                member_id, data = member_doc_id(doc_id, name), _bytes_of(part)
            except UnreadableError as error:
                yield lost(f"{doc_id}/{name}", error)
            except (MessageError, ValueError, LookupError, AttributeError, TypeError) as error:
                yield lost(f"{doc_id}/{name}", UnreadableError(f"It is damaged: {error}.", "Send it again."))
            else:
                yield Member.of(member_id, data, "mail.eml" if is_mail else "", metadata={ATTACHED_TO: doc_id})
        yield from tally.left_out()

    def _texts(self, part: Message) -> Iterator[tuple[str, str]]:
        """Yield (type, text) of what is shown below a part, and keep what is attached."""
        content_type = part.get_content_type()
        if part.is_multipart() and part.get_content_maintype() == "multipart":
            children = [child for child in part.get_payload() if isinstance(child, Message)]
            if content_type == "multipart/alternative":
                found = [text for child in children for text in self._texts(child)]
                yield from _chosen(found)
            else:
                for child in children:
                    yield from self._texts(child)
        elif content_type == "text/calendar":
            self.events += events_of(_text_of(part))
        elif _is_shown(part):
            yield content_type, _text_of(part)
        elif content_type != BURIED:
            self._attached.append(part)


def _chosen(texts: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return those of several forms of one text that are plain; if these are blank, those in HTML, or else all."""
    for wanted in ("text/plain", "text/html"):
        if found := [(kind, text) for kind, text in texts if kind == wanted and text.strip()]:
            return found
    return texts


def _is_shown(part: Message) -> bool:
    """Whether a part belongs to the body: any text that is not an attachment, and delivery reports."""
    if part.get_content_disposition() == "attachment" or _file_name(part):
        return False
    # A multipart mail without parts is text.
    return part.get_content_maintype() in ("text", "multipart") or part.get_content_type() == "message/delivery-status"


def _file_name(part: Message) -> str:
    return _decoded(part.get_filename() or "")


def _bytes_of(part: Message) -> bytes:
    payload = part.get_payload()
    if isinstance(payload, list):
        return b"\n".join(child.as_bytes() for child in payload if isinstance(child, Message))
    data = part.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def _text_of(part: Message) -> str:
    if part.is_multipart():  # what could not be delivered, as several blocks of headers
        return "\n\n".join(child.as_string() for child in part.get_payload() if isinstance(child, Message))
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return ""
    charset = str(part.get_content_charset() or "")
    try:
        text = data.decode(charset, "replace") if charset.startswith(_SEVEN_BITS) else decode(data, charset or None)
    except (UnreadableError, LookupError):  # bytes that are labelled as text but are not
        return ""
    if part.get_content_type() == "text/html":
        return text_of_html(text)
    is_flowed = _parameter(part, "format") == "flowed"
    return unflowed(text, drop_spaces=_parameter(part, "delsp") == "yes") if is_flowed else text


def _parameter(part: Message, name: str) -> str:
    return str(part.get_param(name, "")).lower()
