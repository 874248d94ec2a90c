"""Find what no boundary may fall into: numbers with their units, dates, versions, and the year that opens a line.

Flow: text -> **here** -> `blocks.py` (where leaves end) and `sentences.py` (where quotes end).
Half a number is another number, and would be quoted as if the document said it. Pure; every pattern is linear.
"""

import re
import unicodedata

MONTH = (
    "(?i:jan(?:uary|uar|vier)?|feb(?:ruary|ruar)?|f[eé]vrier|mar(?:ch|s)?|märz|apr(?:il)?|avril|may|mai|june?|juin|juni"
    "|july?|juillet|juli|aug(?:ust)?|août|sept?(?:ember|embre)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?"
    "|de[cz](?:ember)?|d[eé]cembre|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre"
    "|diciembre)"
)
# Digits with one mark between two of them: decimals, thousands, versions, times, dates in digits, ratios, ranges.
_JOINED = r"\d+(?:[.,:/'’_–−-]\d+)*"
_SPACED = r"\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)"
_UNIT = (
    "(?:[%‰€$£¥]|°[CF]?|[A-Z]{3}|[kcmµ]?[mg]|km/h|m/s|[mk]?[slht]|min|ha|[kMG]?Hz|[kMGT]?(?:Wh?|B|bit)|[mk]?[VA]"
    "|Mio|Mrd|million|billion|percent)"
)
_BEFORE = r"(?:[€$£¥§]|\b(?:[A-Z]{3}|(?:No|Nr|Fig|Eq|Sec|Vol)\.))"
_ATOM = re.compile(
    rf"(?<!\d)\d{{1,2}}\.? {MONTH}\b\.?(?:,? \d{{4}}\b)?"
    rf"|\b{MONTH}\b\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b|(?![.,]\d))"
    rf"|\b{MONTH}\b,? \d{{4}}\b"
    rf"|(?:{_BEFORE} ?)?[-+−]?(?:{_SPACED}|{_JOINED})(?: ?{_UNIT}(?!\w))?"
)
# What stands before the stop of "1984. Itaipú delivers …", "12 March 1984. …" or "ca. 1890–1895. …".
_DATE_ALONE = re.compile(
    rf"\s*(?:(?:ca?\.|circa)\s)?(?:\d{{1,2}}\.?\s)?(?:{MONTH}\.?\s)?(?:\d{{1,2}},?\s)?\d[\d.:/–-]*(?:\s(?:BCE?|AD|CE))?\s*"
)
_DATE_CHARS = 40
_NEAR_CHARS, _SEEN_CHARS = 16, 48
_TRIED_SPACES, _TRIED_LETTERS = 16, 48
_SPACE = re.compile(r"\s+")
_DIGIT = re.compile(r"\d")


def splits_atom(text: str, at: int) -> bool:
    """Tell whether a boundary at this offset would fall into a number, its unit or currency, or a date."""
    if not _DIGIT.search(text, max(0, at - _NEAR_CHARS), at + _NEAR_CHARS):
        return False
    start = max(0, at - _SEEN_CHARS)
    return any(match.start() < at - start < match.end() for match in _ATOM.finditer(text[start : at + _SEEN_CHARS]))


def is_date_alone(text: str, start: int, end: int) -> bool:
    """Tell a date or number that opens what follows it, such as a line of a timeline, from a sentence."""
    return end - start <= _DATE_CHARS and _DATE_ALONE.fullmatch(text, start, end) is not None


def stop_before(text: str, start: int, limit: int) -> int:
    """Return where to cut `text[start:]` at `limit` or before: after a word, else after a letter, never in a number."""
    spaces = [match.end() for match in _SPACE.finditer(text, start, limit)]
    for at in spaces[:-_TRIED_SPACES:-1]:
        if text[at - 2 : at] != ": " and not splits_atom(text, at):
            return at
    for at in range(limit, max(start, limit - _TRIED_LETTERS), -1):
        if not splits_atom(text, at) and not unicodedata.combining(text[at : at + 1] or " "):
            return at
    return limit
