"""Show a model's words as they come, with citations that hold and nothing that acts.

Flow: the visible text of a reply (`source_list.py`), piece by piece -> **here** -> text to show, and what it cites
(`schema/citations.py`). Markdown stays as it was written. Two things change, and none of them inside code:

- marks of sources, however they are spelt, become `[n]`, numbered by first use; those of sources that do not exist go;
- images, HTML that acts, and links that no source, question or earlier message holds become text.

Held back is only what is open: a bracket, a tag, code within a line. Which place of a source a sentence cites is
decided by `places.py` when the sentence has ended.
"""

import re
from collections.abc import Sequence

from query_engine.schema.citations import Citations
from query_engine.schema.events import MAX_NEAREST
from query_engine.schema.source import Source
from query_engine.synthesis.places import best_place, shares

_LABEL = r"(?:(?:doc(?:ument)?|source|ref(?:erence)?|passage|rank)s?[\s.:=#]{0,3})?"
_NUMBERS = rf"\^?{_LABEL}\d{{1,3}}(?:\s?(?:,|;|and|&|–|-)\s?\^?{_LABEL}\d{{1,3}}){{0,15}}"
_MARK = re.compile(rf"\[\s?{_NUMBERS}\s?\]|【\s?{_NUMBERS}(?:[†:][^】\n]{{0,60}})?】", re.IGNORECASE)
_NUMBER = re.compile(r"(\d{1,3})(?:\s?[–-]\s?(\d{1,3}))?")
_TARGET = re.compile(r"\(\s{0,9}+<?([^)\s>]{0,2000}+)[^)\n]{0,200}+\)")
# Other addresses act, as scripts do, or lead into this service.
_LEADS_OUT = re.compile("(?:https?|ftp|mailto):", re.IGNORECASE)
_AUTOLINK = re.compile(rf"<({_LEADS_OUT.pattern}[^>\s]{{1,2000}})>", re.IGNORECASE)
# HTML that loads, runs, sends or links; "<name>" in documentation does not.
_TAGS = "a audio base button embed form iframe img input link math meta object script source style svg video".split()
_TAG = re.compile(rf"</?(?:{'|'.join(_TAGS)})(?=[\s/>])", re.IGNORECASE)
_TAG_BEGUN = re.compile(r"</?[a-z]{0,8}|<(?:https?|ftp|mailto):[^>\s]*", re.IGNORECASE)
_WORDS = re.compile(r"[^`~\[【!<\n \t]+")
_GAP = re.compile(r"[ \t]+")
_RUN = re.compile(r"`+|~+")
_CLOSERS = {"[": "]", "【": "】"}
_MAX_HELD_CHARS = 400
_ENDED = re.compile(r"[.!?:]['\"”’)*_]{0,3}\Z")
CUT = " …"


class CitedText:
    """One answer while it grows.

    Args:
        sources: those of the prompt; source n is `sources[n - 1]`.
        citations: of the answer.
        known: text whose links may stay: the conversation's and the question's.
        max_words: the answer is cut after them; None sets no limit.

    Attributes:
        text: shown so far.
        full: it was cut.
    """

    def __init__(
        self, sources: Sequence[Source], citations: Citations, known: str = "", max_words: int | None = None
    ) -> None:
        self._sources = sources
        self._citations = citations
        self._known = "\n".join([known, *(f"{one.passage.url}\n{one.passage.text}" for one in sources)])
        self._max_words = max_words
        self._buffer = ""
        self._out: list[str] = []
        self._gap = self._line = self._fence = ""
        self._opens = False  # the line that opens the code goes on
        self._sentence = self._before = ""
        self._pending: list[int] = []
        self.text = ""
        self.full = False

    def feed(self, piece: str) -> str:
        """Take the next piece of the reply and return what is shown now."""
        self._buffer += piece
        return self._scanned(last=False)

    def finish(self) -> str:
        """Return what was held back, and record what the answer cites; the reply is over."""
        shown = self._scanned(last=True)
        self._settle()
        return shown

    def cite_nearest(self) -> None:
        """Cite, for an answer that cites nothing, the sources that share most with it; its text stays as it is."""
        share = shares([one.passage.text for one in self._sources], self.text)
        nearest = sorted(range(len(share)), key=lambda at: -share[at])[:MAX_NEAREST]
        for passage in (self._sources[at].passage for at in nearest if share[at]):
            number = self._citations.number(passage)
            self._citations.cite(passage, *best_place(passage, self.text), number=number)
        self._citations.added = True

    def _scanned(self, *, last: bool) -> str:
        if self.full:
            return ""
        while self._buffer and (taken := self._step(self._buffer, last=last)):
            self._buffer = self._buffer[taken:]
        shown, self._out = "".join(self._out), []
        if self._max_words is not None:
            shown = self._limited(shown, self._max_words)
        self.text += shown
        return shown

    def _limited(self, shown: str, most: int) -> str:
        """Return text up to the last word that the answer has room for."""
        whole = self.text + shown
        words = [word.end() for word in re.finditer(r"\S+", whole)]
        if len(words) <= most:
            return shown
        self.full = True
        return shown[: max(0, words[most - 1] - len(self.text))] + CUT.strip()  # not a word of its own

    def _step(self, buffer: str, *, last: bool) -> int:
        """Settle the beginning of the buffer and return its length; 0 if more has to come first."""
        if self._fence:
            return self._code(buffer, last=last)
        if buffer[0] == "\n":
            return self._newline()
        if gap := _GAP.match(buffer):
            self._gap += gap[0]
            return gap.end()
        if words := _WORDS.match(buffer):
            self._put(words[0])
            return words.end()
        match buffer[0]:
            case "`" | "~":
                return self._backticks(buffer, last=last)
            case "<":
                return self._tag(buffer, last=last)
            case "!":
                return self._image(buffer, last=last)
            case _:
                return self._bracket(buffer, last=last)

    def _put(self, shown: str, said: str | None = None) -> None:
        """Show text after the gap before it; `said` of it belongs to the sentence, all if None."""
        if self._gap and _ENDED.search(self._sentence):
            self._settle()
        self._out.append(self._gap + shown)
        self._line += self._gap + shown
        self._sentence += self._gap + (shown if said is None else said)
        self._gap = ""

    def _newline(self) -> int:
        self._out.append(f"{self._gap}\n")
        self._gap = self._line = ""
        self._ended()
        return 1

    def _code(self, buffer: str, *, last: bool) -> int:
        """Pass on code up to the end of its line; a line of nothing but the fence ends it."""
        end = buffer.find("\n") + 1 or len(buffer)
        line = "opening" if self._opens else (self._line + buffer[:end]).strip()
        self._opens = self._opens and not buffer[:end].endswith("\n")
        if not line.strip(self._fence[0]) and not buffer[:end].endswith("\n") and not last:
            return 0  # it may be the fence
        self._out.append(buffer[:end])
        self._sentence += buffer[:end]
        self._line = "" if buffer[:end].endswith("\n") else self._line + buffer[:end]
        if line.startswith(self._fence) and not line.strip(self._fence[0]):
            self._fence = ""
            self._ended()
        return end

    def _backticks(self, buffer: str, *, last: bool) -> int:
        """Pass on code within a line as a whole, and open a block of code at the beginning of one."""
        run = _RUN.match(buffer)
        assert run is not None
        if run.end() == len(buffer) and not last:
            return 0
        if len(run[0]) >= 3 and not self._line.strip():
            self._settle()
            self._put(run[0], said="")
            self._fence, self._opens = run[0], True
            return run.end()
        paragraph, _, _ = buffer.partition("\n\n")
        close = next((one for one in _RUN.finditer(paragraph, run.end()) if one[0] == run[0]), None)
        if run[0][0] == "`" and close and (close.end() < len(buffer) or last):
            self._put(buffer[: close.end()])
            return close.end()
        if run[0][0] == "`" and not last and paragraph == buffer and len(buffer) < _MAX_HELD_CHARS:
            return 0
        self._put(run[0])
        return run.end()

    def _tag(self, buffer: str, *, last: bool) -> int:
        if not last and len(buffer) < _MAX_HELD_CHARS and _TAG_BEGUN.fullmatch(buffer):
            return 0
        if link := _AUTOLINK.match(buffer):
            self._put(link[0] if link[1] in self._known else f"`{link[1]}`")
            return link.end()
        self._put("< " if _TAG.match(buffer) else "<")
        return 1

    def _image(self, buffer: str, *, last: bool) -> int:
        """Show what an image is called instead of the image."""
        if buffer[1:2] != "[":
            if len(buffer) == 1 and not last:
                return 0
            self._put("!")
            return 1
        alt, target, is_open = _link(buffer, 1, last=last)
        if is_open:
            return 0
        self._put(alt if target else "")
        return target.end() if target else 1

    def _bracket(self, buffer: str, *, last: bool) -> int:
        """Read a mark or a link; any other bracket is text."""
        if mark := _MARK.match(buffer):
            target = _TARGET.match(buffer, mark.end())
            follows = buffer[mark.end() : mark.end() + 1]
            if not last and target is None and (not follows or (follows == "(" and len(buffer) < _MAX_HELD_CHARS)):
                return 0  # the target of a link may follow
            if (numbers := self._numbers(mark[0])) is not None:
                self._cite(numbers)
                return target.end() if target else mark.end()
        text, target, is_open = _link(buffer, 0, last=last) if buffer[0] == "[" else ("", None, False)
        if is_open or (
            not last and len(buffer) < _MAX_HELD_CHARS and _CLOSERS[buffer[0]] not in buffer and "\n" not in buffer
        ):
            return 0
        if target is None:
            # "[name]: address" would make links of all "[name]" in the answer.
            defines = buffer.startswith(f"[{text}]:") and not any(map(str.isalpha, self._line))
            self._put("\\[" if defines else buffer[0], said=buffer[0])
            return 1
        held = _LEADS_OUT.match(target[1]) is not None and target[1] in self._known
        self._put(buffer[: target.end()] if held else f"{text} (`{target[1]}`)", said=text)
        return target.end()

    def _numbers(self, mark: str) -> list[int] | None:
        """Return the sources that a mark names; None if it belongs to the word before it, as an index does."""
        numbers: list[int] = []
        is_range = False
        for first, to in _NUMBER.findall(mark.partition("†")[0]):
            is_range = is_range or bool(to)
            numbers += range(int(first), int(to or first) + 1)
        held = [number for number in dict.fromkeys(numbers) if 1 <= number <= len(self._sources)]
        attached = not self._gap and (self._line[-1:].isalnum() or self._line[-1:] == "_")
        return None if attached and (is_range or not held) else held

    def _cite(self, numbers: Sequence[int]) -> None:
        """Show the marks of sources; without any the gap before them goes, too."""
        shown = dict.fromkeys(self._citations.number(self._sources[number - 1].passage) for number in numbers)
        marks = "".join(f"[{number}]" for number in shown)
        self._out.append(self._gap + marks if marks else "")
        self._line += self._gap + marks if marks else ""
        self._gap = ""
        self._pending += numbers

    def _ended(self) -> None:
        """End a line or a block of code, to which marks on the next line may still belong."""
        if self._sentence.strip():
            self._settle()

    def _settle(self) -> None:
        """End the sentence: of each source that it marks, cite the place that is nearest to it."""
        if self._sentence.strip():
            self._before = self._sentence
        for number in dict.fromkeys(self._pending):
            passage = self._sources[number - 1].passage
            start, end = best_place(passage, self._before)
            self._citations.cite(passage, start, end, number=self._citations.number(passage))
        self._pending, self._sentence = [], ""


def _link(buffer: str, start: int, *, last: bool) -> tuple[str, re.Match[str] | None, bool]:
    """Return the text of the link or image that begins at `start`, its target, and whether it may still become one."""
    may_grow = not last and len(buffer) < _MAX_HELD_CHARS and "\n" not in buffer[start:]
    close = buffer.find("]", start)
    if close < 0 or close + 1 == len(buffer):
        return "", None, may_grow
    text = buffer[start + 1 : close]
    if buffer[close + 1] != "(" or "\n" in text:
        return text, None, False
    target = _TARGET.match(buffer, close + 1)
    return text, target, target is None and may_grow
