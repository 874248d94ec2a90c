"""The parts of the answer path that can be switched off one by one: a setting, a weight, a step.

Flow: **here** -> `ablate.py`, which asks the questions without each of them. Add a line here for each new part. A
name that no longer exists raises AttributeError, so the list cannot go stale.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from errors import RagError
from query_engine.answerability import classifier
from query_engine.answerability.classifier import Classifier
from query_engine.collection import answers
from query_engine.reader import leaves, reading, units, window
from query_engine.retrieval import fusion, hybrid
from query_engine.retrieval.fusion import Scorer
from settings import Settings

UNIT_WEIGHTS = ("SCORE_WEIGHT", "LEAF_WEIGHT", "RANK_WEIGHT", "SIMILARITY_WEIGHT", "WORDS_WEIGHT")
WINDOW_WEIGHTS = ("SCORE_WEIGHT", "SIMILARITY_WEIGHT", "WORDS_WEIGHT", "LENGTH_WEIGHT")

Change = tuple[Any, str, Callable[[Any], Any]]
"""A module or class, the name of an attribute, and a function from its value to the value while the part is off."""
Setting = tuple[str, str, Any]
"""A settings group, a setting, and its value while the part is off."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part that can be switched off.

    Attributes:
        name: `group: part`.
        changes: attributes replaced while it is off.
        settings: settings that differ while it is off.
        searches: `changes` affect the search, so cached search results cannot be used.
    """

    name: str
    changes: tuple[Change, ...] = ()
    settings: tuple[Setting, ...] = ()
    searches: bool = False

    @contextmanager
    def off(self, settings: Settings) -> Iterator[Settings]:
        """Switch it off for the whole process within the `with` block; yield the settings without it.

        Raises:
            AttributeError: an attribute or a setting does not exist.
        """
        with ExitStack() as stack:
            for owner, name, made_of in self.changes:
                stack.enter_context(patch.object(owner, name, made_of(getattr(owner, name))))
            for group, name, value in self.settings:
                own = getattr(settings, group)
                getattr(own, name)  # `model_copy` takes any name
                settings = settings.model_copy(update={group: own.model_copy(update={name: value})})
            yield settings


def all_parts() -> list[Part]:
    """Return every part; after each group, one more that switches off the whole group."""
    single = [*_question(), *_search(), *_reading(), *_gate()]
    groups: dict[str, list[Part]] = {}
    for part in single:
        groups.setdefault(part.name.partition(":")[0], []).append(part)
    return [one for group, parts in groups.items() for one in (*parts, *_together(group, parts))]


def chosen_parts(beginnings: Sequence[str]) -> list[Part]:
    """Return the parts whose names begin with one of these prefixes; all parts if none is given.

    Raises:
        RagError: no part's name begins with any of them.
    """
    parts = all_parts()
    chosen = [part for part in parts if not beginnings or part.name.startswith(tuple(beginnings))]
    if not chosen:
        names = ", ".join(part.name for part in parts)
        raise RagError(f"No part's name begins with {' or '.join(beginnings)}.", f"There are: {names}.", "no_data_set")
    return chosen


def _together(group: str, parts: Sequence[Part]) -> Iterator[Part]:
    if len(parts) == 1:
        return
    changes = tuple(change for part in parts for change in part.changes)
    settings = tuple(setting for part in parts for setting in part.settings)
    yield Part(f"{group}: all", changes, settings, any(part.searches for part in parts))


def _question() -> list[Part]:
    return [
        Part("question: answers about the collection", (_set(answers, "recognise", lambda _: None),)),
    ]


def _search() -> list[Part]:
    copies = (
        _set(hybrid, "search_distinct", lambda search, top_k, *_: dict(search(top_k))),
        _set(hybrid, "without_repeats", lambda hits, _: list(hits)),
    )
    everyday = _set(hybrid.LeafRetriever, "_in_everyday_words", lambda *_: False)
    return [
        Part("search: lexical", settings=(("retrieval", "mode", "dense"),)),
        *(Part(f"search: weight of {one}", (_unweighted(one),), searches=True) for one in fusion.SCORERS),
        Part("search: everyday words", (everyday,), searches=True),
        Part("search: copies", copies, searches=True),
        Part("search: merging", settings=(("retrieval", "merge", False),)),
    ]


def _reading() -> list[Part]:
    lengths = _set(window, "LENGTHS", window.LENGTHS[-1:])
    return [
        Part("leaves: nearest", (_set(leaves, "NEAREST_LEAVES", 0),)),
        Part("leaves: widening", (_set(leaves, "_widened", lambda _, places: places),)),
        Part("leaves: foreign ones by words", (_set(reading, "judged_by_words", lambda leaf, *_, **__: leaf),)),
        *(Part(f"units: {name}", (_set(units, name, 0.0),)) for name in UNIT_WEIGHTS),
        *(Part(f"windows: {name}", (_set(window, name, 0.0),)) for name in WINDOW_WEIGHTS),
        Part("windows: several units", (_set(reading, "GROWN_UNITS", 1),)),
        Part("windows: several lengths", (lengths,)),
        Part("windows: lead-ins", (_set(window, "_leads_in", lambda *_: False),)),
        Part("windows: whole lists", (_set(window, "WHOLE_CHARS", window.MAX_CHARS),)),
        Part("windows: headings", (_set(reading, "_below_headings", lambda one: one.text),)),
    ]


def _gate() -> list[Part]:
    features = [one.feature for one in classifier.read_classifier().weights]
    return [
        Part("gate: declining", settings=(("answer", "min_confidence", 0.0),)),
        Part("gate: warning", settings=(("answer", "low_confidence", 0.0),)),
        *(Part(f"gate features: {one}", (_at_its_mean(one),)) for one in features),
    ]


def _set(owner: Any, name: str, value: Any) -> Change:
    return owner, name, lambda _: value


def _unweighted(scorer: Scorer) -> Change:
    """Return a change that sets one fusion weight to 0; several such changes add up."""
    return fusion, "WEIGHTS", lambda weights: {**weights, scorer: 0.0}


def _at_its_mean(feature: str) -> Change:
    """Return a change that fixes a feature of the gate at its mean, where it adds nothing."""

    def without(read: Callable[[], Classifier]) -> Callable[[], Classifier]:
        known = read()
        fewer = replace(known, weights=tuple(one for one in known.weights if one.feature != feature))
        return lambda: fewer

    return classifier, "read_classifier", without
