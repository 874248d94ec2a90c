"""Content words of a sentence, in the form in which two sentences are compared: stems, and numbers as figures.

Pure; it reads English best, and knows nothing of what the words mean.
"""

import re

from index.lexical.tantivy_index import STOP_WORDS
from index.plain_letters import plain_letters
from query_engine.text.spelt_numbers import SPELT_NUMBERS

# Words that say nothing about what a sentence is about: those that a search leaves out, and more. A search keeps these,
# because a question may turn on "before" or "most"; a claim's denials and opposites are read apart from its words.
_STOP_WORDS = STOP_WORDS | frozenset(
    "according after all also although because before being between both cannot during each hardly he her him his "
    "however itself just let may might more most much never nobody none nor nothing only other out over own per rarely "
    "same she some through too unable under up us used using very whether while without yes".split()
)
# What models put around a claim without claiming it.
_FRAME_WORDS = frozenset(
    "document documents passage passages text source sources provided given mention mentions mentioned state states "
    "stated describe describes described explain explains example called known namely thus therefore".split()
)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?")
# Words are compared by their beginnings, so that "captured" supports "capture".
_STEM_CHARS = 6
_SCALES = frozenset(
    "hundred hundreds thousand thousands million millions billion billions trillion trillions half third quarter "
    "twice double triple".split()
)


def content_stems(text: str) -> frozenset[str]:
    """Return stems of a text's content words, and its numbers."""
    words = _words(text)
    silent = _STOP_WORDS | _FRAME_WORDS | SPELT_NUMBERS.keys() | _SCALES
    return frozenset(stem_of(word) for word in words if not word[0].isdigit() and word not in silent) | numbers(text)


def numbers(text: str) -> frozenset[str]:
    """Return a text's numbers as figures, however they are spelt; words of scale too."""
    found = set()
    for word in _words(text):
        if word[0].isdigit():
            figure = re.sub(r",(?=\d{3}(?!\d))", "", word).replace(",", ".")
            found.add(figure.rstrip("0").rstrip(".") if "." in figure else figure)
        elif word in SPELT_NUMBERS:
            found.add(str(SPELT_NUMBERS[word]))
        elif word in _SCALES:
            found.add(stem_of(word))
    return frozenset(found)


def stem_of(word: str) -> str:
    """Return what two forms of a word usually share.

    Coarser than the stemmers of the word index (Snowball's) and of ROUGE (Porter's), because a paraphrase may turn
    "production" into "produce", which both of them tell apart.
    """
    word = word.removesuffix("'s")
    if len(word) > 3 and word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    return word[:_STEM_CHARS]


def _words(text: str) -> list[str]:
    return [word.replace("’", "'").lower() for word in _WORD.findall(plain_letters(text))]
