"""Find every regular expression of the given packages, make up the texts that are worst for it, and time it on them.

Run as `python -m tests.unit.linear_patterns PACKAGE...`, in a process that can be given up. Prints a line for each
pattern whose time grows faster than its input, then how many there are.

A pattern is slow in two ways: it matches one text in many ways, or it looks far ahead from every place. So each text
is what leads to a repetition, then what is repeated (or what leads to it) many times, then what does not match.
"""

import ast
import importlib
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from math import inf
from pathlib import Path
from typing import Any

# The parser of the standard library: private, but there is no other.
sre: Any = importlib.import_module("re._constants")
sre_parser: Any = importlib.import_module("re._parser")

ROOT = Path(__file__).resolve().parents[2]
SHORT_CHARS, LONG_CHARS, LONGEST_CHARS = 2_500, 10_000, 40_000
# Below this a time says nothing, and no square of so many characters takes so little.
MEASURABLE_S = 0.004
MAX_GROWTH = 2.2 * LONG_CHARS / SHORT_CHARS
ROUNDS = 6
KILL_S = 3.0
# What is square within its bound takes long on each of thousands of texts; the first ones tell enough.
TRIED_S = 3.0
_METHODS = ("match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
_ANCHORED = {"match", "fullmatch"}
_FLAGS_AT = {"compile": 1, "sub": 4, "split": 3}
_MANY = 16  # a repetition that allows this many is treated as unbounded
_CATEGORIES = {
    sre.CATEGORY_DIGIT: "1",
    sre.CATEGORY_NOT_DIGIT: "a -",
    sre.CATEGORY_SPACE: " \n",
    sre.CATEGORY_NOT_SPACE: "a.-",
    sre.CATEGORY_WORD: "aA1_",
    sre.CATEGORY_NOT_WORD: " .-",
}
_ANY = "a \n.1A-<[*_'\""
_SUFFIXES = ("", "\0", "\n")
_SAMPLES = 3


@dataclass(frozen=True)
class Found:
    """A pattern, where it stands, and by what methods it is used."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


class GivenUpError(Exception):
    """A pattern took longer than the limit."""


def find(package: str) -> Iterator[Found]:
    """Yield the patterns that the modules of a package compile, or hand to `re.search` and its like."""
    for path in sorted((ROOT / package).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        tree = ast.parse(source)
        name = path.relative_to(ROOT).as_posix()
        for function, call in _calls(tree):
            method = call.func.attr  # type: ignore[attr-defined]
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
            known = dict(vars(module)) | {"self": None}
            _run_assignments(function, known)
            at = _FLAGS_AT.get(method, 2)
            flags = next((word.value for word in call.keywords if word.arg == "flags"), None)
            flags = flags or (call.args[at] if len(call.args) > at else None)
            try:
                text, bits = _value(call.args[0], known), _value(flags, known) if flags else 0
            except NameError as error:
                raise AssertionError(f"{name}:{call.lineno}: its pattern cannot be known from here: {error}") from error
            pattern = text if isinstance(text, re.Pattern) else re.compile(text, bits)
            methods = _methods_of(call, tree, source) if method == "compile" else {method}
            yield Found(f"{name}:{call.lineno}", pattern, frozenset(methods))


def _calls(tree: ast.Module) -> Iterator[tuple[ast.AST, ast.Call]]:
    functions: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node): function for function in functions for node in ast.walk(function)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr in (*_METHODS, "compile")
        ):
            yield inside.get(id(node), tree), node


def _run_assignments(function: ast.AST, known: dict[str, Any]) -> None:
    """Know the texts that a function puts its patterns together from."""
    known.setdefault("written", "QR-750.12")  # an identifier of a question
    for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant | ast.JoinedStr)
        ):
            known[node.targets[0].id] = _value(node.value, known)
    known.setdefault("own", ())  # the tokens of a language model, beside the common ones
    known.setdefault("also", ("with", "to", "against"))


def _value(node: ast.expr, known: dict[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), known)


def _methods_of(call: ast.Call, tree: ast.Module, source: str) -> set[str]:
    """Return by which methods a module uses the pattern that it compiles here; none if it is kept in a table."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and node.value is call:
            target = ast.unparse(node.targets[0])
            text = source if target.startswith(("_", "self._")) else ""
            return set(re.findall(rf"{re.escape(target)}\.({'|'.join(_METHODS)})\b", text))
    return set()


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield what stands before, what is repeated, what stands after."""
    text = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
    tree = sre_parser.parse(text, pattern.flags & ~re.LOCALE & ~re.DEBUG)
    seen = set()
    for before, body in _repetitions(tree, ("",)):
        pumps = {*body, *(first + second for first, second in product(before, body)), *before} - {""}
        for prefix, pump, suffix in product(dict.fromkeys(("", *before)), sorted(pumps), _SUFFIXES):
            if (prefix, pump, suffix) not in seen:
                seen.add((prefix, pump, suffix))
                yield prefix, pump, suffix


def _repetitions(tree: Any, before: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield, for each part that may be repeated at will, texts that lead to it and texts that it repeats."""
    for item in tree:
        op, value = item
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            _, most, body = value
            if most >= _MANY:
                yield before, _texts(body)
            yield from _repetitions(body, before)
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _repetitions(branch, before)
        elif op is sre.SUBPATTERN:
            yield from _repetitions(value[3], before)
        elif op is sre.ATOMIC_GROUP:
            yield from _repetitions(value, before)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repetitions(value[1], before)
        before = _joined(before, _texts([item]))


def _texts(tree: Any) -> list[str]:
    """Return a few texts that a part of a pattern matches."""
    texts = [""]
    for op, value in tree:
        match op:
            case sre.LITERAL:
                found = [chr(value)]
            case sre.NOT_LITERAL:
                found = ["a" if value != ord("a") else "b", " "]
            case sre.ANY:
                found = list(_ANY)
            case sre.IN:
                found = _members(value)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                least, most, body = value
                found = [text * max(least, 1 if most else 0) for text in _texts(body)]
                found += [""] if least == 0 else []
            case sre.BRANCH:
                found = [text for branch in value[1] for text in _texts(branch)[:2]]
            case sre.SUBPATTERN:
                found = _texts(value[3])
            case sre.ATOMIC_GROUP:
                found = _texts(value)
            case _:
                found = [""]
        texts = _joined(texts, found)
    return texts


def _joined(firsts: Sequence[str], seconds: Sequence[str]) -> list[str]:
    joined = dict.fromkeys(first + second for second in seconds for first in firsts)
    return list(joined)[: 2 * _SAMPLES]


def _members(items: Any) -> list[str]:
    negated = items[0][0] is sre.NEGATE
    if negated:
        excluded = set(chain.from_iterable(_members([item]) for item in items[1:]))
        ranges = [value for op, value in items[1:] if op is sre.RANGE]
        return [c for c in _ANY if c not in excluded and not any(low <= ord(c) <= high for low, high in ranges)]
    found: list[str] = []
    for op, value in items:
        if op is sre.LITERAL:
            found.append(chr(value))
        elif op is sre.RANGE:
            found.append(chr(value[0]))
        elif op is sre.CATEGORY:
            found += _CATEGORIES.get(value, "a")
    return found[:_SAMPLES]


def time_of(found: Found, attack: tuple[str, str, str], chars: int) -> float:
    """Return the processor time of this pattern on an attack of about so many characters.

    Raises:
        GivenUpError: it takes longer than the limit.
    """
    prefix, pump, suffix = attack
    text: Any = prefix + pump * max(1, (chars - len(prefix) - len(suffix)) // len(pump)) + suffix
    if isinstance(found.pattern.pattern, bytes):
        text = text.encode("latin-1", "replace")
    before = signal.signal(signal.SIGVTALRM, _give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, KILL_S)
    started = time.process_time()
    try:
        if "match" in found.methods:
            found.pattern.match(text)
        if "fullmatch" in found.methods:
            found.pattern.fullmatch(text)
        if not found.methods or found.methods - _ANCHORED:
            for _ in found.pattern.finditer(text):
                pass
    finally:
        # A timer that outlives its handler would end the process.
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - started


def is_slow(found: Found, attack: tuple[str, str, str]) -> bool:
    """Tell whether the time on this attack grows faster than its length."""
    try:
        return time_of(found, attack, LONG_CHARS) >= MEASURABLE_S and _grows_too_fast(found, attack)
    except GivenUpError:
        return True


def _grows_too_fast(found: Found, attack: tuple[str, str, str]) -> bool:
    """Tell whether the least times of all rounds grow too fast in two steps: other processes only add to a time."""
    short_s, long_s, longest_s = inf, inf, inf
    for _ in range(ROUNDS):
        short_s = min(short_s, time_of(found, attack, SHORT_CHARS))
        long_s = min(long_s, time_of(found, attack, LONG_CHARS))
        if long_s < max(MEASURABLE_S, MAX_GROWTH * short_s):
            return False
        longest_s = min(longest_s, time_of(found, attack, LONGEST_CHARS))
        if longest_s <= MAX_GROWTH * long_s:
            return False
    return True


def first_slow(found: Found) -> tuple[str, str, str] | None:
    """Return the first attack on which the pattern is slow, of those that there is time for."""
    end = time.process_time() + TRIED_S
    for attack in attacks(found.pattern):
        if is_slow(found, attack):
            return attack
        if time.process_time() > end:
            break
    return None


def main() -> None:
    """Look at the packages that are named."""
    count = 0
    for found in chain.from_iterable(map(find, sys.argv[1:])):
        count += 1
        if slow := first_slow(found):
            sys.stdout.write(f"{found.place}: {slow[0]!r} + {slow[1]!r} x n + {slow[2]!r}\n")
    sys.stdout.write(f"{count} patterns\n")


def _give_up(_number: int, _frame: object) -> None:
    raise GivenUpError


if __name__ == "__main__":
    main()
