"""Make a question that leans on a conversation stand on its own: search knows no conversation.

Flow: earlier turns and a new question -> **here** -> a question that names what it is about -> engine.

A language model rewrites it where one is set. Without one, or where its reply cannot be trusted, an English question
that points back takes along words of the question before, in brackets: behind a pronoun ("How tall is it?") the names
among them, or all of them where it names nothing; where a clause is missing ("And in winter?") all of them. Where
capitals tell names, IT, US and WHO are not pronouns. The engine tells readers which it was.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from errors import LLMError, OutOfTimeError
from index.lexical.tantivy_index import search_words
from query_engine.llms.helper import ASIDE_S, PromptHelper
from query_engine.prompting.builder import read_prompt
from query_engine.prompting.conversation import last
from query_engine.question.validation import MAX_WORDED_CHARS
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.turn import Turn
from query_engine.text.light_words import is_light
from query_engine.text.markdown_escape import without_citations

MAX_CARRIED_WORDS = 8
MAX_NAME_CHARS = 80
# Of the model's prompt, each turn takes at most this share.
TURN_SHARE = 10
# What stands for something said before.
POINTERS = (
    *"it its itself they them their theirs he him his she her hers this these those".split(),
    *("is that", "was that", "does that", "did that"),  # but not "the man that wrote"
    *("the same", "the other", "the others", "the former", "the latter", "which one", "which ones"),
)
# A clause that begins with one of these and says little more leans on the clause before.
OPENERS = (
    *"and but or so also then und aber et mais y pero in on at for with without since during after before".split(),
    *("what about", "how about", "what if"),
)
LITTLE_WORDS = 2
# What is asked for, not what about.
REQUESTS = "explain describe define summarise summarize list works".split()
# How small models begin: with the end of the prompt.
LABELS = ("question", "question on its own")

_SILENT = frozenset((*POINTERS, *OPENERS, *REQUESTS))
_WORD = re.compile(r"[^\W_](?:[\w'.-]*\w)?")


@dataclass(frozen=True, slots=True)
class _Word:
    """A word as it was written, whether it tells what is asked about, and whether it is written like a name."""

    text: str
    tells: bool
    named: bool


@dataclass(frozen=True, slots=True)
class Condensed:
    """A question that stands on its own.

    Attributes:
        question: what is searched and answered.
        how: `model` when a language model rewrote it, `words` when it took words along, `unchanged`.
        warnings: when the model should have rewritten it and did not.
    """

    question: str
    how: Literal["model", "words", "unchanged"]
    warnings: tuple[AnswerWarning, ...] = ()


class Condenser:
    """Reads conversations.

    Args:
        asker: asks the language model; None leaves it to the words.
    """

    def __init__(self, asker: PromptHelper | None = None) -> None:
        self._asker = asker

    def condense(self, turns: Sequence[Turn], question: str, deadline: Deadline | None = None) -> Condensed:
        """Return the question as it can be asked without the turns before it; blocks.

        Args:
            turns: oldest first.
            question: as it was asked.
            deadline: of the whole question; None leaves only this step's own limit.
        """
        if self._asker is None:
            return carry_words(turns, question)
        try:
            rewritten = self._rewritten(self._asker, turns, question, deadline)
        except (LLMError, OutOfTimeError) as error:
            carried = carry_words(turns, question)
            return Condensed(carried.question, carried.how, (AnswerWarning("conversation", error.fact),))
        return Condensed(rewritten, "unchanged" if rewritten == question else "model")

    def _rewritten(self, asker: PromptHelper, turns: Sequence[Turn], question: str, deadline: Deadline | None) -> str:
        limit = Deadline(ASIDE_S) if deadline is None else deadline.for_stage(ASIDE_S)
        room_tokens = asker.prompt_tokens // TURN_SHARE
        conversation = [
            f"{turn.role.title()}: {asker.quoted(without_citations(turn.text).replace('**', ''), room_tokens)}"
            for turn in last(turns)
        ]
        template = read_prompt("condense")
        asked = asker.quoted(question, room_tokens * 2)
        reply = asker.ask(template.format(conversation="\n".join(conversation), question=asked), limit, one_line=True)
        line = reply.strip().splitlines()[0]
        label, _, rest = line.partition(":")
        labelled = label.lower().strip(' *"').removeprefix("the ") in LABELS
        rewritten = (rest if labelled else line).strip(" *\"'“”")
        known = {word.text.casefold() for text in (*conversation, question) for word in _words(text)}
        if question.endswith("?") and not rewritten.endswith("?"):
            raise LLMError("The language model wrote no question.", "Use a larger model.")
        if len(rewritten) > MAX_WORDED_CHARS or not _grounded(rewritten, known):
            raise LLMError("The language model's wording is not about the conversation.", "Use a larger model.")
        return rewritten


def carry_words(turns: Sequence[Turn], question: str) -> Condensed:
    """Add what the earlier questions were about, if the question points back; see the module's docstring."""
    before, answer = "", ""
    for turn in last(turns):
        if turn.role == "assistant":
            answer = turn.text
        else:
            before, answer = _carried(before, answer, turn.text), ""
    carried = _carried(before, answer, question)
    return Condensed(carried, "unchanged" if carried == question else "words")


def points_back(question: str) -> bool:
    """Say whether an English question leans on what was said before: by a pronoun, or as a fragment of a clause."""
    words = _words(question)
    own = sum(word.tells for word in words)
    fragment = own <= LITTLE_WORDS and any(_spaced(words).startswith(f" {opener} ") for opener in OPENERS)
    return not own or fragment or _has_pointer(words)


def _carried(before: str, answer: str, question: str) -> str:
    """Return a question with what it takes along of the question before it, as that stood, and of the answer to it."""
    # A question this long names its subject.
    if len(question) > MAX_WORDED_CHARS or not points_back(question):
        return question
    words = _words(question)
    pointer = _has_pointer(words)
    subject = _subject(before, names_only=pointer)
    telling = [word for word in words if word.tells]
    if not pointer and telling and all(word.named for word in telling) and words[1].text.lower() not in OPENERS:
        # "And the Plover?" asks the same of another one; "And in July?" of the same one.
        subject = [word.text for word in _words(before) if word.text in subject and not word.named]
    # The answer's short form, where it is a name: "she" may be who was asked for.
    name = answer.partition("**")[2].partition("**")[0]
    if name[:1].isupper() and len(name) <= MAX_NAME_CHARS:
        subject += [word.text for word in _words(name)]
    said = {word.text.casefold() for word in words if word.tells}
    # Another year is what the question is about.
    dated = any(word.isdigit() for word in said)
    carried = [one for one in dict.fromkeys(subject) if one.casefold() not in said and not (dated and one.isdigit())]
    if not carried:
        return question
    # Before the question mark: what follows it would look like a second question.
    asked = question.rstrip("?!. ")
    return f"{asked} ({' '.join(carried[:MAX_CARRIED_WORDS])}){question[len(asked) :]}"


def _subject(question: str, *, names_only: bool) -> list[str]:
    """Return the words that tell what a question is about; of one with names, perhaps only these and what adjoins."""
    runs = [list(run) for tells, run in groupby(_words(question), lambda word: word.tells) if tells]
    named = [run for run in runs if any(word.named for word in run)] if names_only else []
    return [word.text for run in named or runs for word in run]


def _has_pointer(words: Sequence[_Word]) -> bool:
    said = _spaced(words)
    return said.endswith(" that ") or any(f" {pointer} " in said for pointer in POINTERS)


def _spaced(words: Sequence[_Word]) -> str:
    """Return the words between spaces, in small letters, with a dash for each name."""
    return f" {' '.join('-' if word.named else word.text.lower() for word in words)} "


def _words(text: str) -> list[_Word]:
    """Return the words of a text, without possessive endings."""
    text = text.replace("’", "'").replace("'s", " ")
    kept = {found for written in search_words(text) for found in _WORD.findall(written)}
    # Not where every word is written in capitals, or begins with one.
    case_tells = not (text.isupper() or text.istitle())
    words: list[_Word] = []
    end = 0
    for found in _WORD.finditer(text):
        word, gap, end = found[0], text[end : found.start()], found.end()
        begins = not words or not set(gap).isdisjoint(".?!:;")
        abbreviated = case_tells and len(word) > 1 and word[:2].isalpha() and word[:2].isupper()
        coded = word[0].isalpha() and any(map(str.isdigit, word))  # "v3.12"
        named = abbreviated or coded or (case_tells and not begins and word[0].isupper())
        light = is_light(word) or word.casefold() in _SILENT
        words.append(_Word(word, abbreviated or (word in kept and not light), named))
    return words


def _grounded(rewritten: str, known: set[str]) -> bool:
    """Whether a rewrite adds no number, and shares a content word with what was said."""
    words = _words(rewritten)
    numbers = {word.text.casefold() for word in words if any(map(str.isdigit, word.text))}
    return numbers <= known and any(word.tells and word.text.casefold() in known for word in words)
