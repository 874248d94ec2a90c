"""Guess the encoding of a text that is neither marked, declared nor UTF-8: the one in which it reads best.

Flow: bytes -> `text.py` -> **here** -> the name of an encoding. Loads the model of languages (`language.py`) at its
first use, since most text is UTF-8.

Each encoding turns the same bytes into other letters. Of the right ones a language is far likelier than of letters
that no language has beside each other.
"""

import codecs
import math
import re
from contextvars import ContextVar
from statistics import fmean

from errors import UnreadableError
from ingestion.reading.language import likelihoods

# Of equal ones the first is taken: Western, and of each region the one of Windows, which has all that others have.
ENCODINGS = (
    *("cp1252", "cp1250", "cp1254", "cp1257", "cp1251", "cp1253", "iso8859-2", "iso8859-13", "koi8-r", "koi8-u"),
    *("iso8859-5", "iso8859-7"),
)
SAMPLE_BYTES = 4000
# By so much must another encoding make a language likelier (natural logarithm), since Western is far more common.
MARGIN = 2.0
# Encodings of several bytes a letter, and of old machines, must make it so much likelier than the others.
RARE_FACTOR = 1.1
# What a word costs that has a letter of another script among Latin ones, or a capital among small ones.
MIXED_COST = 10.0
_FOREIGN_LINE = re.compile(rb"^[^\n\x80-\xff]*+[\x80-\xff][^\n]*+\n?", re.MULTILINE)
# What ends a word is a mark of footnotes in Western texts: it may be a letter elsewhere, but tells nothing.
_RAISED = re.compile(rb"[\xaa\xb2\xb3\xb9\xba](?![A-Za-z\x80-\xff])")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MIXED = re.compile("[A-Za-z\u00c0-\u024f][\u0370-\u1dff]|[\u0370-\u1dff][A-Za-z\u00c0-\u024f]")


guessed: ContextVar[str | None] = ContextVar("guessed", default=None)
"""Encoding that was guessed for the file that is being read, which the document says; None where none was."""


def guessed_encoding(data: bytes) -> str:
    """Return the encoding in which the lines that are not ASCII make the most sense.

    Args:
        data: not UTF-8.

    Raises:
        UnreadableError: it cannot be told.
    """
    from charset_normalizer import from_bytes  # noqa: PLC0415  # takes its time to import

    sample = b"".join(_FOREIGN_LINE.findall(data))[:SAMPLE_BYTES]
    # It knows those of several bytes a letter, too, and of old machines, but takes one region for another.
    rare = from_bytes(sample).best()
    if rare is None:
        raise UnreadableError("The file's encoding cannot be told.", "Save it as UTF-8.")
    plain = _RAISED.sub(b" ", sample)
    senses = {encoding: sense for encoding in ENCODINGS if (sense := _sense(plain, encoding)) is not None}
    best = max(senses, key=senses.__getitem__, default=rare.encoding)
    if senses.get(best, 0.0) - senses.get("cp1252", -math.inf) <= MARGIN:
        best = "cp1252"
    if rare.encoding not in ENCODINGS and not rare.encoding.startswith("utf"):
        sense = _sense(sample, rare.encoding) or 0.0
        best = rare.encoding if sense > RARE_FACTOR * senses.get(best, 0.0) else best
    guessed.set(best)
    return best


def _sense(sample: bytes, encoding: str) -> float | None:
    """Return how much likelier the likeliest language is than languages are on average; None if it does not decode."""
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except ValueError:
        return None
    words = _WORD.findall(text)
    if not words:
        return 0.0
    scores = likelihoods(" ".join(words))
    mixed = sum(bool(_MIXED.search(word)) or word[1:] not in (word[1:].lower(), word[1:].upper()) for word in words)
    return max(scores) - fmean(scores) - MIXED_COST * mixed
