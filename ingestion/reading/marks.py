"""Write superscripts and subscripts so that they keep their meaning in plain text: 10⁶, H₂O, V_(max), 3rd.

Flow: a format's reader wraps what is raised or lowered (`raised`, `lowered`) -> `text.clean` -> **here** writes it
(`written`), where what stands before it is known. Pure; linear in the text's length.

Digits, signs, `n` and `i` have such characters in Unicode. Other words stand behind `^` or `_`, but for endings of
ordinals, which are read as letters. Marks of notes go.
"""

import re

# Characters that no text holds: Unicode keeps them for use within a program.
_UP, _UP_END, _DOWN, _DOWN_END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_MARK = re.compile("[\ufdd0-\ufdd3]")
_TAGGED = re.compile(r"``?[^`\n]+``?|<(sup|sub)\b[^<>\n]{0,200}>([^<>\n]{0,200})</\1>", re.IGNORECASE)
_PANDOC = re.compile(r"``?[^`\n]+``?|\$[^$\n]+\$|(?<=[^\W_])(?:\^([\w+−-]{1,12})\^|~(\d{1,4})~)(?![~^])")
_RUN = re.compile("(?:\ufdd0([^\ufdd0-\ufdd3]*)\ufdd1|\ufdd2([^\ufdd0-\ufdd3]*)\ufdd3)")
# Raised within what is raised, as in 2^(n²); what is nested deeper stands as it is.
_NESTED = 3
_RAISED = str.maketrans("0123456789+-−–=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−–=()ni", "₀₁₂₃₄₅₆₇₈₉₊₋₋₋₌₍₎ₙᵢ")
_CHARACTERS = frozenset("0123456789+-−–=()ni")
# Longer ones that nothing stands before are small print.
_MAX_ALONE = 3
_NOTE_MARKS = frozenset("*†‡§¶‖#, ")
# A number behind these refers to a note.
_SENTENCE_ENDS = frozenset(".,;:!?”»…")
_NOTE_NUMBERS = re.compile(r"[\d,–\- ]+")
_ORDINAL = re.compile(r"(?:\d|\b[IVXLCDM]+)\Z")
_ORDINAL_END_CHARS = 5
_ORDINAL_LETTERS = frozenset("aer")  # those that are endings by themselves
_SIGNS = {"tm": "™", "sm": "℠"}
# How much before a run is looked at.
_BEFORE_CHARS = 20


def raised(text: str) -> str:
    """Return a superscript for `text.clean` to write; `""` for none."""
    return f"{_UP}{text}{_UP_END}" if text else ""


def lowered(text: str) -> str:
    """Return a subscript for `text.clean` to write; `""` for none."""
    return f"{_DOWN}{text}{_DOWN_END}" if text else ""


def placed_tags(text: str) -> str:
    """Return text with `<sup>` and `<sub>` on one line as what is raised or lowered; not in code between backticks."""
    if "<su" not in text.lower():
        return text
    return _TAGGED.sub(lambda tag: tag[0] if tag[1] is None else _BY_TAG[tag[1].lower()](tag[2]), text)


def placed_in_markdown(text: str) -> str:
    """Return Markdown with `<sup>`, `<sub>`, `10^6^` and `H~2~O` as what is raised or lowered; not in code."""
    if "<su" not in text.lower() and _PANDOC.search(text) is None:
        return text
    lines, fence = [], ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in {"```", "~~~"} and fence in {"", mark}:
            fence = "" if fence else mark
        lines.append(line if fence else placed_tags(_PANDOC.sub(_placed, line)))
    return "\n".join(lines)


def _placed(found: re.Match[str]) -> str:
    return raised(found[1]) if found[1] else lowered(found[2]) if found[2] else found[0]


def written(text: str) -> str:
    """Return a text with its superscripts and subscripts written out; runs that touch are one."""
    if _MARK.search(text) is None:
        return text
    text = text.replace(_UP_END + _UP, "").replace(_DOWN_END + _DOWN, "")
    for _ in range(_NESTED):
        text = _RUN.sub(_run, text)
    return _MARK.sub("", text)


_BY_TAG = {"sup": raised, "sub": lowered}


def _run(found: re.Match[str]) -> str:
    before = _MARK.sub("", found.string[max(0, found.start() - _BEFORE_CHARS) : found.start()])
    words = found[1] if found[2] is None else found[2]
    core = words.strip()
    start = words.index(core)
    shown = superscript(core, before) if found[2] is None else subscript(core, before)
    return words[:start] + shown + words[start + len(core) :]


def superscript(text: str, before: str) -> str:
    """Return a superscript as it is written behind `before`, the text of its line or the end of it."""
    if _NOTE_MARKS.issuperset(text) or (before[-1:] in _SENTENCE_ENDS and _NOTE_NUMBERS.fullmatch(text)):
        return "" if before else text
    if text in {"o", "O"} and before:
        return "°" if before[-1].isdigit() else "º"
    if text.casefold() in _SIGNS:
        return _SIGNS[text.casefold()]
    if _ORDINAL.search(before) and text.isalpha() and (1 < len(text) <= _ORDINAL_END_CHARS or text in _ORDINAL_LETTERS):
        return text
    return _shown(text, before, "^", _RAISED)


def subscript(text: str, before: str) -> str:
    """Return a subscript as it is written behind `before`."""
    return _shown(text, before, "_", _LOWERED)


def _shown(text: str, before: str, mark: str, characters: dict[int, int]) -> str:
    alone = not before or before[-1].isspace()
    if _CHARACTERS.issuperset(text) and not (alone and len(text) > _MAX_ALONE):
        return text.translate(characters)
    if alone or not any(map(str.isalnum, text)):
        return text
    return f"{mark}{text}" if len(text) == 1 else f"{mark}({text})"
