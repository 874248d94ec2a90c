"""Open files that hold other files: zip and tar archives; what mails and web archives share with them.

Flow: open file -> **here** -> `Member`s -> `formats.py` reads each as a file of its own.

Nothing is ever unpacked to disk: members are read from memory, so a name can lead nowhere. A small archive can hold a
mountain, so `Budget` counts what comes out of a file, at all depths together.
"""

import io
import mimetypes
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, cast

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Metadata
from ingestion.reading.compression import DAMAGE, metered
from ingestion.reading.files import BUFFER_BYTES, printable, refusal_of_name
from ingestion.reading.format_table import format_of
from ingestion.reading.text import one_line
from ingestion.reading.text_budget import TextBudget

# Metadata of what was attached to a mail: the mail's doc_id.
ATTACHED_TO = "attached_to"
# An archive in an archive in an archive is read, one further in is not; mails in mails count alike.
MAX_DEPTH = 2
MAX_MEMBERS = 100_000
MAX_ID_CHARS = 1000
_MAX_NAME_CHARS = 200
_MAX_SUFFIX_CHARS = 20
_SHOWN_KINDS = 10
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1

Found = Iterator["Member | LeftOut | UnreadableError"]


@dataclass(frozen=True, slots=True)
class Member:
    """A file within a file, to be read before the next one is asked for.

    Attributes:
        doc_id: the container's, and its own name behind it.
        stream: at its beginning.
        size: in bytes.
        name: what tells its format by its suffix; the doc_id if empty.
        url: its own address.
        metadata: what its container says of it.
        path: of a file on disk, with all links resolved; None of what lies in one.
    """

    doc_id: str
    stream: io.BufferedReader
    size: int
    name: str = ""
    url: str | None = None
    metadata: Metadata = field(default_factory=dict)
    path: Path | None = None

    @classmethod
    def of(
        cls, doc_id: str, data: bytes, name: str = "", url: str | None = None, metadata: Metadata | None = None
    ) -> "Member":
        """Return a member that is in memory."""
        stream: io.BufferedReader = io.BufferedReader(io.BytesIO(data), BUFFER_BYTES)
        return cls(doc_id, stream, len(data), name, url, metadata or {})


class Begun(NamedTuple):
    """A member is about to be read: if that ends the process, it is known which one did it.

    Attributes:
        number: its place among the members of the file, from 1.
        doc_id: the member.
    """

    number: int
    doc_id: str


class Budget:
    """How much may still come out of one file.

    Args:
        max_bytes: unpacked, of all members at all depths together.
        text: how many characters it may become.

    Attributes:
        text: this.
        bytes_left: of these; below zero once there was more.
        members_left: how many further members may be read.
    """

    def __init__(self, max_bytes: int, text: TextBudget) -> None:
        self.text = text
        self._max_bytes = max_bytes
        self.bytes_left = max_bytes
        self.members_left = MAX_MEMBERS

    @property
    def spent(self) -> bool:
        """Whether nothing more may come."""
        return self.bytes_left < 0 or self.members_left < 0 or self.text.spent

    def check(self, unpacked: int) -> None:
        """Refuse an archive that says itself that it holds too much.

        Args:
            unpacked: bytes of its members that would be read.

        Raises:
            UnreadableError: it is more than is left.
        """
        if unpacked > self.bytes_left:
            raise self._too_much()

    def count_member(self) -> None:
        """Take one member.

        Raises:
            UnreadableError: there were `MAX_MEMBERS` before it.
        """
        self.members_left -= 1
        if self.members_left < 0:
            raise UnreadableError(f"The archive holds more than {MAX_MEMBERS:,} files.", "Split it, or unpack it.")

    def metered(self, stream: object) -> io.BufferedReader:
        """Return the stream, whose bytes count from now on; damage in it raises UnreadableError."""
        return metered(stream, self.take, "It is damaged", "Pack it again.")

    def take(self, size: int) -> None:
        """Count bytes that came out.

        Raises:
            UnreadableError: they were too many.
        """
        self.bytes_left -= size
        if self.bytes_left < 0:
            raise self._too_much()

    def _too_much(self) -> UnreadableError:
        fact = f"The archive unpacks to more than {self._max_bytes // 1_000_000:,} MB."
        return UnreadableError(fact, "Split it, or unpack it and ingest the folder.")


class Tally:
    """Counts what a container holds and is not read, for one line of the report.

    Args:
        doc_id: of the container.
    """

    def __init__(self, doc_id: str) -> None:
        self._doc_id = doc_id
        self._reasons: Counter[str] = Counter()
        self._first: dict[str, str] = {}

    def add(self, name: str, reason: str) -> None:
        """Count one; `reason` is as in the list of skipped files."""
        self._reasons[reason] += 1
        self._first.setdefault(reason, printable(name))

    def left_out(self) -> Iterator[LeftOut]:
        """Yield the line, unless nothing was counted."""
        if not self._reasons:
            return
        kinds = self._reasons.most_common()
        parts = [f"{reason} ({count:,}, such as {self._first[reason]!r})" for reason, count in kinds[:_SHOWN_KINDS]]
        if len(kinds) > _SHOWN_KINDS:
            parts.append(f"{len(kinds) - _SHOWN_KINDS} further types")
        yield LeftOut(self._doc_id, f"Not read within it: {', '.join(parts)}.")


def read_zip(file: io.BufferedReader, doc_id: str, budget: Budget) -> Found:
    """Yield the members of a zip archive that are of a known type, in the archive's order.

    Args:
        file: which can be sought in.
        doc_id: the archive.
        budget: of the file that this is, or is in.

    Raises:
        UnreadableError: no zip archive, damaged as a whole, or more in it than the budget has left.
    """
    tally = Tally(doc_id)
    try:
        archive = zipfile.ZipFile(cast("BinaryIO", file))
    except DAMAGE as error:
        raise UnreadableError(f"This is not a zip archive, or a damaged one: {error}.", "Pack it again.") from error
    with archive:
        entries = [(_zip_name(entry), entry) for entry in archive.infolist() if not entry.filename.endswith("/")]
        read = [(name, entry) for name, entry in entries if _is_read(name, tally)]
        budget.check(sum(entry.file_size for _, entry in read))
        for name, entry in read:
            budget.count_member()
            try:
                member_id = member_doc_id(doc_id, name)
                _refuse_encrypted(entry)
                with archive.open(entry) as stream:
                    yield Member(member_id, budget.metered(stream), entry.file_size)
            except UnreadableError as error:
                yield lost(f"{doc_id}/{printable(name)}", error)
            except DAMAGE as error:
                yield lost(f"{doc_id}/{printable(name)}", UnreadableError(f"It is damaged: {error}.", "Pack it again."))
    yield from tally.left_out()


def read_tar(stream: io.BufferedReader, doc_id: str, budget: Budget) -> Found:
    """Yield the members of a tar archive that are of a known type; it is streamed.

    Raises:
        UnreadableError: as `read_zip`; at damage in the middle after the members before it.
    """
    tally = Tally(doc_id)
    try:
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as archive:
            for entry in archive:
                archive.members = []  # type: ignore[attr-defined]  # it would keep them all
                if entry.isdir() or not _is_read(entry.name, tally):
                    continue
                budget.count_member()
                inner = archive.extractfile(entry) if entry.isreg() else None
                if inner is None:
                    tally.add(entry.name, "link or device")
                    continue
                try:
                    member_id = member_doc_id(doc_id, entry.name)
                except UnreadableError as error:
                    yield lost(f"{doc_id}/{printable(entry.name)}", error)
                else:
                    yield Member(member_id, budget.metered(inner), entry.size)
    except DAMAGE as error:
        raise UnreadableError(f"The tar archive is damaged or cut short: {error}.", "Pack it again.") from error
    yield from tally.left_out()


def lost(doc_id: str, error: UnreadableError) -> UnreadableError:
    """Return why a member is not read, with its name."""
    # Records have ids of their own: which of them are lost is not known.
    is_records = format_of(doc_id) in ("jsonl", "csv", "parquet", "json")
    return UnreadableError(f"{doc_id}: {error.fact}", error.remedy, None if is_records else doc_id)


def member_doc_id(container: str, name: str) -> str:
    """Return the doc_id of a member.

    Raises:
        UnreadableError: its name leads out of the container, or is too long.
    """
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts or not parts:
        raise UnreadableError("Its name leads out of the archive.", "Pack it again.")
    doc_id = "/".join((container, *parts))
    if len(doc_id) > MAX_ID_CHARS:
        raise UnreadableError(f"Its path is longer than {MAX_ID_CHARS} characters.", "Shorten it.")
    return doc_id


class AttachmentNames:
    """Names what is attached to one mail, each name once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._number = 0

    def name(self, given: str, content_type: str) -> str:
        """Return a name without folders.

        Args:
            given: as the mail has it; may be empty, or anything.
            content_type: such as `application/pdf`; names the suffix of what has none that is known.
        """
        self._number += 1
        name = one_line(given).replace("\\", "/").rpartition("/")[2].lstrip(".") or f"attachment-{self._number}"
        if format_of(name) is None:
            name += _suffix_of(content_type, any_kind="." not in name)
        stem, dot, suffix = name.rpartition(".")
        if len(name) > _MAX_NAME_CHARS and stem and len(suffix) <= _MAX_SUFFIX_CHARS:
            name = f"{stem[:_MAX_NAME_CHARS]}{dot}{suffix}"
        name = name[: _MAX_NAME_CHARS + _MAX_SUFFIX_CHARS + 1]
        if name in self._taken:
            stem, dot, suffix = name.rpartition(".")
            name = f"{stem or suffix}-{self._number}{dot if stem else ''}{suffix if stem else ''}"
        self._taken.add(name)
        return name


def _suffix_of(content_type: str, *, any_kind: bool) -> str:
    """Return the suffix of a type that is read; else, where that is wanted, of any type; else nothing."""
    suffixes = mimetypes.guess_all_extensions(content_type)
    known = next((suffix for suffix in suffixes if format_of(f"x{suffix}")), "")
    return known or (suffixes[0] if suffixes and any_kind else "")


def _refuse_encrypted(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise UnreadableError("It is encrypted.", "Pack the archive without a password.")


def _zip_name(entry: zipfile.ZipInfo) -> str:
    """Return a member's name, in UTF-8 also where the archive does not say so."""
    if entry.flag_bits & _UTF8_NAME:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode()
    except UnicodeError:
        return entry.filename


def _is_read(name: str, tally: Tally) -> bool:
    """Tell what is read by its name, and count the others; hidden names are passed over, as in a folder."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if any(part == "__MACOSX" or (part.startswith(".") and part.strip(".")) for part in parts):
        return False
    if reason := refusal_of_name(name):
        tally.add(name, reason)
    return not reason


class _Header(tarfile.TarInfo):
    """A member's header; a damaged one in the middle is an error, which `tarfile` takes for the archive's end."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> "_Header":
        try:
            return super().fromtarfile(archive)
        except (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError) as error:  # type: ignore[attr-defined]
            raise tarfile.ReadError(str(error)) from error
