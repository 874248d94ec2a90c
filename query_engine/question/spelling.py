"""Read a mistyped word of a question as the word of the corpus that was meant.

Flow: engine -> **here**, against the terms of the word index -> the question that is searched for, and a step that
tells. A word is touched only where the corpus does not have it, no dictionary has it, and the corpus has a word that
typing slips turn into it: a letter left out, doubled, swapped or replaced. Question words ("wat", "wich") are corrected
even if the corpus does not hold them. Which dictionary counts is decided by the question's language; a language that
the corpus does not speak must be plain, as two mistyped words may look like it. Rare but correct words are the danger,
so short words, names and words built of known ones have stricter rules. Numbers and abbreviations are never touched.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rapidfuzz import process
from rapidfuzz.distance import OSA

from index.lexical.language import function_word_votes, function_words, question_language
from index.lexical.tantivy_index import STOP_WORDS
from query_engine.text.dictionary import MIN_USES, dictionary, folded, in_dictionary

MAX_CHARS = 1000
MIN_CHARS = 4
# Words of at least this many letters may have two slips.
TWO_SLIPS_CHARS = 8
# Shorter words have too many neighbours: of them only letters left out or swapped are put right.
SHORT_CHARS = 5
MIN_NAME_CHARS = 6
# How many terms of the index are looked up in leaves, and in how many leaves.
TRIED_TERMS, READ_LEAVES = 4, 5
# A word that this many leaves hold is not a rare name.
FREQUENT_LEAVES = 20
# Question words; a word is taken for a slip of one that English uses at least this many times as often.
ASKING_WORDS = "what when where which who whom whose why how does much many should could would".split()
ASKING_MIN_CHARS, ASKING_MIN_RATIO = 3, 1000
# A corpus speaks a language if it holds such a share of its function words; of another one, a question must have so
# many more function words than of English.
SPOKEN_SHARE, PLAIN_VOTES = 0.3, 2
DICTIONARIES = frozenset({"en", "de", "fr", "es", "it", "pt", "nl"})

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
# Letters that are taken for each other because they sound alike: "juli", "oktober".
_SOUNDS = str.maketrans("ykz", "ics")

TextsOf = Callable[[Sequence[str]], Sequence[str]]
"""Returns the texts of leaves, by their node ids."""


class Vocabulary(Protocol):
    """The terms of a corpus; `LexicalIndex` is one."""

    def terms(self, text: str) -> list[str]:
        """Terms of a text, in order."""
        ...

    def has(self, term: str) -> bool:
        """Whether a leaf, or the name of a document, holds the term."""
        ...

    def beginning(self, letter: str, chars: int) -> Mapping[str, int]:
        """Terms of this length and beginning, each with the number of leaves that hold it."""
        ...

    def search(self, terms: Mapping[str, float], names: Sequence[str], top_k: int) -> list[tuple[str, float]]:
        """Leaves that hold the terms, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Correction:
    """A word as it was typed, and as it was read."""

    typed: str
    meant: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A word of the corpus that may have been meant.

    Attributes:
        slips: 1 or 2.
        unlikely: 0 for letters left out, doubled or swapped, 1 for others.
        leaves: how many hold it.
    """

    slips: int
    unlikely: int
    leaves: int
    word: str

    def order(self) -> tuple[int, int, int, str]:
        return self.slips, self.unlikely, -self.leaves, self.word


def corrected(question: str, vocabulary: Vocabulary, texts_of: TextsOf) -> tuple[str, tuple[Correction, ...]]:
    """Return the question with its mistyped words put right, and what was put right.

    Args:
        question: as it would be searched for.
        vocabulary: of the corpus.
        texts_of: returns the texts of leaves.
    """
    if len(question) > MAX_CHARS or (language := _language(question, vocabulary)) not in DICTIONARIES:
        return question, ()
    pieces, made, last = [], [], 0
    for match in _WORD.finditer(question):
        word = match[0].removesuffix("'s").removesuffix("’s")
        if _glued(question, match.start(), match.end()):
            continue
        begins = not question[: match.start()].strip(" ¿¡\"'")
        meant = _asking_word(word, vocabulary, begins=begins) if language == "en" else None
        if meant is None and _may_be_mistyped(word, vocabulary, language):
            meant = _meant(word, vocabulary, texts_of, language, begins=begins)
        if meant is None:
            continue
        pieces += [question[last : match.start()], meant]
        last = match.start() + len(word)
        made.append(Correction(word, meant))
    return "".join([*pieces, question[last:]]), tuple(made)


def _language(question: str, vocabulary: Vocabulary) -> str:
    """Return the question's language, English where nothing but its words speak for another one, and few of them."""
    language = question_language(question)
    if language not in DICTIONARIES or language == "en":
        return language
    own = function_words(language) - function_words("en")
    held = sum(all(map(vocabulary.has, vocabulary.terms(word))) for word in own)
    votes = function_word_votes(question)
    return language if held >= SPOKEN_SHARE * len(own) or votes[language] >= votes["en"] + PLAIN_VOTES else "en"


def _asking_word(word: str, vocabulary: Vocabulary, *, begins: bool) -> str | None:
    """Return the question word that `word` is one typing slip away from, in the case of `word`; None if it is none."""
    typed = word.lower()
    if len(typed) < ASKING_MIN_CHARS or typed in STOP_WORDS or not (word.islower() or (begins and word.istitle())):
        return None
    terms = vocabulary.terms(typed)
    if len(terms) != 1 or vocabulary.has(terms[0]):
        return None
    forms = {typed, typed.removesuffix("s") if len(typed) > ASKING_MIN_CHARS else typed}
    uses = dictionary("en")
    found = [
        asking
        for asking in ASKING_WORDS
        for form in forms
        if form[0] == asking[0] and OSA.distance(form, asking) == 1 and not _unlikely(form, asking)
        if uses[typed] * ASKING_MIN_RATIO < uses[asking]
    ]
    if len(set(found)) != 1:
        return None
    return found[0].capitalize() if word.istitle() else found[0]


def _glued(question: str, start: int, end: int) -> bool:
    """Whether a word is part of something that is not a word: a file's name, an address, a number with its unit."""
    before, after = question[start - 1 : start], question[end : end + 2]
    return before.isdigit() or before in {"@", "/", "_", ".", "#", "\\"} or bool(re.match(r"[\d@/_\\'’]|[.:]\w", after))


def _may_be_mistyped(word: str, vocabulary: Vocabulary, language: str) -> bool:
    """Whether neither the corpus nor a dictionary has a word, which is not an abbreviation."""
    if len(word) < MIN_CHARS or not word.isalpha() or not (word.islower() or word.istitle()):
        return False
    plain = folded(word)
    if language == "en" and not word.isascii():
        return False  # a foreign word
    terms = vocabulary.terms(word)
    if plain in STOP_WORDS or len(terms) != 1 or vocabulary.has(terms[0]):
        return False
    return not any(in_dictionary(word.lower(), code) for code in {"en", language})


def _meant(typed: str, vocabulary: Vocabulary, texts_of: TextsOf, language: str, *, begins: bool) -> str | None:
    """Return the word of the corpus that was meant, in the case of the mistyped one; None if there is none.

    Args:
        typed: the mistyped word.
        vocabulary: of the corpus.
        texts_of: returns the texts of leaves.
        language: of the question.
        begins: it is the question's first word, whose capital says nothing.
    """
    as_name = typed.istitle() and not begins
    plain = folded(typed)
    neighbours = dictionary(language).known(dictionary(language).edit_distance_1(typed.lower()))
    near = [*_listed(plain, neighbours, vocabulary), *_words_near(plain, vocabulary, texts_of)]
    found = [one for one in near if _likely(typed, one, as_name=as_name)]
    if not found:
        return None
    best = min(found, key=_Found.order)
    common = dictionary(language)[best.word.lower()] >= MIN_USES
    if (best.slips > 1 or best.unlikely) and not common and best.leaves < FREQUENT_LEAVES:
        return None
    term = vocabulary.terms(best.word)
    for other in neighbours:
        # The dictionary has a word that is nearer, and the corpus does not have it.
        if (1, _unlikely(plain, folded(other))) < best.order()[:2] and vocabulary.terms(other) != term:
            return None
    return (
        best.word.capitalize()
        if typed.istitle()
        else best.word.lower()
        if best.word.lower() in dictionary(language)
        else best.word
    )


def _listed(typed: str, neighbours: Iterable[str], vocabulary: Vocabulary) -> Iterator[_Found]:
    """Yield the words of the dictionary that the corpus has in some form."""
    for word in sorted(neighbours):
        terms = vocabulary.terms(word)
        leaves = vocabulary.beginning(terms[0][0], len(terms[0])).get(terms[0], 0) if len(terms) == 1 else 0
        if leaves:
            yield _Found(1, _unlikely(typed, folded(word)), leaves, word)


def _words_near(typed: str, vocabulary: Vocabulary, texts_of: TextsOf) -> Iterator[_Found]:
    """Yield the words of the corpus with few slips between them and a word, as leaves have them."""
    slips = 2 if len(typed) >= TWO_SLIPS_CHARS else 1
    for term, leaves in _terms_near(vocabulary.terms(typed)[0], slips, vocabulary):
        hits = vocabulary.search({term: 1.0}, (), READ_LEAVES)
        seen = {found for text in texts_of([name for name, _ in hits]) for found in _WORD.findall(text)}
        for word in sorted(seen):
            distance = OSA.distance(typed, folded(word), score_cutoff=slips)
            if 0 < distance <= slips and vocabulary.terms(word) == [term]:
                yield _Found(distance, _unlikely(typed, folded(word)), leaves, word)


def _likely(typed: str, found: _Found, *, as_name: bool) -> bool:
    """Whether a word can be meant, by stricter rules where a word is short or a name."""
    same_initial = folded(typed)[0] == folded(found.word)[0]
    if len(typed) <= SHORT_CHARS and (found.unlikely or not same_initial):
        return False
    if (found.slips > 1 or found.unlikely) and not same_initial:
        return False
    if not as_name:
        return True
    if found.leaves < FREQUENT_LEAVES and (found.unlikely or len(typed) < MIN_NAME_CHARS):
        return False
    return found.word.istitle() and same_initial


def _terms_near(term: str, slips: int, vocabulary: Vocabulary) -> list[tuple[str, int]]:
    """Return terms of the corpus with few slips between them and this one, the nearest and most frequent first."""
    near = []
    for letter in sorted({term[0], term[1:2]}):
        for chars in range(len(term) - slips, len(term) + slips + 1):
            terms = vocabulary.beginning(letter, chars)
            found = process.extract(term, terms.keys(), scorer=OSA.distance, score_cutoff=slips, limit=None)
            near += [(distance, -terms[other], other) for other, distance, _ in found]
    return [(other, -negative) for _, negative, other in sorted(near)[:TRIED_TERMS]]


def _unlikely(typed: str, meant: str) -> int:
    """Return 0 where letters were left out, doubled, swapped or sound alike, 1 where one was replaced or put in."""
    if sorted(typed) == sorted(meant) or typed.translate(_SOUNDS) == meant.translate(_SOUNDS):
        return 0
    return 0 if _is_subsequence(typed, meant) or _undoubled(typed) == _undoubled(meant) else 1


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


def _undoubled(word: str) -> str:
    return re.sub(r"(.)\1", r"\1", word)
