"""Return text with plain letters for those that only look different: ligatures, wide and narrow forms, superscripts.

Flow: texts and questions -> **here** -> what compares them: word index, embedding, reader. What is stored and shown
stays as it is written. Unicode's own compatibility form (NFKC) would make 106 of 10⁶. Pure; linear time.
"""

import re
import unicodedata

# Latin and Armenian ligatures; wide and narrow forms; letters of formulas in bold, italics or script; Roman numerals.
_RANGES = (
    range(0xFB00, 0xFB07), range(0xFB13, 0xFB18), range(0xFF01, 0xFFEF), range(0x1D400, 0x1D800), range(0x2160, 0x2180),
)  # fmt: skip
_LETTERS = {code: unicodedata.normalize("NFKC", chr(code)) for codes in _RANGES for code in codes}
_LETTERS |= {0x3000: " ", 0xB5: "μ", 0xBA: "o", 0xAA: "a"}
_LETTERS |= dict(zip(map(ord, "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙᵢ"), "0123456789+-=()ni", strict=True))
_HIGH = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ"
_LETTERS |= dict(zip(map(ord, _HIGH), "0123456789+-=()ni", strict=True))
# Kana with a mark of their own in narrow form.
_VOICED = re.compile("[\u3040-\u30ff][\u3099\u309a]")
_CHANGED = re.compile(f"[{''.join(map(chr, _LETTERS))}]")
# A power of a number, or a mark behind a word that is too long for a unit, would be taken for a part of it.
_APART = re.compile(rf"(?:(?<=\d)|(?<=[^\W\d_]{{4}}))(?=[{_HIGH}])")


def plain_letters(text: str) -> str:
    """Return the text: `ﬁlter` as `filter`, `ＡＢ` as `AB`, `H₂O` as `H2O`, `m²` as `m2`, but `10⁶` as `10^6`.

    What a beginning of the text becomes is the beginning of what the text becomes, so that lengths map offsets.
    """
    if text.isascii() or _CHANGED.search(text) is None:
        return text
    plain = _APART.sub("^", text).translate(_LETTERS)
    return _VOICED.sub(lambda found: unicodedata.normalize("NFC", found[0]), plain)
