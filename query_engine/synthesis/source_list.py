"""Leave out the list of sources that models put below an answer: its citations are that list.

Flow: the visible text of a reply -> **here** -> `cited_text.py`. Only lines that may belong to such a list are held
back, until it is clear that nothing follows them.
"""

import re
from collections.abc import Sequence

from query_engine.reader.window import FENCES
from query_engine.schema.source import Source
from query_engine.text.words import WORD

_LISTED = re.compile(r"[ \t]*(?:[-*+•] +|\d{1,3}[.)] +)?(?:\[\^?(\d{1,3})\]:?|【(\d{1,3})】)[ \t]*(.*)")
_LISTED_BEGUN = re.compile(r"[ \t]*(?:[-*+•] *|\d{1,3}[.)]? *)?(?:[\[【]\^?\d{0,3})?")
_TITLES = ("sources", "references", "citations", "quellen", "références", "fuentes", "referencias", "fonti")
_TITLE = re.compile(r"[\s#*_]*+([^\W_]*+)[\s:*_]*+")


class WithoutSourceList:
    """One reply while it grows.

    Args:
        sources: those of the prompt; source n is `sources[n - 1]`.
    """

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = sources
        self._buffer = ""
        self._held = ""
        self._at_start = True
        self._in_code = False

    def feed(self, piece: str) -> str:
        """Take the next piece and return what is sure to be no list of sources."""
        self._buffer += piece
        return "".join(self._passed(last=False))

    def finish(self) -> str:
        """Return what was held back, unless it is a list of sources; the reply is over."""
        rest = "".join(self._passed(last=True))
        held, self._held = self._held, ""
        return rest if self._is_list(held) else rest + held

    def _passed(self, *, last: bool) -> list[str]:
        passed = []
        while self._buffer:
            line, newline, _ = self._buffer.partition("\n")
            whole = bool(newline) or last
            line += newline
            if self._at_start and not self._in_code and (not whole and self._may_be_listed(line)):
                break
            if self._at_start:
                if not whole and line.strip() in {"`", "``", "~", "~~"}:
                    break
                self._in_code ^= line.lstrip().startswith(FENCES)
                if not self._in_code and whole and self._is_listed(line):
                    self._held += line
                    self._buffer = self._buffer[len(line) :]
                    continue
            passed.append(self._held + line)
            self._held, self._buffer = "", self._buffer[len(line) :]
            self._at_start = bool(newline)
        return passed

    def _is_listed(self, line: str) -> bool:
        title = _TITLE.fullmatch(line)
        if title and not title[1]:
            return bool(self._held)  # a blank line, in the list
        return bool(title and title[1].casefold() in _TITLES) or _LISTED.match(line) is not None

    def _may_be_listed(self, line: str) -> bool:
        title = _TITLE.fullmatch(line)
        begins = title is not None and any(one.startswith(title[1].casefold()) for one in _TITLES)
        return begins or _LISTED.match(line) is not None or _LISTED_BEGUN.fullmatch(line) is not None

    def _is_list(self, held: str) -> bool:
        """Whether lines are the title of a list or name the sources whose numbers they bear, and one of them does."""
        lines = [line for line in held.splitlines() if line.strip()]
        listed = [_LISTED.match(line) for line in lines]
        has_title = bool(lines) and listed[0] is None
        return any(listed) and (has_title or all(found is not None and self._names(found) for found in listed))

    def _names(self, found: re.Match[str]) -> bool:
        number = int(found[1] or found[2])
        if not 1 <= number <= len(self._sources):
            return False
        words = WORD.findall(found[3].casefold())
        header = set(WORD.findall(self._sources[number - 1].header.casefold()))
        return 2 * sum(word in header for word in words) >= len(words)
