"""One folder as one .tar.gz that can be checked before it is trusted.

Flow: `backup.py` -> **here**: the files of a folder -> an archive that begins with its own list -> the files again.
What the folder means, and where it goes, is `backup.py`'s business.

An archive comes from outside, so nothing in it is believed: it may hold only plain files, each named below the folder
and in the list, of the size and the hash that the list says, together of a size that a corpus can have.
"""

import gzip
import hashlib
import os
import shutil
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from errors import CorpusError, StorageError
from index.disk import FLOOR_BYTES

LIST_NAME = "backup.json"
MAX_LIST_BYTES = 16_000_000
# Vectors hardly shrink, text and its indexes to a third. A small corpus may be mostly room that Chroma keeps free.
MAX_RATIO = 100
ALWAYS_ALLOWED_BYTES = 64_000_000
# A higher one costs much time and gains little: most of a corpus is vectors.
COMPRESS_LEVEL = 1
COPY_BYTES = 1 << 20


class Member(BaseModel):
    """One file of the folder.

    Attributes:
        name: relative to the folder, parts divided by `/`.
        bytes: its size.
        sha256: of its content, 64 hex digits.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    bytes: int = Field(ge=0)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")

    @field_validator("name")
    @classmethod
    def _stays_below(cls, name: str) -> str:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or str(path) != name or not path.parts or "\0" in name:
            raise ValueError(f"{name!r} is not a file below the folder")
        return name


class Contents(BaseModel):
    """The list at the beginning of an archive.

    Attributes:
        format: of the archive.
        corpus: name of the corpus that was saved.
        version: of the program that saved it.
        documents: how many it holds.
        leaves: how many it holds.
        state: its state, see `documents/totals.py`.
        members: its files, in the order of the archive.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = 1
    corpus: str
    version: str
    documents: int = Field(ge=0)
    leaves: int = Field(ge=0)
    state: str
    members: tuple[Member, ...]

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(member.bytes for member in self.members)


class _PlainFile(tarfile.TarInfo):
    """A header that can only be a plain file's: links, devices and extended headers are refused unread."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type != tarfile.REGTYPE:
            raise refusal(f"{header.name!r} in it is not a plain file")
        return header


def refusal(fact: str) -> CorpusError:
    """Return the error that says why an archive is not unpacked."""
    return CorpusError(f"The backup is refused: {fact}.", "Use another backup; nothing was changed.", "bad_backup")


def list_files(folder: Path, *, without: str) -> tuple[Member, ...]:
    """Return what is in a folder that does not change, in the order of the names.

    Args:
        folder: what to save.
        without: name of the one file in it that is left out.

    Raises:
        CorpusError: something in it is neither file nor folder, or its name is too long.
    """
    members = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink() or not (path.is_file() or path.is_dir()):
            raise CorpusError(
                f"{path} is neither a file nor a folder.", "Put what it points to in its place.", "bad_backup"
            )
        if len(name.encode()) > tarfile.LENGTH_NAME:  # it would need an extended header
            raise CorpusError(
                f"The name of {path} is too long for an archive.", "Move it away; no corpus needs it.", "bad_backup"
            )
        if path.is_file() and name != without:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            members.append(Member(name=name, bytes=path.stat().st_size, sha256=digest))
    return tuple(members)


def pack(folder: Path, contents: Contents, file: IO[bytes]) -> None:
    """Write the files of `folder` that `contents` names, after the list itself. Equal files give equal bytes."""
    listed = contents.model_dump_json(indent=1).encode()
    with (
        gzip.GzipFile("", "wb", COMPRESS_LEVEL, file, mtime=0) as packed,
        tarfile.open(mode="w|", fileobj=packed, format=tarfile.GNU_FORMAT) as tar,
    ):
        tar.addfile(_header(LIST_NAME, len(listed)), BytesIO(listed))
        for member in contents.members:
            with (folder / member.name).open("rb") as source:
                tar.addfile(_header(member.name, member.bytes), source)


def unpack(archive: Path, folder: Path) -> Contents:
    """Check an archive while its files are written into `folder`; what is written by a failure is the caller's.

    Args:
        archive: to read.
        folder: must be empty.

    Raises:
        CorpusError: it is not an archive of ours, is damaged, or holds what it must not.
        StorageError: the files do not fit on the disk.
    """
    with _opened(archive) as tar:
        contents = _read_list(tar)
        _check_size(contents, archive.stat().st_size, folder)
        expected = {member.name: member for member in contents.members}
        if len(expected) < len(contents.members):
            raise refusal("its list names a file twice")
        while header := tar.next():
            member = expected.pop(header.name, None)
            if member is None:
                raise refusal(f"{header.name!r} is in it, but not in its list, or twice")
            _write(tar, header, member, folder)
        if expected:
            raise refusal(f"{min(expected)!r} is in its list, but not in it")
    return contents


@contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    try:
        file = archive.open("rb")
    except OSError as error:
        raise refusal(f"{archive} cannot be opened, {error.strerror}") from error
    try:
        with (
            file,
            gzip.GzipFile(fileobj=file) as plain,
            tarfile.open(mode="r|", fileobj=plain, tarinfo=_PlainFile) as tar,
        ):
            yield tar
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise refusal(f"{archive} is damaged or no backup, {error}") from error


def _read_list(tar: tarfile.TarFile) -> Contents:
    header = tar.next()
    if header is None or header.name != LIST_NAME:
        raise refusal(f"it does not begin with {LIST_NAME}")
    if not 0 < header.size <= MAX_LIST_BYTES:
        raise refusal(f"its list has {header.size:,} bytes")
    try:
        return Contents.model_validate_json(_reader(tar, header).read())
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise refusal(f"its list is not valid, {field or LIST_NAME}: {first['msg']}") from error


def _check_size(contents: Contents, packed_bytes: int, folder: Path) -> None:
    allowed = max(ALWAYS_ALLOWED_BYTES, MAX_RATIO * packed_bytes)
    if contents.bytes > allowed:
        raise refusal(f"its {packed_bytes:,} bytes would become {contents.bytes:,}, more than a corpus can shrink")
    free = shutil.disk_usage(folder).free
    if contents.bytes + FLOOR_BYTES > free:
        raise StorageError(
            f"The backup needs {contents.bytes:,} bytes and {FLOOR_BYTES:,} must remain; {free:,} are free.",
            "Free some space and try again; nothing was changed.",
        )


def _write(tar: tarfile.TarFile, header: tarfile.TarInfo, member: Member, folder: Path) -> None:
    if header.size != member.bytes:
        raise refusal(f"{member.name!r} has {header.size:,} bytes, its list says {member.bytes:,}")
    path = folder / member.name
    digest = hashlib.sha256()
    source = _reader(tar, header)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.open("xb")
    except (FileExistsError, NotADirectoryError) as error:
        raise refusal(f"{member.name!r} is in it as a file and as a folder") from error
    with target:
        while block := source.read(COPY_BYTES):
            digest.update(block)
            target.write(block)
        target.flush()
        os.fsync(target.fileno())
    if digest.hexdigest() != member.sha256:
        raise refusal(f"{member.name!r} is not what was saved, its hash differs")


def _reader(tar: tarfile.TarFile, header: tarfile.TarInfo) -> IO[bytes]:
    reader = tar.extractfile(header)
    if reader is None:
        raise refusal(f"{header.name!r} in it is not a plain file")
    return reader


def _header(name: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(name)
    header.size = size
    header.mode = 0o600
    return header
