"""Bytes to text, and text to the one form that is stored: what every reader shares.

Flow: file bytes -> **here** -> the format's reader -> `Document`.

Every offset in the project counts characters of text cleaned here, so cleaning happens once and before any
offset exists. Pure functions; nothing here knows a file format.
"""

import codecs
import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from errors import UnreadableError
from index.documents.normalization import normalize
from ingestion.reading.encodings import guessed_encoding
from ingestion.reading.format_table import inner_name
from ingestion.reading.marks import written

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROL_BYTES = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b")) + b"\x7f"
_LINE_BREAKS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
# Control characters, soft hyphens, zero-width and direction marks, the invisible "tag" letters in which
# instructions can be hidden, and what no UTF-8 file can hold.
_INVISIBLE = re.compile(
    "[\0-\x08\x0e-\x1f\x7f-\x9f\u00ad\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_BLANK_LINES = re.compile(r"\n{4,}")
_SAMPLE_BYTES = 200_000


def decode(data: bytes, declared: str | None = None) -> str:
    """Turn bytes into text: by byte order mark, as UTF-8, as `declared`, or by what the bytes look like.

    Args:
        data: the whole file.
        declared: an encoding that the file names itself; believed only where it fits and UTF-8 does not.

    Raises:
        UnreadableError: the bytes are not text, or in no encoding we can tell.
    """
    sample = data[:_SAMPLE_BYTES]
    if encoding := _encoding_by_marks(sample):
        return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    for encoding in ("utf-8", declared or "utf-8"):
        try:
            return data.decode(encoding)
        except (ValueError, LookupError):  # a name that holds NUL is neither found nor missing
            continue
    return data.decode(_encoding_by_looks(data) or "utf-8", errors="replace")


def encoding_of(sample: bytes) -> str:
    """Name the encoding of a text that is too long to be decoded at once, by how it begins.

    Args:
        sample: the first bytes, some ten thousand or more; they may end inside a character.

    Raises:
        UnreadableError: the bytes are not text, or in no encoding we can tell.
    """
    if encoding := _encoding_by_marks(sample):
        return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _encoding_by_looks(sample) or "utf-8"
    return "utf-8"


def _encoding_by_marks(sample: bytes) -> str | None:
    """Name the encoding that a byte order mark or zero bytes tell, or None.

    Raises:
        UnreadableError: the bytes are not text.
    """
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            return encoding
    if utf16 := _utf16_without_mark(sample):
        return utf16
    if len(sample) - len(sample.translate(None, _CONTROL_BYTES)) > 4 + len(sample) / 100:
        raise UnreadableError("The file holds binary data, not text.", "Give it the right suffix, or remove it.")
    return None


def is_text(start: bytes) -> bool:
    """Tell text in any encoding from binary data, by the first bytes of a file."""
    try:
        _encoding_by_marks(start)
    except UnreadableError:
        return False
    return True


def clean(text: str) -> str:
    """Return `text` as it is stored: NFC, line feeds only, no invisible characters, no trailing spaces.

    Superscripts and subscripts are written as `marks.py` does.
    At most two blank lines stand in a row, none at either end; `""` if nothing visible is left.
    """
    text = written(_INVISIBLE.sub("", _SPACES.sub(" ", _LINE_BREAKS.sub("\n", text))))
    text = "\n".join(line.rstrip() for line in normalize(text).split("\n"))
    return _BLANK_LINES.sub("\n\n\n", text).strip("\n")


def clean_body(text: str) -> str:
    """Like `clean`, for a whole document.

    Raises:
        UnreadableError: nothing visible is left.
    """
    if cleaned := clean(text):
        return cleaned
    raise UnreadableError("The file holds no text.", "Fill it or remove it.")


def one_line(text: str) -> str:
    """Return cleaned text with every run of white space as one space: the form of titles and names."""
    return " ".join(clean(text).split())


def shape_of(line: str) -> str:
    """Return what running lines have in common: all but their digits."""
    return re.sub(r"\d+", "#", " ".join(line.casefold().split()))


def title_from_name(doc_id: str) -> str:
    """Return a file's stem in words: `notes/AMAZON_2017_10K.pdf` -> `AMAZON 2017 10K`."""
    stem = PurePosixPath(inner_name(doc_id)).stem
    decoded = one_line(unquote(stem, errors="strict")) if _is_percent_encoded(stem) else stem
    if "_" not in decoded and " " not in decoded:
        # Hyphens are the separators then; between digits they belong to a date or a range.
        decoded = re.sub(r"(?<!\d)-|-(?!\d)", " ", decoded)
    return one_line(decoded.replace("_", " ")) or doc_id


def _is_percent_encoded(stem: str) -> bool:
    try:
        return unquote(stem, errors="strict") != stem
    except UnicodeDecodeError:
        return False


def _utf16_without_mark(sample: bytes) -> str | None:
    """Tell UTF-16 by its zero bytes: nearly every second byte of Western text, always on the same side."""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if even + odd < len(sample) / 5:
        return None
    if odd > 20 * even:
        return "utf-16-le"
    return "utf-16-be" if even > 20 * odd else None


def _encoding_by_looks(data: bytes) -> str | None:
    """Name the encoding of what is not clean UTF-8; None for UTF-8 with a few damaged characters.

    Raises:
        UnreadableError: it cannot be told.
    """
    repaired = data.decode("utf-8", errors="replace")
    damaged = repaired.count("\ufffd")
    if damaged * 20 < sum(1 for c in repaired if c > "\x7f") - damaged:
        return None  # most multi-byte sequences are valid
    first = re.search(rb"[\x80-\xff]", data)
    start = max(0, first.start() - 1000) if first else 0
    return guessed_encoding(data[start : start + _SAMPLE_BYTES])


def number_ranges(numbers: Sequence[int]) -> str:
    """Return rising numbers, such as pages, as people write them: `1-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
