"""Turn symbols of Word's old fonts, and boxes to tick, into the characters that they show.

Flow: elements of a document -> **here** -> `docx.py`. Pure.

Symbol, Wingdings and Webdings have codes of their own for what Unicode has under others. Those that texts use are
listed; all others of these fonts are left out.
"""

from typing import Any

from ingestion.reading.office.word_styles import MAIN, NO, VAL

SYMBOL = f"{MAIN}sym"
_BOX = "{http://schemas.microsoft.com/office/word/2010/wordml}"
# Fonts of symbols have their codes here in Unicode, too.
_PRIVATE = range(0xF000, 0xF100)

_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ"
_SYMBOL = {
    **dict(zip(range(0x20, 0x40), " !∀#∃%&∋()∗+,−./0123456789:;<=>?", strict=True)),
    0x40: "≅",
    **dict(zip(range(0x41, 0x5B), _GREEK, strict=True)),
    0x5B: "[", 0x5C: "∴", 0x5D: "]", 0x5E: "⊥", 0x5F: "_",
    **dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
    **dict(zip(range(0x7B, 0x7F), "{|}∼", strict=True)),
    **dict(zip(range(0xA1, 0xC0), "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵", strict=True)),
    **dict(zip(range(0xC0, 0xE0), "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓", strict=True)),
    0xE0: "◊", 0xE1: "〈", 0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF1: "〉", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS = {
    0x20: " ", 0x21: "✏", 0x22: "✂", 0x28: "☎", 0x29: "✆", 0x2A: "✉", 0x36: "⌛", 0x3F: "✍", 0x41: "✌", 0x43: "👍",
    0x44: "👎", 0x45: "☜", 0x46: "☞", 0x47: "☝", 0x48: "☟", 0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0x4E: "☠", 0x6C: "●",
    0x6D: "❍", 0x6E: "■", 0x6F: "□", 0x70: "□", 0x71: "❑", 0x72: "❒", 0x73: "⬧", 0x74: "⧫", 0x75: "◆", 0x76: "❖",
    0x78: "☒", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xAB: "★", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑",
    0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xF1: "⇧", 0xF2: "⇩", 0xF3: "⬄", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒",
    0xFE: "☑",
    **dict(zip(range(0x80, 0x8B), "⓪①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
    **dict(zip(range(0x8B, 0x96), "⓿❶❷❸❹❺❻❼❽❾❿", strict=True)),
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x97: "●"}
_WEBDINGS = {0x61: "✓", 0x63: "☐", 0x67: "■", 0x6E: "●", 0x72: "✗"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2, "webdings": _WEBDINGS}


def symbol(element: Any) -> str:
    """Return the character that a `w:sym` shows; empty if it is not known."""
    try:
        code = int(element.get(f"{MAIN}char", ""), 16)
    except ValueError:
        return ""
    font = element.get(f"{MAIN}font", "")
    if code in _PRIVATE or font.casefold() in _FONTS:
        return in_font(chr(_PRIVATE.start + code % 0x100), font)
    return chr(code) if 0x20 <= code <= 0x10FFFF else ""


def in_font(text: str, font: str) -> str:
    """Return text of a run with its symbols as characters; those that are not known are left out."""
    known = _FONTS.get(font.casefold(), {})
    return "".join(known.get(ord(one) - _PRIVATE.start, "") if ord(one) in _PRIVATE else one for one in text)


def checkbox(control: Any) -> str:
    """Return ☑ or ☐ for a content control that is a box to tick; empty for any other."""
    box = control.find(f"{MAIN}sdtPr/{_BOX}checkbox")
    if box is None:
        return ""
    ticked = box.find(f"{_BOX}checked")
    is_ticked = ticked is not None and ticked.get(f"{_BOX}val", ticked.get(VAL, "1")) not in NO
    return "☑" if is_ticked else "☐"
