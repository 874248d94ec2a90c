"""Choose the packaged embedding model that fits the languages of a corpus.

Documents' languages come in, counted; who counts them decides which documents are looked at. Pure.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from settings import MINILM, MULTILINGUAL

# As documents name it themselves, without a region.
ENGLISH = frozenset({"en", "eng", "english"})
# Documents that decide when a corpus is made.
LOOKED_AT = 20
# Share of documents in English from which on the English model is the better one: a name of a language is sometimes
# wrong, and a few foreign documents are still found by their words.
MOSTLY = 0.9


class Choice(NamedTuple):
    """A model, and why.

    Attributes:
        model: as in the settings.
        reason: for people, without a full stop.
    """

    model: str
    reason: str


def choose(languages: Mapping[str, int]) -> Choice:
    """Return the packaged model for documents of these languages.

    Args:
        languages: language code -> number of documents; those whose language is unknown are left out.
    """
    known, english = sum(languages.values()), _english(languages)
    if not known:
        return Choice(MINILM, "no document is long enough to tell its language")
    counts = ", ".join(
        f"{count} {code}" for code, count in sorted(languages.items(), key=lambda one: (-one[1], one[0]))
    )
    model = MINILM if english >= MOSTLY * known else MULTILINGUAL
    return Choice(model, f"languages of the documents that were looked at: {counts}")


def is_misfit(model: str, languages: Mapping[str, int]) -> bool:
    """Say whether most documents are in another language than the model knows."""
    return model == MINILM and 2 * _english(languages) < sum(languages.values())


def _english(languages: Mapping[str, int]) -> int:
    return sum(count for code, count in languages.items() if re.split("[-_]", code.lower())[0] in ENGLISH)
