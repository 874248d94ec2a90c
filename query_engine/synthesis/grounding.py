"""Check a generated sentence against the passages it cites, and find the quotes that support it.

Flow: `draft.py` hands over each finished sentence -> **here** -> a verdict: supported by these quotes, or not, with
the quote that may stand in its place. Each clause must be held by one or two neighbouring sentences of a passage: they
have all its numbers and names, affirm nothing that it denies, exchange no roles, and hold most of its words, or fewer
where the meaning is close. Two neighbours hold a clause together only if the second speaks of what the first one names.
Words that a clause takes from elsewhere in the passages speak against it: it may merge two facts. What becomes of the
sentence is `draft.py`'s business.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from index.documents.sentences import split_sentences
from query_engine.schema.passage import Passage
from query_engine.synthesis.claims import (
    Claim,
    exchanges_roles,
    read_claim,
    refers_back,
    repeats_itself,
    split_clauses,
)

# Chosen on planted sentences of SQuAD and Cranfield; ADR 0018 tells how they do elsewhere.
SURE_SHARE = 0.8
LEAST_SHARE, LEAST_SUM = 0.35, 1.2
# Share of a clause's words that only other sentences of the passages hold; words that open a sentence as its subject.
FOREIGN_SHARE = 0.5
SUBJECT_WORDS = 3
QUOTE_SIMILARITY = 0.6
EMBEDDED_QUOTES = 6


@dataclass(frozen=True, slots=True)
class Quote:
    """One or two neighbouring sentences of the passage with that rank: `[start, end)` of its document."""

    rank: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a sentence.

    Attributes:
        supported: every clause is.
        quotes: what supports it, in the order of its clauses; if it is not supported, the one sentence that is nearest
            in meaning, or nothing.
    """

    supported: bool
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where support may stand: what is said there, in the document's title, and anywhere in the passage.

    Attributes:
        sentences: what each of its sentences says.
        meant: words that it may stand for, since it speaks of what was named before.
    """

    quote: Quote
    claim: Claim
    sentences: tuple[Claim, ...]
    title: Claim
    around: frozenset[str]
    meant: frozenset[str]


class Evidence:
    """The passages of one prompt, ready to be compared with sentences.

    Args:
        passages: rank r is `passages[r - 1]`.
        embedder: the corpus's own; the same texts come again, so it should remember (`index/embedding/cached.py`).
    """

    def __init__(self, passages: Sequence[Passage], embedder: BaseEmbedding) -> None:
        self._embedder = embedder
        self._sentences: dict[int, list[_Place]] = {}
        self._pairs: dict[int, list[_Place]] = {}
        for rank, passage in enumerate(passages, 1):
            self._sentences[rank], self._pairs[rank] = _places(rank, passage)
        places = [place for places in self._sentences.values() for place in places]
        self._words = frozenset[str]().union(*(place.claim.words for place in places))
        self._subjects = frozenset(word for place in places for word in place.claim.order[:SUBJECT_WORDS])
        self._texts = [" ".join(passage.text.split()) for passage in passages]

    def check(self, sentence: str, cited: Sequence[int] = ()) -> Verdict:
        """Look for support in the cited passages, then in the others; blocks for some milliseconds.

        Args:
            sentence: without marks.
            cited: ranks of what it names as its sources; others are asked too, since it may have named the wrong one.
        """
        clauses = [] if repeats_itself(sentence) and not self._said(sentence) else split_clauses(sentence)
        others = [rank for rank in self._sentences if rank not in cited]
        for ranks in (cited, others) if clauses else ():
            if quotes := self._support(clauses, ranks):
                return Verdict(True, tuple(dict.fromkeys(quotes)))
        return Verdict(False, self._nearest(sentence))

    def alone(self, sentence: str, rank: int, *, least: bool = True) -> list[Quote]:
        """Return what one passage has to say for a sentence by itself.

        Args:
            sentence: without marks.
            rank: of the passage.
            least: return nothing where it does not support the whole sentence; otherwise what is nearest by words.
        """
        quotes = self._support(split_clauses(sentence), [rank])
        if quotes or least:
            return list(dict.fromkeys(quotes))
        wanted = read_claim(sentence).words
        return [max(self._sentences[rank], key=lambda place: len(place.claim.words & wanted)).quote]

    def _support(self, clauses: Sequence[str], ranks: Iterable[int]) -> list[Quote]:
        """One quote for each clause; nothing if one of them has none."""
        ranks = list(ranks)
        places = [place for kind in (self._sentences, self._pairs) for rank in ranks for place in kind[rank]]
        found = []
        for clause in clauses:
            quote = self._holding(clause, places)
            if quote is None:
                return []
            found.append(quote)
        return found

    def _holding(self, clause: str, places: Sequence[_Place]) -> Quote | None:
        claim = read_claim(clause)
        if not claim.words and not claim.numbers:
            return None
        shares = [
            (share, place.quote)
            for place in places
            if (share := _share_held(claim, place)) >= LEAST_SHARE and not self._merges(claim, place)
        ]
        # Sorting is stable, so single sentences come first among equals.
        ranked = sorted(shares, key=lambda each: -each[0])
        if not ranked or ranked[0][0] >= SURE_SHARE:
            return ranked[0][1] if ranked else None
        near = ranked[:EMBEDDED_QUOTES]
        scored = zip(near, self._similarities(clause, [quote for _, quote in near]), strict=True)
        best, (_, quote) = max(
            ((share + similarity, (share, quote)) for (share, quote), similarity in scored), key=_first
        )
        return quote if best >= LEAST_SUM else None

    def _said(self, sentence: str) -> bool:
        said = " ".join(sentence.split()).rstrip(".")
        return any(said in text for text in self._texts)

    def _merges(self, claim: Claim, place: _Place) -> bool:
        """Whether the claim says of one thing what the place says of another, as far as words tell."""
        known = place.claim.words | place.title.words | place.meant
        foreign = [word for word in claim.order if word not in known and word in self._words]
        if not foreign:
            return False
        another_subject = foreign[0] == claim.order[0] and foreign[0] in self._subjects
        return another_subject or len(foreign) / len(claim.order) >= FOREIGN_SHARE

    def _nearest(self, sentence: str) -> tuple[Quote, ...]:
        wanted = read_claim(sentence).words
        places = [place for places in self._sentences.values() for place in places]
        places.sort(key=lambda place: -len(place.claim.words & wanted))
        quotes = [place.quote for place in places[:EMBEDDED_QUOTES]]
        scored = zip(self._similarities(sentence, quotes), quotes, strict=True)
        similarity, nearest = max(scored, key=_first, default=(0.0, None))
        return (nearest,) if nearest and similarity >= QUOTE_SIMILARITY else ()

    def _similarities(self, text: str, quotes: Sequence[Quote]) -> list[float]:
        """Cosine of the text and each quote, -1..1."""
        texts = [text, *(quote.text for quote in quotes)]
        asked, *held = np.asarray(self._embedder.get_text_embedding_batch(texts))
        return [float(vector @ asked) for vector in held]


def _first(pair: tuple[float, object]) -> float:
    return pair[0]


def _share_held(claim: Claim, place: _Place) -> float:
    """Share of the claim's words that a place holds, 0..1; 0 where something in it speaks against the claim."""
    held, title = place.claim, place.title
    if claim.numbers - held.numbers - title.numbers or claim.addresses - held.addresses:
        return 0.0
    if claim.names - held.words - title.words - place.around:
        return 0.0
    if _contradicts(claim, held) or any(exchanges_roles(claim, sentence) for sentence in place.sentences):
        return 0.0
    known = held.words | title.words
    if not claim.words:
        return 1.0
    share = len(claim.words & known) / len(claim.words)
    # A first word may be a name, and then it is the one that counts.
    return share if claim.opening is None or claim.opening in known | place.around else share - 0.2


def _contradicts(claim: Claim, held: Claim) -> bool:
    if (claim.denied & held.affirmed - held.denied) or (held.denied & claim.affirmed - claim.denied - held.affirmed):
        return True
    return any((pair, 1 - side) in held.sides and (pair, side) not in held.sides for pair, side in claim.sides)


def _places(rank: int, passage: Passage) -> tuple[list[_Place], list[_Place]]:
    """The passage's sentences, and its pairs of neighbours of which the second refers back."""
    title, around = read_claim(passage.title), read_claim(passage.text).words

    def place(start: int, end: int, before: frozenset[str], sentences: tuple[Claim, ...] = ()) -> _Place:
        text = passage.text[start:end]
        quote, claim = Quote(rank, passage.start + start, passage.start + end, text), read_claim(text)
        meant = before if refers_back(text) else frozenset[str]()
        return _Place(quote, claim, sentences or (claim,), title, around, meant)

    spans = [(sentence.start, sentence.end) for sentence in split_sentences(passage.text)] or [(0, len(passage.text))]
    single: list[_Place] = []
    before: frozenset[str] = frozenset()
    for start, end in spans:
        single.append(place(start, end, before))
        before |= single[-1].claim.words
    pairs = [
        place(start, end, first.meant, (first.claim, second.claim))
        for (first, second), ((start, _), (_, end)) in zip(pairwise(single), pairwise(spans), strict=True)
        if refers_back(second.quote.text)
    ]
    return single, pairs
