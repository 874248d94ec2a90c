"""Name the language of a text.

Flow: `formats.py` -> **here** -> `language` in a document's metadata. A text that says its own language is believed.
Steps of pipelines name languages by the same model.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_MIN_LETTERS = 200
_SAMPLE_CHARS = 2000
_MIN_CONFIDENCE = 0.5  # likelier than all other languages together; tables of numbers stay far below
_NO_LANGUAGE = "zxx"


class LanguageNamer:
    """Finds the language that a text is written in; loading it takes about half a second."""

    def __init__(self) -> None:
        self._identifier = _model(shares=True)

    def name(self, text: str) -> str | None:
        """Return the ISO 639 code of the language that a text begins in, or None where it cannot be told."""
        sample = text[:_SAMPLE_CHARS]
        if sum(map(str.isalpha, sample)) < _MIN_LETTERS:
            return None
        code, confidence = self._identifier.classify(sample)
        return str(code) if confidence >= _MIN_CONFIDENCE and code != _NO_LANGUAGE else None


@cache
def namer() -> LanguageNamer:
    """Return the one model of languages of this process, loaded at the first call."""
    return LanguageNamer()


def likelihoods(text: str) -> list[float]:
    """Return how likely a text is in each language, as logarithms in no order; compares readings of the same bytes."""
    return [float(score) for _, score in _model(shares=False).rank(text)]


@cache
def _model(*, shares: bool) -> "LanguageIdentifier":
    # Imported with the model: the service loads this module at its start, and seldom names a language itself.
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier  # noqa: PLC0415

    return LanguageIdentifier.from_modelpath(MODEL_DIR / MODEL_FILE, norm_probs=shares)
