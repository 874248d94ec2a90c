"""Archives, mails and mailboxes, packed in memory."""

import io
import tarfile
import zipfile
from collections.abc import Mapping
from email import message_from_bytes, policy
from email.message import EmailMessage


def make_zip(members: Mapping[str, str] | Mapping[str, bytes] | Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of these files, in order; a `mimetype` is stored as it is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def make_tar(members: Mapping[str, bytes], mode: str = "w") -> bytes:
    """Return a tar archive of these files; `w:gz` compresses it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def make_mail(
    text: str = "",
    html: str = "",
    attachments: Mapping[str, bytes] | None = None,
    mails: Mapping[str, bytes] | None = None,
    **headers: str,
) -> bytes:
    """Return a mail; `In_Reply_To` is written as `In-Reply-To`.

    Args:
        text: the body in plain text.
        html: the body in HTML, beside it or in its place.
        attachments: files by their names; their type is not told.
        mails: whole mails, by the names under which they are attached.
        headers: beside sender, subject and date.
    """
    message = EmailMessage()
    usual = {"From": "Ann Gale <ann@example.org>", "Subject": "Harbour", "Date": "Mon, 02 Jun 2025 10:00:00 +0200"}
    for name, value in {**usual, **headers}.items():
        message[name.replace("_", "-")] = value
    if text or not html:
        message.set_content(text)
    if html and text:
        message.add_alternative(html, subtype="html")
    elif html:
        message.set_content(html, subtype="html")
    for name, data in (attachments or {}).items():
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    for name, data in (mails or {}).items():
        message.add_attachment(message_from_bytes(data, policy=policy.default), filename=name)
    return message.as_bytes()


def make_mbox(*mails: bytes) -> bytes:
    """Return a mailbox of these mails."""
    return b"".join(b"From ann@example.org Mon Jun  2 10:00:00 2025\n" + mail.rstrip() + b"\n\n" for mail in mails)
