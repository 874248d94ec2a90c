"""Which of several editions of one thing a question is about: the one that it names, else the newest.

Flow: editions of what was found (`index/documents/edition.py`) -> **here** -> the order of leaves
(`retrieval/copies.py`) and of what is quoted (`reader/reading.py`). Pure.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import TypeVar

from index.documents.edition import Edition
from query_engine.question.identifiers import identifiers
from query_engine.schema.passage import Passage

T = TypeVar("T")


def naming_dates(question: str, passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Return passages; those of several editions with the years and days of the question that are their dates."""
    asked = [one for one in identifiers(question) if one.is_year or one.is_day]
    found = tuple(passages)
    editions = {one.document: one.edition for one in found}.values()

    def said(passage: Passage) -> Passage:
        edition = passage.edition
        if not any(edition.is_beside(other) for other in editions):
            return passage
        day = edition.date
        dates = [one.text for one in asked if one.pattern.search(f"{day}\n{day[:4]}")]
        return replace(passage, asked_date=" ".join(dates)) if dates else passage

    return tuple(map(said, found)) if asked else found


def other_editions(found: Iterable[T], read: Iterable[Passage], passage_of: Callable[[T], Passage]) -> Iterator[T]:
    """Yield the first find in each other edition of the documents that were read."""
    editions = {passage.document: passage.edition for passage in read}
    seen = set(editions)
    for one in found:
        passage = passage_of(one)
        if passage.document not in seen and any(map(passage.edition.is_beside, editions.values())):
            seen.add(passage.document)
            yield one


def newest_first(question: str, found: Sequence[T], edition_of: Callable[[T], Edition]) -> list[T]:
    """Return what was found, all of one series, in the order in which it is to be read; equals stay as they are."""
    if len(found) < 2:
        return list(found)
    asked = [one for one in identifiers(question) if not one.is_section]
    editions = [edition_of(one) for one in found]
    named = [sum(one.pattern.search(each.names) is not None for one in asked) for each in editions]

    def compare(one: int, other: int) -> int:
        if named[one] != named[other]:
            return named[other] - named[one]
        return editions[other].is_newer(editions[one]) - editions[one].is_newer(editions[other])

    return [found[place] for place in sorted(range(len(found)), key=cmp_to_key(compare))]
