"""Undo gzip and bzip2 while a file is read, up to a limit: a small file can hold a mountain of zeros.

Flow: open file -> **here** -> stream of the bytes within -> a format's reader.
"""

import bz2
import gzip
import io
import zlib
from typing import BinaryIO, cast

from errors import UnreadableError
from ingestion.reading.files import BUFFER_BYTES

_GZIP = b"\x1f\x8b\x08"
_BZIP2 = b"BZh"
_BZIP2_BLOCK = b"1AY&SY"
# Text shrinks three to ten times, the barest table perhaps fifty times; what shrinks more is not text.
MAX_RATIO = 100


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
    return io.BufferedReader(_Bounded(cast("BinaryIO", inner), max_bytes), BUFFER_BYTES)


class _Bounded(io.RawIOBase):
    def __init__(self, inner: BinaryIO, max_bytes: int) -> None:
        super().__init__()
        self._inner = inner
        self._max_bytes = max_bytes
        self._left = max_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the base's type names no length
        try:
            data = self._inner.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableError(
                f"The compressed file is damaged or cut short: {error}.", "Compress it again."
            ) from error
        self._left -= len(data)
        if self._left < 0:
            limit = self._max_bytes // 1_000_000
            fact = f"The compressed file holds more than {limit} MB."
            raise UnreadableError(fact, "Split it, or raise RAG_INGEST__MAX_FILE_MB.")
        buffer[: len(data)] = data
        return len(data)
