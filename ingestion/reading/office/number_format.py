"""Write a cell's number as its workbook shows it: 0.031 as "3.1%", 42795 as "2017-03-01", -5 as "(5.00)".

Flow: `xlsx.py`, `xls.py` (a number and the code of its format) -> **here** -> the cell's text. Pure.

Names of months and days are English. The formats that follow the reader's country, such as "short date", are written
in ISO 8601, because 03/04/2017 is ambiguous. Padding, fills and colours are left out.
"""

import calendar
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

_DAY, _MOMENT = "yyyy-mm-dd", "yyyy-mm-dd hh:mm"
# Codes that files name by number alone.
BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: "$#,##0;($#,##0)", 6: "$#,##0;($#,##0)",
    7: "$#,##0.00;($#,##0.00)", 8: "$#,##0.00;($#,##0.00)", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: _DAY, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: _MOMENT, **dict.fromkeys((*range(27, 32), 36, *range(50, 59)), _DAY),
    **dict.fromkeys(range(32, 36), "h:mm:ss"), 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)", 39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;(#,##0.00)", 41: '#,##0;(#,##0);"-"', 42: '$#,##0;$(#,##0);$"-"', 43: '#,##0.00;(#,##0.00);"-"',
    44: '$#,##0.00;$(#,##0.00);$"-"', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
MAX_SERIAL = 2_958_466  # the first day of the year 10000
_EXACT_INTEGERS = 1e15
_MAX_CODE_CHARS = 1000
_MAX_PLACES = 30
# Enough digits for the largest number there is, with all its places.
_DIGITS = Context(prec=400, rounding=ROUND_HALF_UP)
_TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|[_*].?|\[\$(?P<currency>[^\]-]{0,40}+)[^\]]{0,40}+\]|\[(?P<elapsed>h+|m+|s+)\]'
    r"|\[(?P<operator><=|>=|<>|<|>|=)(?P<limit>[-+ \d.eE]+)\]|\[[^\]]{0,80}+\]|(?P<general>General)"
    r"|(?P<half>AM/PM|A/P)|(?P<exponent>E[+-])(?=[0#?])|(?P<date>y+|m+|d+|h+|s+|e+)|[gb]+"
    r"|(?P<digit>[0#?])|(?P<mark>[.,%/@])|(?P<literal>.)",
    re.IGNORECASE | re.DOTALL,
)
_OPERATORS = {
    "<": lambda a, b: a < b, ">": lambda a, b: a > b, "=": lambda a, b: a == b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "<>": lambda a, b: a != b,
}  # fmt: skip
_SECTION = re.compile(r'(?:"[^"]*"?|\\.|\[[^\]]{0,80}+\]|[_*].|[^;"\\\[_*]|[_*\[\\])*', re.DOTALL)


class _Token(NamedTuple):
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class _Section:
    tokens: tuple[_Token, ...]
    condition: tuple[str, float] | None
    is_date: bool

    def holds(self, value: float) -> bool:
        return self.condition is not None and bool(_OPERATORS[self.condition[0]](value, self.condition[1]))

    def shows_sign(self) -> bool:
        """Whether a negative number keeps its sign: not where the section is there for negative numbers alone."""
        return self.condition is None or self.condition[0] not in {"<", "<="} or self.condition[1] > 0


@lru_cache(maxsize=65_536)
def shown(value: float, code: str, *, since_1904: bool = False) -> str:
    """Return a number as a format shows it.

    Args:
        value: finite.
        code: such as `#,##0.00;[Red]-#,##0.00`.
        since_1904: days count from 1 January 1904, not from the end of 1899.
    """
    if not code or code == "General":
        return general(value)
    sections = _sections(code[:_MAX_CODE_CHARS])
    section, sign = _chosen(sections, value)
    if section.is_date:
        if value < 0 and any(token.kind == "elapsed" for token in section.tokens):
            return f"-{_date(section.tokens, -value, since_1904=since_1904)}"
        return _date(section.tokens, value, since_1904=since_1904)
    text = _number(section.tokens, abs(value))
    return f"-{text}" if sign and value < 0 and re.search(r"[1-9]", text) else text


def is_date(code: str) -> bool:
    """Tell whether a format shows days or times."""
    return _sections(code[:_MAX_CODE_CHARS])[0].is_date


def general(value: float) -> str:
    """Return a number in the form that cells without a format have: ten digits at most, integers in full."""
    if value == int(value) and abs(value) < _EXACT_INTEGERS:
        return str(int(value))
    return f"{value:.10g}".replace("e", "E")


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[_Section, ...]:
    parts: list[str] = []
    place = 0
    while place <= len(code) and len(parts) < 4:
        match = _SECTION.match(code, place)
        parts.append(match[0] if match else "")
        place += len(parts[-1]) + 1
    return tuple(map(_section, parts))


def _section(code: str) -> _Section:
    tokens: list[_Token] = []
    condition = None
    for match in _TOKEN.finditer(code):
        kind = match.lastgroup or ""
        if kind == "limit":
            try:
                condition = match["operator"], float(match["limit"].strip())
            except ValueError:
                continue
        elif kind in {"quoted", "escaped", "currency", "literal"}:
            tokens.append(_Token("literal", match[kind]))
        elif kind:
            tokens.append(_Token(kind, match[kind] if kind in {"digit", "mark", "general"} else match[kind].lower()))
    is_date = any(token.kind in {"date", "elapsed", "half"} for token in tokens)
    return _Section(tuple(tokens), condition, is_date)


def _chosen(sections: Sequence[_Section], value: float) -> tuple[_Section, bool]:
    """Return the section for a number, and whether a minus sign is written before it."""
    if any(section.condition for section in sections):
        found = next((one for one in sections[:3] if one.holds(value)), None)
        found = found or next((one for one in sections[:3] if one.condition is None), _GENERAL)
        return found, len(sections) == 1 or found.shows_sign()
    numbers = sections[:3]
    if value < 0 and len(numbers) > 1:
        return numbers[1], False
    if value == 0 and len(numbers) > 2:
        return numbers[2], False
    return numbers[0], True


def _number(tokens: Sequence[_Token], value: float) -> str:
    kinds = [token.kind for token in tokens]
    texts = [token.text for token in tokens]
    if "general" in kinds or ("digit" not in kinds and "@" in texts):
        return "".join(
            general(value) if kind == "general" or (kind, text) == ("mark", "@") else text
            for kind, text in tokens
            if kind != "digit"
        )
    if "digit" not in kinds:  # a number is not shown at all: "n/a"
        return "".join(texts)
    exact = Decimal(repr(value)) * 100 ** sum(token == ("mark", "%") for token in tokens)
    if "exponent" in kinds:
        return _scientific(tokens, exact)
    slash = _slash(tokens)
    return _fraction(tokens, slash, exact) if slash else _fixed(tokens, exact)


def _fixed(tokens: Sequence[_Token], exact: Decimal) -> str:
    """Fill the places of `#,##0.00`, also with literals among them: `000-00-0000`."""
    point = next((place for place, token in enumerate(tokens) if token == ("mark", ".")), len(tokens))
    whole = [place for place in range(point) if tokens[place].kind == "digit"]
    behind = [place for place in range(point, len(tokens)) if tokens[place].kind == "digit"][:_MAX_PLACES]
    scale = sum(_commas_behind(tokens, places[-1]) for places in (whole, behind) if places)
    grouped = bool(whole) and any(token == ("mark", ",") for token in tokens[whole[0] : whole[-1]])
    rounded = (exact / 1000**scale).quantize(Decimal(1).scaleb(-len(behind)), context=_DIGITS)
    digits, _, places = f"{rounded:f}".partition(".")
    digits = digits.lstrip("0")
    filled = _whole_digits([tokens[place].text for place in whole], digits, grouped=grouped)
    while behind and places.endswith("0") and tokens[behind[len(places) - 1]].text != "0":
        places = places[:-1]
    parts = []
    for place, (kind, text) in enumerate(tokens):
        if kind == "digit":
            if place in whole:
                parts.append(filled[whole.index(place)])
            elif place in behind and behind.index(place) < len(places):
                parts.append(places[behind.index(place)])
        elif (kind, text) == ("mark", "."):
            parts.append(("" if whole else digits) + ("." if places or not behind else ""))
        elif (kind, text) != ("mark", ","):
            parts.append(text)
    return "".join(parts)


def _commas_behind(tokens: Sequence[_Token], place: int) -> int:
    """Return how many commas follow a place: each divides the number by a thousand."""
    following = takewhile(lambda token: token == ("mark", ","), tokens[place + 1 :])
    return min(sum(1 for _ in following), _MAX_PLACES)


def _whole_digits(marks: Sequence[str], digits: str, *, grouped: bool) -> list[str]:
    """Return what stands at each of the places before the point; the first one takes what is left over."""
    filled = [""] * len(marks)
    from_right = 0
    for place in reversed(range(len(marks))):
        taken = digits[-1:] if place else digits
        if not taken and marks[place] == "0":
            taken = "0"
        digits = digits[: len(digits) - len(taken)] if place else ""
        for digit in reversed(taken):
            comma = "," if grouped and from_right and from_right % 3 == 0 else ""
            filled[place] = digit + comma + filled[place]
            from_right += 1
    return filled


def _scientific(tokens: Sequence[_Token], exact: Decimal) -> str:
    place = next(number for number, token in enumerate(tokens) if token.kind == "exponent")
    mantissa, behind = tokens[:place], tokens[place + 1 :]
    point = next((number for number, token in enumerate(mantissa) if token == ("mark", ".")), len(mantissa))
    step = max(1, sum(token.kind == "digit" for token in mantissa[:point]))
    places = min(sum(token.kind == "digit" for token in mantissa[point:]), _MAX_PLACES)
    exponent = exact.adjusted() // step * step if exact else 0
    if exact and exact.scaleb(-exponent).quantize(Decimal(1).scaleb(-places), context=_DIGITS) >= 10**step:
        exponent += step
    digits = min(sum(token.kind == "digit" for token in behind), 9)
    sign = "-" if exponent < 0 else "+" if "+" in tokens[place].text else ""
    rest = "".join(token.text for token in behind if token.kind != "digit")
    return f"{_fixed(mantissa, exact.scaleb(-exponent))}E{sign}{abs(exponent):0{digits}d}{rest}"


def _slash(tokens: Sequence[_Token]) -> int:
    """Return the place of a fraction's bar, which stands behind a digit; 0 if there is none."""
    for place, token in enumerate(tokens):
        if token == ("mark", "/") and place and tokens[place - 1].kind == "digit":
            return place
    return 0


def _fraction(tokens: Sequence[_Token], slash: int, exact: Decimal) -> str:
    begin = slash
    while begin and tokens[begin - 1].kind == "digit":
        begin -= 1
    below = "".join(text for kind, text in tokens[slash + 1 :] if kind == "digit" or text.isdigit())
    end = slash + 1 + sum(kind == "digit" or text.isdigit() for kind, text in tokens[slash + 1 :])
    mixed = any(token.kind == "digit" for token in tokens[:begin])
    whole = int(exact) if mixed else 0
    if below.isdigit() and int(below):
        bottom = min(int(below), 10**6)
        top = int(((exact - whole) * bottom).quantize(Decimal(1), context=_DIGITS))
    else:
        near = Fraction(exact - whole).limit_denominator(10 ** min(max(len(below), 1), 6) - 1)
        top, bottom = near.numerator, near.denominator
    if mixed and top == bottom:
        whole, top = whole + 1, 0
    before = _fixed(tokens[:begin], Decimal(whole)) if mixed else "".join(text for _, text in tokens[:begin])
    part = f"{top}/{bottom}" if top or not mixed else ""
    rest = "".join(text for _, text in tokens[end:])
    return f"{before}{part}{rest}" if before.strip() or part else f"0{rest}"


def _date(tokens: Sequence[_Token], value: float, *, since_1904: bool) -> str:
    if not 0 <= value < MAX_SERIAL:
        return general(value)
    places = _places_of_seconds(tokens)
    seconds = Decimal(repr(value)) * 86400
    seconds = seconds.quantize(Decimal(1).scaleb(-places), context=_DIGITS)
    # 1900 counts as a leap year, as it did in the program that came first.
    moment = datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 31 if value < 60 else 30)
    moment += timedelta(microseconds=int(seconds * 1_000_000))
    halves = any(token.kind == "half" for token in tokens)
    parts: list[str] = []
    for place, (kind, text) in enumerate(tokens):
        if kind == "date":
            parts.append(_date_part(text, moment, minutes=_is_minutes(tokens, place), halves=halves))
        elif kind == "elapsed":
            unit = {"h": 3600, "m": 60, "s": 1}[text[0]]
            parts.append(f"{int(seconds // unit):0{min(len(text), 9)}d}")
        elif kind == "half":
            half = "AM" if moment.hour < 12 else "PM"
            parts.append(half if len(text) > 3 else half[0])
        elif kind == "digit":
            if places:
                parts.append(f"{seconds % 1:.{places}f}"[2:])
                places = 0
        elif text != "@":
            parts.append(text)
    return "".join(parts)


def _places_of_seconds(tokens: Sequence[_Token]) -> int:
    """Return how many places of a second are shown: those behind the point of `ss.000`."""
    return min(sum(token.kind == "digit" for token in tokens), 6)


def _is_minutes(tokens: Sequence[_Token], place: int) -> bool:
    """Tell minutes from months: they stand behind hours, or before seconds."""
    units = [(number, token) for number, token in enumerate(tokens) if token.kind in {"date", "elapsed"}]
    at = next(number for number, (where, _) in enumerate(units) if where == place)
    before = units[at - 1][1].text if at else ""
    after = units[at + 1][1].text if at + 1 < len(units) else ""
    return len(tokens[place].text) < 3 and (before.startswith("h") or after.startswith("s"))


def _date_part(text: str, moment: datetime, *, minutes: bool, halves: bool) -> str:
    length = len(text)
    match text[0]:
        case "y" | "e":
            return f"{moment.year % 100:02d}" if text[0] == "y" and length < 3 else f"{moment.year:04d}"
        case "m" if not minutes and length > 2:
            name = calendar.month_name[moment.month]
            return {3: name[:3], 5: name[0]}.get(length, name)
        case "d" if length > 2:
            name = calendar.day_name[moment.weekday()]
            return name[:3] if length == 3 else name
        case "h":
            number = (moment.hour % 12 or 12) if halves else moment.hour
        case "m":
            number = moment.minute if minutes else moment.month
        case "d":
            number = moment.day
        case _:
            number = moment.second
    return f"{number:0{min(length, 2)}d}"


_GENERAL = _section("General")
