"""Write the formulas of Office on one line: a/b, √(x), x_(k)², ∑_(k=1)ⁿ(x).

Flow: an `m:oMath` element of a document or slide -> **here** -> `docx.py`, `pptx.py`. Pure; what has no way of its own
is written as its parts in order.
"""

from collections.abc import Callable
from typing import Any

from ingestion.reading.marks import lowered, raised

_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
FORMULA = f"{_MATH}oMath"
_FRACTION = f"{_MATH}f"
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def formula(element: Any) -> str:
    """Return a formula, or a part of one; what is raised or lowered as `text.clean` takes it."""
    tag = element.tag if isinstance(element.tag, str) else ""
    return _WAYS.get(tag.removeprefix(_MATH), _joined)(element)


def _joined(element: Any) -> str:
    """Return the parts in order, a factor apart from the fraction before it: in a/2 x nothing but 2 is below a."""
    shown = ""
    for before, part in zip([None, *element], element, strict=False):
        text = formula(part)
        apart = before is not None and before.tag == _FRACTION and (text[:1].isalnum() or text[:1] in ("(", "√"))
        shown += " " * apart + text
    return shown


def _fraction(element: Any) -> str:
    return "/".join(
        text if text.isalnum() or text.replace(".", "", 1).isdigit() else f"({text})"
        for text in (_part(element, "num").strip(), _part(element, "den").strip())
    )


def _root(element: Any) -> str:
    degree = _part(element, "deg").strip()
    return f"{_ROOTS.get(degree) or raised(degree) + '√'}({_part(element, 'e')})"


def _with_scripts(element: Any) -> str:
    return _part(element, "e") + _scripts(element)


def _behind_scripts(element: Any) -> str:
    return _scripts(element) + _part(element, "e")


def _sum(element: Any) -> str:
    """Return a sum, an integral or another operator with its bounds."""
    return f"{_property(element, 'nary', 'chr', '∫')}{_scripts(element)}({_part(element, 'e')})"


def _in_brackets(element: Any) -> str:
    begin, between, end = (
        _property(element, "d", name, usual) for name, usual in (("begChr", "("), ("sepChr", "|"), ("endChr", ")"))
    )
    return begin + between.join(map(formula, element.iterchildren(f"{_MATH}e"))) + end


def _function(element: Any) -> str:
    argument = _part(element, "e")
    return _part(element, "fName") + (argument if argument.startswith("(") else f"({argument})")


def _matrix(element: Any) -> str:
    rows = (", ".join(map(formula, row)) for row in element.iterchildren(f"{_MATH}mr"))
    return f"[{'; '.join(rows)}]"


_WAYS: dict[str, Callable[[Any], str]] = {
    "t": lambda element: element.text or "",
    "f": _fraction,
    "rad": _root,
    **dict.fromkeys(("sSup", "sSub", "sSubSup"), _with_scripts),
    "sPre": _behind_scripts,
    "nary": _sum,
    "d": _in_brackets,
    "func": _function,
    "limLow": lambda element: _part(element, "e") + lowered(_part(element, "lim")),
    "limUpp": lambda element: _part(element, "e") + raised(_part(element, "lim")),
    "m": _matrix,
    "eqArr": lambda element: "; ".join(map(formula, element.iterchildren(f"{_MATH}e"))),
}


def _part(element: Any, name: str) -> str:
    part = element.find(f"{_MATH}{name}")
    return "" if part is None else formula(part)


def _scripts(element: Any) -> str:
    return lowered(_part(element, "sub")) + _power(_part(element, "sup").strip())


def _power(text: str) -> str:
    """Return an exponent: in a formula, letters are not the end of an ordinal, and a star does not refer to a note."""
    if text.isalpha() and len(text) > 1:
        return f"^({text})"
    return text if text in {"*", "†"} else raised(text)


def _property(element: Any, kind: str, name: str, usual: str) -> str:
    found = element.find(f"{_MATH}{kind}Pr/{_MATH}{name}")
    return usual if found is None else str(found.get(f"{_MATH}val", ""))
