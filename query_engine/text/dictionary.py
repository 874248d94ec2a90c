"""Tell whether a dictionary of English has a word: pyspellchecker's list, with the number of uses in film subtitles.

Flow: retrieval trusts words that no dictionary has, and windows prefer them -> **here**. Pure.
"""

import unicodedata
from functools import cache

from spellchecker import SpellChecker

from index.documents.normalization import normalize

# What remains of a word without its prefix or suffix, and each half of a compound, has at least so many letters.
MIN_CHARS = 4
# The dictionary also has words that are hardly used.
MIN_USES = 500
_PREFIXES = (
    "aero anti auto axi bi bio co counter cyber de di dis electro en extra geo hydro hyper il im in infra inter "
    "intra ir macro mega "
    "meta micro mid mis mono multi nano neo neuro non over para photo poly post pre pro pseudo quasi re semi sub super "
    "tele thermo trans tri ultra un under uni"
).split()
_SUFFIXES = "able ally ed er ers es ing ings ion ions ish ism ist ists ity ive less like ly ment ness s wise".split()
# British and American spellings of the same word.
_BRITISH = tuple(
    tuple(pair.split("/"))
    for pair in (
        "is/iz ys/yz our/or tre/ter ogue/og ence/ense lled/led lling/ling ller/ler lment/llment haem/hem paed/ped "
        "foet/fet oest/est oedem/edem anaes/anes rrhoea/rrhea paleo/palaeo"
    ).split()
)


def in_dictionary(word: str) -> bool:
    """Say whether a lower-case word is in the dictionary, or is built of words that are."""
    known = _dictionary()
    forms = {word, _without_accents(word)}
    forms |= {form.replace(british, american) for form in forms for british, american in _BRITISH}
    forms |= {form.removesuffix(suffix) + end for form in forms for suffix in _SUFFIXES if form.endswith(suffix)
              for end in ("", "e") if len(form) - len(suffix) > MIN_CHARS}  # fmt: skip
    if any(form in known for form in forms):
        return True
    for prefix in _PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= MIN_CHARS and word[len(prefix) :] in known:
            return True
    cuts = range(MIN_CHARS, len(word) - MIN_CHARS + 1)
    return any(known[half] >= MIN_USES for cut in cuts for half in [min(word[:cut], word[cut:], key=known.__getitem__)])


def _without_accents(word: str) -> str:
    parts = normalize(word, "NFKD")
    return "".join(letter for letter in parts if not unicodedata.combining(letter))


@cache
def _dictionary() -> SpellChecker:
    """Return the words, read when they are first needed; that takes 0.1 s and 16 MB."""
    return SpellChecker()
