"""Summarise a document by its own summary or its most central sentences, without a language model or new embeddings.

`answers.py` asks for a number of sentences; they come, in document order, from the vectors and blocks that ingestion
stored. A document that has an abstract or a summary is quoted from that. Of others leaves are chosen by maximal
marginal relevance to the document's centroid (Carbonell and Goldstein, SIGIR 1998): near to what the whole is about,
far from each other. Of each leaf the first whole sentence of a paragraph is taken.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from index.corpus import Corpus
from index.documents.sentences import sentences_of
from index.documents.span_tree import node_id
from index.documents.store import StoredDocument
from query_engine.collection.extract import Extract, extract

# Of larger documents only the leaves of the parents that are chosen first are read.
MAX_LEAVES = 200
# Penalty for a leaf that resembles one already chosen.
REDUNDANCY = 0.5
# Documents most often say at the beginning what they are about.
LEAD_BONUS = 0.15
MIN_WORDS, MAX_SENTENCE_CHARS = 6, 400
# What a sentence of Chinese or Japanese has of letters.
MIN_LETTERS_UNSPACED = 12
MAX_HEADINGS, MAX_HEADING_CHARS = 12, 80

_SPACED = re.compile(r"\w+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_ABSTRACT = re.compile(r"(?:abstract|(?:executive )?summary|zusammenfassung|résumé|resumen)", re.IGNORECASE)
# "0555 1802" is a telephone number.
_YEAR = re.compile(r"(?<!\d )\b(?:1\d|20)\d\d\b")

Vectors = npt.NDArray[np.float32]


def summarise(corpus: Corpus, document: StoredDocument, sentences: int, *, dated: bool = False) -> list[Extract]:
    """Return the sentences that best say what a document is about, in document order.

    Args:
        corpus: holds the document's vectors.
        document: to be summed up.
        sentences: at most this many.
        dated: only sentences that name a year.
    """
    if not dated and (own := list(_own_summary(document))):
        return own[:sentences]
    positions, vectors = _leaf_vectors(corpus, document, sentences)
    chosen: dict[str, Extract] = {}
    for place in _by_relevance(vectors, {0: LEAD_BONUS} if positions else {}):
        if len(chosen) == sentences:
            break
        span = document.tree[positions[place]]
        for one in _sentences(document, span.start, span.end):
            if one.text not in chosen and (not dated or _YEAR.search(one.text)):
                chosen[one.text] = one
                break
    found = sorted(chosen.values(), key=lambda one: one.start)
    return [_under_heading(document, one) for one in found]


def _own_summary(document: StoredDocument) -> Iterator[Extract]:
    """Yield the sentences of the section that is called a summary or an abstract, if there is one."""
    structure = document.structure
    for block in structure.blocks:
        if block.kind == "heading":
            continue
        path = structure.heading_path(structure.place(block.start), document.text)
        if path and _ABSTRACT.fullmatch(path[-1]):
            yield from _sentences(document, block.start, block.end)


def _sentences(document: StoredDocument, start: int, end: int) -> Iterator[Extract]:
    """Yield the whole sentences of the paragraphs that touch a stretch of a document."""
    for position in document.structure.between(start, end):
        block = document.structure.blocks[position]
        if block.kind != "paragraph":
            continue
        for one in sentences_of(document.text, *block.inner):
            words = document.text[one.start : one.end]
            if start <= one.start and one.end <= max(end, block.end) and one.kind == "prose" and _says_something(words):
                yield extract(document, one.start, one.end)


def _under_heading(document: StoredDocument, said: Extract) -> Extract:
    """Return the extract with the innermost heading that it stands under, but for the title."""
    structure = document.structure
    path = structure.heading_path(structure.place(said.start), document.text)
    return replace(said, heading=path[-1]) if path and path[-1].casefold() not in document.title.casefold() else said


def headings(document: StoredDocument) -> list[Extract]:
    """Return the headings of a document that divide it, without its title; none if it has a single one."""
    title, blocks = document.title.casefold(), document.structure.blocks
    found = [
        block
        for block in blocks
        if block.kind == "heading" and document.text[slice(*block.inner)].strip().casefold() not in title
    ]
    level = min((block.level for block in found), default=0)
    top = [one.inner for one in found if one.level == level and one.inner[1] - one.inner[0] <= MAX_HEADING_CHARS]
    return [extract(document, *inner) for inner in top[:MAX_HEADINGS]] if len(top) > 1 else []


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


def _says_something(words: str) -> bool:
    if len(words) > MAX_SENTENCE_CHARS or words.endswith(("?", "？", ":")):
        return False
    return len(_SPACED.findall(words)) >= MIN_WORDS or len(_UNSPACED.findall(words)) >= MIN_LETTERS_UNSPACED


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = (vector / (float(np.linalg.norm(vector)) or 1.0)).astype(np.float32)
    return unit
