"""The words by which people call a document: those of its title and of its file's name.

Flow: ingestion puts a document's names beside each of its leaves in the word index; retrieval looks for the question's
words among them. A company and a year often stand in the name alone, and seldom in the sentence that answers. Pure.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

_WORD = re.compile(r"[^\W_]+")
# "FY2017" and "2023Q4" name a year as well.
_PART = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class Called:
    """One thing a question may call a document by.

    Attributes:
        words: any of them will do.
        count: how many of the question's words it takes up.
    """

    words: tuple[str, ...]
    count: int = 1


def document_names(title: str, doc_id: str) -> str:
    """Return the words of a title and of a file's name, and the letters and digits that stand together in them."""
    words = _WORD.findall(f"{title} {PurePosixPath(doc_id).stem}")
    return " ".join(dict.fromkeys([*words, *(part for word in words for part in _parts(word))]))


def question_names(words: list[str]) -> list[Called]:
    """Return what a question may call a document by.

    Args:
        words: the question's words that carry meaning, in their order.

    Returns:
        Each word, with its parts of two letters or digits and more; and each two neighbours written as one, since names
        of files leave blanks out.
    """
    single = [
        Called((word, *(part for part in _parts(word) if len(part) > 1)))
        for found in words
        for word in _WORD.findall(found)
    ]
    return single + [Called((first.words[0] + second.words[0],), 2) for first, second in pairwise(single)]


def _parts(word: str) -> list[str]:
    parts = _PART.findall(word)
    return parts if len(parts) > 1 else []
