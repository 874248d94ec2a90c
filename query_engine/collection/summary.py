"""Summarise a document by its own summary or its most central sentences, without a language model or new embeddings.

Flow: `answers.py` asks for so many sentences -> **here**, from the vectors that ingestion stored -> quotes in document
order. A document that has an abstract or a summary is quoted from that. Of others the first sentence is taken, and
leaves are chosen by maximal marginal relevance to the document's centroid (Carbonell and Goldstein, SIGIR 1998): near
to what the whole is about, far from each other. Of each leaf the sentence is taken whose words are the most frequent
ones of the document (SumBasic: Nenkova and Vanderwende, 2005); the first one of a section or paragraph counts for more
(Edmundson, Journal of the ACM, 1969).
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from query_engine.collection.extract import Extract, extract
from query_engine.collection.outcome_patterns import (
    ABSTRACT,
    ABSTRACT_WITHIN_CHARS,
    FOUND,
    ITEM_NUMBER,
    ROUTINE,
    SAYS_FOUND,
    section_below,
)
from query_engine.reader.headings import heading_paths, marked_headings
from query_engine.text.sentences import Sentence, split_sentences

# Of larger documents only the leaves of the parents that are chosen first are read.
MAX_LEAVES = 200
# Penalty for a leaf that resembles one already chosen.
REDUNDANCY = 0.5
# Documents most often say at the beginning what they are about.
LEAD_BONUS = 0.15
MIN_WORDS, MAX_SENTENCE_CHARS = 6, 400
# What a sentence of Chinese or Japanese has of letters.
MIN_LETTERS_UNSPACED = 12
# With fewer sentences, an abstract is not used, and sentences that cannot be read alone fill up a summary.
FEWEST = 2
MAX_HEADINGS, MAX_HEADING_CHARS = 12, 80

_SPACED = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
# Headings of what every article or page may have.
_APPARATUS = re.compile(
    r"(?:table of )?contents|see also|(?:notes(?: and)? )?references|notes|sources|external links|further reading"
    r"|bibliography|footnotes|navigation|share(?: this)?|related (?:articles|pages|links|topics)"
)
_NUMBERED = re.compile(r"(?:\d{1,3}[.)]?|[IVX]{1,5}[.)])\s+")
_BEGINS = re.compile(r"[\"“‘(¿¡]*\w")
# E-mail headers, rules and rows of labels are no sentences; a sentence that points back cannot stand alone.
_HEAD = re.compile(r"\b(?:from|to|cc|date|sent|subject|von|an|gesendet|betreff)\s?:", re.IGNORECASE)
_LABEL = re.compile(r"[^\s:][^:\n]{0,30}:\s")
_POINTS_BACK = re.compile(
    r"(?:it|its|they|their|he|she|his|her|this|these|those|that|such|then|thus|hence|however|but|also|until then|"
    r"otherwise|er|sie|dies|diese|dieser|ils?|elles?|cela)\b",
    re.IGNORECASE,
)
# What stands above an encyclopaedia's article points elsewhere.
_HATNOTE = re.compile(
    r"(?:for (?:the|other|an?)\b.{1,80}[,;]? see\b|see also\b|not to be confused with|this (?:article|page) is about"
    r"|main article)",
    re.IGNORECASE,
)
# A sentence that says what the title is counts so many times.
DEFINES_FACTOR = 3.0
# Four digits may be a telephone's, or a price.
_YEAR = re.compile(
    r"(?:\b(?:in|since|from|until|till|before|after|during|between|of|year|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|spring|summer|autumn|winter)\s+|\()(?:1\d|20)\d\d\b(?!\s*[a-z]*met)"
    r"|\A\W*(?:1\d|20)\d\d(?: to \d{4})?\s*[:–-]",
    re.IGNORECASE,
)
_IS = re.compile(r"[^.;:]{0,60}?\b(?:is|are|was|were|means)\b")
# Factors for the first sentence below a heading, and for that of a paragraph.
FIRST_OF_SECTION_FACTOR, FIRST_OF_PARAGRAPH_FACTOR = 1.5, 1.2
# A step of a procedure says nothing about the whole document.
_STEP = re.compile(r"[ \t]*\(?(?:\d{1,3}|[a-z])[.)]\s")
_BELOW_HEADING = re.compile(r"(?:^|\n) {0,3}#{1,6}[ \t][^\n]*\n\s*$")
BEFORE_CHARS = 200
# Cue words, by which authors mark what is important (Edmundson).
_CUE = re.compile(
    r"\b(?:decisions?|decided|agreed|resolved|concludes?|conclusions?|in (?:summary|short)|overall|we (?:show|find"
    r"|propose|"
    r"present|introduce)|results?|purpose|aims?|beschl(?:uss|ossen)|décid[eé]\w*|decid\w+)\b",
    re.IGNORECASE,
)

Vectors = npt.NDArray[np.float32]


def summarise(corpus: Corpus, document: StoredDocument, sentences: int, *, dated: bool = False) -> list[Extract]:
    """Return the sentences that best say what a document is about, in document order.

    Args:
        corpus: holds the document's vectors.
        document: to be summed up.
        sentences: at most so many.
        dated: only sentences that name a year, and the one that says what the title is.
    """
    if not dated and (own := _own_summary(document, sentences)):
        return own
    positions, vectors = _leaf_vectors(corpus, document, sentences)
    counts = Counter(term for term in corpus.lexical_index.terms(document.text) if len(term) > 2)
    ranked = _by_relevance(vectors, _lead(positions))
    chosen: dict[int, Extract] = {}
    said: set[str] = set()
    if not dated and positions and (first := _first_sentence(document, positions[0])):
        chosen[first.start] = first
        said.add(first.text)
    for alone in (True, False):
        # Lines and sentences that cannot be read alone are a last resort.
        most = sentences if alone else -(-sentences // 2) if len(chosen) < FEWEST else 0
        for place in ranked:
            if len(chosen) >= most:
                break
            best = _best_sentence(corpus, document, positions[place], counts, said, dated=dated, alone=alone)
            if best is not None and best.start not in chosen:
                chosen[best.start] = best
                said.add(best.text)
    return _under_headings(document, [chosen[start] for start in sorted(chosen)])


def _own_summary(document: StoredDocument, sentences: int) -> list[Extract]:
    """Return the first, the last and the telling sentences of a document's abstract or summary, if it has one."""
    heading = ABSTRACT.search(document.text, 0, ABSTRACT_WITHIN_CHARS)
    if heading is None:
        return []
    begin, end, whole = section_below(document.text, heading)
    if not whole:
        return []
    text = document.text[begin:end]
    said = [one for one in split_sentences(text) if _says_something(text[one.start : one.end], one)]
    if len(said) < FEWEST:
        return []
    if len(said) > sentences:
        tells = [SAYS_FOUND.search(text, one.start, one.end) is not None for one in said]
        finds = [FOUND.search(text, one.start, one.end) is not None for one in said]
        ends = {0, len(said) - 1}
        order = sorted(
            range(len(said)), key=lambda place: (place not in ends, not tells[place], not finds[place], place)
        )
        said = [said[place] for place in sorted(order[:sentences])]
    return [extract(document, begin + one.start, begin + one.end) for one in said]


def _first_sentence(document: StoredDocument, position: int) -> Extract | None:
    """Return the first sentence of a leaf that can be read alone."""
    span = document.tree[position]
    text = document.text[span.start : span.end]
    for one in split_sentences(text):
        words = text[one.start : one.end]
        if (
            _says_something(words, one)
            and _can_stand_alone(document.text, span.start + one.start, words, one)
            and not ROUTINE.search(words)
        ):
            return extract(document, span.start + one.start, span.start + one.end)
    return None


def _under_headings(document: StoredDocument, said: Sequence[Extract]) -> list[Extract]:
    """Return the extracts, each with the innermost heading that it stands under, but for the title."""
    paths = heading_paths(document.structure, document.text, [one.start for one in said])
    title = document.title.casefold()
    return [
        replace(one, heading=ITEM_NUMBER.sub("", path.titles[-1]))
        if path.titles and path.titles[-1].casefold() not in title
        else one
        for one, path in zip(said, paths, strict=True)
    ]


def headings(document: StoredDocument) -> list[Extract]:
    """Return the headings of a document that divide it, without its title; none if it has a single one."""
    title = document.title.casefold()
    found = [
        (start, end, depth)
        for start, end, depth in marked_headings(document.structure)
        if (name := document.text[start:end].strip().casefold()) not in title and not _APPARATUS.fullmatch(name)
    ]
    if not found:
        return []
    level = min(depth for *_, depth in found)
    top = [(start, end) for start, end, depth in found if depth == level and end - start <= MAX_HEADING_CHARS]
    if len(top) < 2:
        return []
    return [extract(document, *_unnumbered(document.text, start, end)) for start, end in top[:MAX_HEADINGS]]


def centroid(parents: Vectors, document: StoredDocument) -> Vectors:
    """Return the unit vector of a document: the mean of its roots, shape (dimension,)."""
    roots = [place for place, span in enumerate(document.tree.spans[: len(parents)]) if span.level == 0]
    return _unit(parents[roots].mean(axis=0) if roots else parents.mean(axis=0))


def diverse(vectors: Vectors, count: int, goal: Vectors | None = None) -> list[int]:
    """Return the places of at most so many unit vectors, near to a goal and far from each other, the best first.

    Args:
        vectors: shape (n, dimension).
        count: at most.
        goal: unit vector, shape (dimension,); the mean of all if None.
    """
    return _by_relevance(vectors, goal=goal, count=count)


def _leaf_vectors(corpus: Corpus, document: StoredDocument, sentences: int) -> tuple[list[int], Vectors]:
    """Return the positions of the leaves to choose from, and their unit vectors."""
    tree = document.tree
    positions = list(tree.leaves)
    if len(positions) > MAX_LEAVES:
        parents = corpus.documents.parent_vectors([document.version])[document.version]
        lowest = [place for place in range(tree.first_leaf) if tree[place].level == 1]
        near = [lowest[place] for place in diverse(parents[lowest], 3 * sentences)]
        first = positions[0]
        positions = sorted({first, *(leaf for parent in near for leaf in tree.children.get(parent, []))})
    names = [node_id(document.version, position) for position in positions]
    stored = corpus.vectors.fetch(names)
    kept = [(position, stored[name]) for position, name in zip(positions, names, strict=True) if name in stored]
    return [position for position, _ in kept], np.array([vector for _, vector in kept], np.float32)


def _by_relevance(
    vectors: Vectors, bonus: Mapping[int, float] | None = None, goal: Vectors | None = None, count: int | None = None
) -> list[int]:
    """Return so many places, or all, ordered by maximal marginal relevance to a goal, or to the mean of the vectors."""
    if not len(vectors):
        return []
    count = len(vectors) if count is None else min(count, len(vectors))
    relevance = vectors @ (_unit(vectors.mean(axis=0)) if goal is None else goal)
    for place, more in (bonus or {}).items():
        relevance[place] += more
    likeness = np.zeros(len(vectors), np.float32)
    order: list[int] = []
    open_places = np.ones(len(vectors), bool)
    while len(order) < count:
        worth = np.where(open_places, relevance - REDUNDANCY * likeness, -np.inf)
        place = int(np.argmax(worth))
        open_places[place] = False
        order.append(place)
        likeness = np.maximum(likeness, vectors @ vectors[place])
    return order


def _lead(positions: Sequence[int]) -> dict[int, float]:
    return {0: LEAD_BONUS} if positions else {}


def _best_sentence(
    corpus: Corpus,
    document: StoredDocument,
    position: int,
    counts: Mapping[str, int],
    said: set[str],
    *,
    dated: bool,
    alone: bool,
) -> Extract | None:
    span = document.tree[position]
    text = document.text[span.start : span.end]
    best, most = None, 0.0
    for sentence in split_sentences(text):
        words = text[sentence.start : sentence.end]
        if not _says_something(words, sentence) or " ".join(words.split()) in said:
            continue
        if alone and not _can_stand_alone(document.text, span.start + sentence.start, words, sentence):
            continue
        defines = _defines(words, document.title)
        if dated and not defines and not _tells_when(words):
            continue
        terms = {term for term in corpus.lexical_index.terms(words) if len(term) > 2}
        frequent = sum(math.log(1 + counts[term]) for term in terms) / math.sqrt(len(terms) or 1)
        worth = (frequent or 1.0) * _factor(words, sentence) * _place_factor(document.text, span.start + sentence.start)
        if defines:
            worth *= DEFINES_FACTOR
        if worth > most:
            best, most = sentence, worth
    if best is None:
        return None
    return extract(document, span.start + best.start, span.start + best.end)


def _factor(words: str, sentence: Sentence) -> float:
    factor = 1.0 if sentence.kind == "prose" else 0.6
    if _CUE.search(words):
        factor *= 1.4
    elif _LABEL.match(words):
        factor *= 0.6
    return factor * (0.6 if _POINTS_BACK.match(words) else 1)


def _place_factor(text: str, start: int) -> float:
    """Return what the place of a sentence counts for."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    if _BELOW_HEADING.search(before):
        return FIRST_OF_SECTION_FACTOR
    return FIRST_OF_PARAGRAPH_FACTOR if before.endswith("\n\n") else 1.0


def _can_stand_alone(text: str, start: int, words: str, sentence: Sentence) -> bool:
    """Whether it is a whole sentence that points to none before it, and no step."""
    if sentence.kind != "prose" or words.endswith((":", ";", ")")) or words[0].islower() or " | " in words:
        return False
    return not _STEP.match(text, text.rfind("\n", 0, start) + 1) and not _POINTS_BACK.match(words)


def _tells_when(words: str) -> bool:
    """Whether a sentence names a year and can stand alone; "Sources: ..." tells nothing, "1888: ..." does."""
    label = _LABEL.match(words)
    if _YEAR.search(words) is None or _POINTS_BACK.match(words):
        return False
    return label is None or _YEAR.search(label[0]) is not None


def _defines(words: str, title: str) -> bool:
    begins = words.casefold().removeprefix("the ").removeprefix("an ").removeprefix("a ")
    name = title.casefold().removeprefix("the ")
    return bool(name) and begins.startswith(name) and _IS.match(begins, len(name)) is not None


def _says_something(words: str, sentence: Sentence) -> bool:
    if sentence.kind == "heading" or words.rstrip().endswith(("?", "？")) or len(words) > MAX_SENTENCE_CHARS:
        return False
    if not _BEGINS.match(words) or _HATNOTE.match(words) or len(_HEAD.findall(words)) > 1:
        return False
    return len(_SPACED.findall(words)) >= MIN_WORDS or len(_UNSPACED.findall(words)) >= MIN_LETTERS_UNSPACED


def _unnumbered(text: str, start: int, end: int) -> tuple[int, int]:
    number = _NUMBERED.match(text, start, end)
    begin = number.end() if number else start
    return begin, begin + len(text[begin:end].rstrip(" #"))


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = (vector / (float(np.linalg.norm(vector)) or 1.0)).astype(np.float32)
    return unit
