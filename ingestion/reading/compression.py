"""Undo gzip and bzip2 while a file is read, up to a limit: a small file can hold a mountain of zeros.

Flow: open file -> **here** -> stream of the bytes within -> a format's reader.
"""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from typing import BinaryIO, cast

from errors import UnreadableError
from ingestion.reading.files import BUFFER_BYTES

_GZIP = b"\x1f\x8b\x08"
_BZIP2 = b"BZh"
_BZIP2_BLOCK = b"1AY&SY"
# Text shrinks three to ten times, the barest table perhaps fifty times; what shrinks more is not text.
MAX_RATIO = 100
# What the libraries raise at damage: `zipfile` and `tarfile` pass on whatever the bytes lead them into.
DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    NotImplementedError,
    OverflowError,
    KeyError,
    IndexError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)


def is_compressed(start: bytes) -> bool:
    """Tell gzip and bzip2 by the first bytes of a file."""
    return start.startswith(_GZIP) or (start.startswith(_BZIP2) and start[4:].startswith(_BZIP2_BLOCK))


def max_stream_bytes(size: int, max_bytes: int) -> int:
    """Return how many bytes a compressed file of records may hold: they are streamed, so only a bomb is refused."""
    return max(max_bytes, MAX_RATIO * size)


def decompressed(stream: io.BufferedReader, max_bytes: int) -> io.BufferedReader:
    """Return what a compressed stream holds. Reading it raises UnreadableError at damage, and after `max_bytes`.

    Args:
        stream: at its beginning, of which `is_compressed` holds.
        max_bytes: how much may come out of it.
    """
    is_bzip2 = stream.peek().startswith(_BZIP2)
    inner = bz2.BZ2File(stream) if is_bzip2 else gzip.GzipFile(fileobj=stream)
    left = max_bytes

    def take(size: int) -> None:
        nonlocal left
        left -= size
        if left < 0:
            fact = f"The compressed file holds more than {max_bytes // 1_000_000} MB."
            raise UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_FILE_MB.")

    return metered(inner, take, "The compressed file is damaged or cut short", "Compress it again.")


def metered(inner: object, take: Callable[[int], None], damaged: str, remedy: str) -> io.BufferedReader:
    """Return a stream whose bytes are counted by `take`, which raises when they are too many.

    Args:
        inner: the stream of a library that unpacks.
        take: told how many bytes came.
        damaged: the fact of the UnreadableError that is raised at damage, without its end.
        remedy: of the same.
    """
    return io.BufferedReader(_Metered(cast("BinaryIO", inner), take, damaged, remedy), BUFFER_BYTES)


class _Metered(io.RawIOBase):
    def __init__(self, inner: BinaryIO, take: Callable[[int], None], damaged: str, remedy: str) -> None:
        super().__init__()
        self._inner, self._take, self._damaged, self._remedy = inner, take, damaged, remedy

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the base's type names no length
        try:
            data = self._inner.read(len(buffer))
        except DAMAGE as error:
            raise UnreadableError(f"{self._damaged}: {error}.", self._remedy) from error
        self._take(len(data))
        buffer[: len(data)] = data
        return len(data)
