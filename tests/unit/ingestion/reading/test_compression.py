"""Compressed files: whole, cut short, damaged, and bombs."""

import bz2
import gzip
import io
from typing import cast

import pytest

from errors import UnreadableError
from ingestion.reading.compression import decompressed, is_compressed, max_stream_bytes

TEXT = b"Wind and sun.\n" * 1000


def opened(data: bytes, max_bytes: int = 1_000_000) -> io.BufferedReader:
    return decompressed(io.BufferedReader(cast("io.RawIOBase", io.BytesIO(data))), max_bytes)


@pytest.mark.parametrize(
    "data", [gzip.compress(TEXT, mtime=0), bz2.compress(TEXT), gzip.compress(TEXT[:700], mtime=0) * 20]
)
def test_compressed_data_is_known_by_its_first_bytes_and_read(data: bytes) -> None:
    assert is_compressed(data)
    assert opened(data).read() == TEXT


def test_text_that_begins_like_bzip2_is_text() -> None:
    assert not is_compressed(b"BZh is how a bzip2 file begins.")


@pytest.mark.parametrize(
    "data", [gzip.compress(TEXT, mtime=0)[:-20], bz2.compress(TEXT)[:-20], gzip.compress(TEXT, mtime=0) + b"junk"]
)
def test_damage_is_reported(data: bytes) -> None:
    with pytest.raises(UnreadableError, match="damaged or cut short"):
        opened(data).read()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_bomb_is_refused_after_the_limit(compress: type[bytes]) -> None:
    bomb = compress(bytes(1_000_000)) * 50

    with pytest.raises(UnreadableError, match=r"holds more than 2 MB.*RAG_INGEST__MAX_FILE_MB"):
        opened(bomb, 2_000_000).read()


def test_a_large_file_of_records_may_hold_a_hundred_times_its_size() -> None:
    assert max_stream_bytes(10_000_000, 1_000_000) == 1_000_000_000
    assert max_stream_bytes(10, 1_000_000) == 1_000_000
