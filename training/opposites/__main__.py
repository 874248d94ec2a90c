"""`python -m training.opposites`: make `query_engine/reader/opposites.txt` from WordNet's files.

Flow: argv -> **here** -> the table, which `query_engine/reader/contrast.py` reads. Direct antonyms of adjectives,
adverbs and verbs, their comparatives, and a few pairs that WordNet lacks. Nouns are left out: what is said of a sister
often tells who the brother is.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from errors import RagError, run_command
from query_engine.reader.contrast import OPPOSITES

FILES = {"a": "data.adj", "r": "data.adv", "v": "data.verb"}
# Who sells tells who buys, and one who loses tells who won; words with another sense that is commoner; function words.
LEFT_OUT = frozenset(
    frozenset(pair.split())
    for pair in (
        "buy sell, lend borrow, give take, teach learn, win lose, send receive, ask answer, lead follow, precede follow"
        ", come go, import export, precede succeed, preceding following, leading following, employ fire, hire fire"
        ", keep lose, find lose, arrive leave, get leave, enter leave, left right, before after, here there, in out"
        ", up down, on off, over under, then now, have lack, front back, act refrain, male female, specific general"
        ", specific nonspecific, general particular, specify generalize, same different, differ equal"
        ", first last, like unlike, even odd, break repair, bore interest, order disorder, right wrong"
        ", brotherly sisterly, fatherly motherly, out safe, moving still, sparkling still, enter exit, toed toeless"
    ).split(", ")
)
ADDED = (
    "better worse, best worst, harder easier, hardest easiest, more less, more fewer, most least, most fewest"
    ", end start, rise fall, grow shrink, gain lose, medieval modern, ancient modern"
    ", approximate exact, theoretical practical"
).split(", ")
_MARKER = re.compile(r"\(.*?\)")  # "(p)": where an adjective stands
_VOWELS = "aeiou"


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, write the table, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.opposites", description="Make the table of opposites from WordNet."
    )
    parser.add_argument(
        "--wordnet", type=Path, required=True, help="folder with WordNet's data.adj, data.adv, data.verb"
    )
    parser.add_argument("--out", type=Path, default=OPPOSITES, help="the table (default: the packaged one)")
    arguments = parser.parse_args(argv)

    def write() -> int:
        pairs = opposites(arguments.wordnet)
        arguments.out.write_text("".join(f"{one} {other}\n" for one, other in pairs), encoding="utf-8")
        print(f"{len(pairs)} pairs in {arguments.out}")
        return 0

    return run_command(write)


def opposites(folder: Path) -> list[tuple[str, str]]:
    """Return pairs of single words that are each other's opposite, each pair once, in order.

    Args:
        folder: of the files of a WordNet database, format `wndb(5WN)`.

    Raises:
        RagError: a file is missing.
    """
    found = {frozenset(pair.split()) for pair in ADDED}
    for kind, name in FILES.items():
        path = folder / name
        if not path.is_file():
            raise RagError(f"{path} is missing.", remedy="Pass the folder `dict` of a WordNet database.")
        for one, other in _antonyms(path.read_text(encoding="latin-1").splitlines(), kind):
            if one == other or not (one.isalpha() and other.isalpha()) or frozenset((one, other)) in LEFT_OUT:
                continue
            found.add(frozenset((one, other)))
            if kind == "a":
                found |= {frozenset(pair) for pair in zip(compared(one), compared(other), strict=False)}
    return sorted((min(pair), max(pair)) for pair in found)


def compared(adjective: str) -> list[str]:
    """Return the comparative and the superlative of a short adjective; none of those that take "more"."""
    syllables = len(re.findall(r"[aeiouy]+", adjective))
    if syllables > 2 or len(adjective) < 3:
        return []
    if adjective.endswith("e"):
        return [f"{adjective}r", f"{adjective}st"]
    if adjective.endswith("y") and adjective[-2] not in _VOWELS:
        return [f"{adjective[:-1]}ier", f"{adjective[:-1]}iest"]
    if syllables > 1:
        return []
    doubled = adjective[-1] not in f"{_VOWELS}wxy" and adjective[-2] in _VOWELS and adjective[-3] not in _VOWELS
    stem = adjective + adjective[-1] * doubled
    return [f"{stem}er", f"{stem}est"]


def _antonyms(lines: Sequence[str], kind: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words that a file of synsets marks as antonyms (`!`), both of its part of speech."""
    words: dict[str, list[str]] = {}
    pointers: list[tuple[str, str, str, int]] = []
    for line in lines:
        if line.startswith(" "):  # the licence
            continue
        fields = line.split(" | ")[0].split()
        end = 4 + 2 * int(fields[3], 16)
        words[fields[0]] = [_MARKER.sub("", word).lower() for word in fields[4:end:2]]
        for first in range(end + 1, end + 1 + 4 * int(fields[end]), 4):
            symbol, offset, part, places = fields[first : first + 4]
            if symbol == "!" and part.replace("s", "a") == kind:
                pointers.append((fields[0], places[:2], offset, int(places[2:], 16)))
    for own, place, offset, other in pointers:
        yield words[own][int(place, 16) - 1], words[offset][other - 1]


if __name__ == "__main__":
    sys.exit(main())
