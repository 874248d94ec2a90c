"""Separate what a model answers from what it thinks, and notice when it declines.

Flow: raw pieces from a language model -> **here** -> `synthesis/source_list.py`. Removed on the way: control
characters, lone surrogates, `<think>` passages, and document borders that a small model repeats. An answer that opens
with "I don't know" is a decline: it is kept apart, so the first words of an answer wait until it is clear. Thoughts,
in `<think>` or in a server's own field for them, are handed out by the paragraph, apart from the answer.
"""

import re
import unicodedata

from errors import LLMError

_TAG = re.compile(r"</?think(?:ing)?>|</?DOC(?: rank=\d{1,3})?>", re.IGNORECASE)
_TAG_BEGUN = re.compile(r"<(?:/?[a-z]{0,8}|doc [rank=\d]{0,9})\Z", re.IGNORECASE)
_TAGS = ("<think>", "<thinking>", "</think>", "</thinking>", "<doc>", "</doc>", "<doc rank=")
# What prompts ask for, and what models make of it in the language of the question; case folded.
_DECLINES = (
    "i don't know",
    "i do not know",
    "ich weiss es nicht",
    "das weiss ich nicht",
    "je ne sais pas",
    "no lo sé",
    "non lo so",
    "não sei",
    "ik weet het niet",
)
_DECLINED = re.compile(
    rf"(?:{'|'.join(_DECLINES)})(?:\W*\Z|\s*[,;:(\[–—-].*|\s+(?:the answer|based on|from the|because|since|as)\b.*)"
)
_LONGEST_OPENING_CHARS = 160
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_SENTENCE_END = re.compile(r"[.!?]\s")
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d{1,2}[.):])\s*")
# A paragraph of thoughts that goes on for longer is handed out sentence by sentence.
_LONGEST_THOUGHT_CHARS = 400


def listed(reply: str, max_chars: int) -> list[str]:
    """Return what a model lists, one a line: without bullets, numbers and quotes, lines that lead in, and long ones."""
    lines = (_BULLET.sub("", line).strip().strip("\"'“”`").strip() for line in reply.splitlines())
    return [line for line in lines if line and not line.endswith(":") and len(line) <= max_chars]


class Thought(str):
    """A piece of a model's reasoning that its server sends apart from the answer."""

    __slots__ = ()


class LengthReached(str):
    """An empty piece, the last one: the model was stopped at the limit of its answer."""

    __slots__ = ()


class Reply:
    """Filters one reply.

    Attributes:
        declined: the model said that it does not know; nothing was let through.
        decline_text: what it said then.
        reasoned: the model reasoned; nothing of it was let through.
        restarted: what was let through was reasoning: the model ended a passage of it that it had not begun.
    """

    def __init__(self) -> None:
        self.declined = False
        self.decline_text = ""
        self.restarted = False
        self.reasoned = False
        self._thinking = False
        self._thoughts = ""
        self._tag = ""
        self._opening: str | None = ""

    def feed(self, piece: str) -> str:
        """Take the next piece and return what belongs to the answer; see also `restarted`."""
        text = "".join(filter(_printable, piece))
        if isinstance(piece, Thought):
            self.reasoned = True
            self._thoughts += text
            return ""
        return self._opened(self._untagged(text))

    def thoughts(self) -> list[str]:
        """Return the paragraphs of reasoning that ended since the last call; all end where the answer begins."""
        *whole, rest = _PARAGRAPH_END.split(self._thoughts)
        if self._opening is None and not self._thinking:
            whole, rest = [*whole, rest], ""
        elif len(rest) > _LONGEST_THOUGHT_CHARS and (ends := [end.end() for end in _SENTENCE_END.finditer(rest)]):
            whole, rest = [*whole, rest[: ends[-1]]], rest[ends[-1] :]
        self._thoughts = rest
        return [thought.strip() for thought in whole if thought.strip()]

    def finish(self) -> str:
        """Return what was held back; the reply is over."""
        tag, self._tag = self._tag, ""
        text = self._opened(self._sorted(tag))
        self._thinking = False
        opening, self._opening = self._opening, None
        if opening and _declines(opening):
            self.declined, self.decline_text = True, opening
            return text
        return text + (opening or "")

    def _untagged(self, text: str) -> str:
        buffer = self._tag + text
        kept, position = "", 0
        for match in _TAG.finditer(buffer):
            kept += self._sorted(buffer[position : match.start()])
            position = match.end()
            if match[0].lower().startswith("</think") and not self._thinking:
                kept = ""
            self._switch(match[0].lower())
        rest = buffer[position:]
        begun = _TAG_BEGUN.search(rest, max(0, len(rest) - 16))
        self._tag = begun[0] if begun and _begins_tag(begun[0].lower()) else ""
        return kept + self._sorted(rest[: len(rest) - len(self._tag)])

    def _sorted(self, text: str) -> str:
        """Return the text if it belongs to the answer; keep it if it is a thought."""
        if self._thinking:
            self._thoughts += text
            return ""
        return text

    def _switch(self, tag: str) -> None:
        if tag.startswith("<think"):
            self._thinking = self.reasoned = True
        elif tag.startswith("</think"):
            if not self._thinking:
                self.restarted = self.reasoned = True
                self.declined, self.decline_text, self._opening = False, "", ""
            self._thinking = False

    def _opened(self, text: str) -> str:
        if self._opening is None:
            if self.declined:
                self.decline_text += text
            return "" if self.declined else text
        self._opening = (self._opening + text).lstrip()
        said = _plain(self._opening)
        if any(held.startswith(said) for held in (*_DECLINES, "answer:")):
            return ""
        if said.startswith(_DECLINES):
            if not re.search(r"[.!?\n]", said) and len(said) < _LONGEST_OPENING_CHARS:
                return ""
            self.declined = _declines(self._opening)
        opening, self._opening = self._opening, None
        if self.declined:
            self.decline_text = opening
        return "" if self.declined else opening


def nothing_written(reply: Reply) -> LLMError:
    """Return the failure of a model whose finished reply holds nothing."""
    if reply.reasoned:
        return LLMError(
            "The language model spent its whole answer on reasoning.",
            "Raise RAG_LLM__MAX_NEW_TOKENS or switch the model's reasoning off.",
            code="llm_reasoning",
        )
    return LLMError(
        "The language model wrote nothing.", "Try another model, or look at the model server's log.", code="llm_empty"
    )


def _printable(character: str) -> bool:
    return character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cs"}


def _begins_tag(text: str) -> bool:
    return any(tag.startswith(text) for tag in _TAGS) or re.fullmatch(r"<doc rank=\d{0,3}", text) is not None


def _plain(text: str) -> str:
    text = text.replace("’", "'").casefold()
    return re.sub(r"\A[\s\"'“”*_`(]*(?:answer:\s*)?[\s\"'“”*_`(]*", "", text)


def _declines(opening: str) -> bool:
    first = re.split(r"(?<=[.!?\n])", _plain(opening), maxsplit=1)[0]
    return _DECLINED.fullmatch(first.strip()) is not None
