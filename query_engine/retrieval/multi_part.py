"""Gather the evidence for a question that has parts: searched for side by side, judged, merged.

Flow: `question/decompose.py` -> **here** -> the gate and the synthesizers, which read one list of passages. The
whole question is searched for first.

The list takes the first passage of the whole question, the first of each part, then the second of each, until
the budget of one search is full: an answer gets no more to read than any other, but something for each of its parts.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Protocol

from query_engine import steps
from query_engine.answerability.classifier import Confidence, PartEvidence
from query_engine.question.decompose import Plan
from query_engine.question.identifiers import identifiers
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import side_by_side
from query_engine.schema.events import Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval, ms_since
from query_engine.text.term_weights import CorpusWords
from settings import RetrievalSettings

PlanOf = Callable[[str, Deadline, Sequence[Passage]], Plan]
"""Words a question for the search, given the deadline and what the question finds by itself."""

# Parts that differ by so few terms name things; others are questions of their own.
MAX_NAME_TERMS = 3


@dataclass(frozen=True, slots=True)
class SearchContext:
    """What gathering works with. The functions block, and may be called from several threads at once.

    Attributes:
        search: query -> what one search finds for it.
        judge: question and passages -> how likely these hold the answer.
        quoted: question and passages -> what would be quoted of them, below its headings and names; empty if nothing.
        words: the corpus's terms and their rarity.
        min_confidence: from this on a part is covered.
        options: `budget_chars` and `top_k` of the merged list.
        deadline: of the question.
        threads: where threads are put that may outlive gathering; the answer ends after them.
    """

    search: Callable[[str], Retrieval]
    judge: Callable[[str, Sequence[Passage]], Confidence]
    quoted: Callable[[str, Sequence[Passage]], str]
    words: CorpusWords
    min_confidence: float
    options: RetrievalSettings
    deadline: Deadline
    threads: list[Future[Any]] = field(default_factory=list)


class Evidence(Protocol):
    """What a question is answered from, gathered while its steps are read."""

    @property
    def retrieval(self) -> Retrieval:
        """One list of passages, once `steps` has ended."""
        ...

    @property
    def parts(self) -> Sequence[PartEvidence]:
        """Each part of the question with its own evidence; none of a question without parts."""
        ...

    def steps(self) -> Iterator[Step]:
        """Gather; yield what is done, and each warning of the retrieval."""
        ...

    def confidence(self, merged: Confidence) -> Confidence:
        """Return how likely the passages hold the answer, `merged` being the gate's judgement of all of them."""
        ...


class Gathering:
    """The evidence for one question.

    Args:
        question: the whole one; it is searched for beside its parts.
        plan: words it for the search, given what it found.
        context: what to work with.

    Attributes:
        retrieval: one list of passages for all parts, once `steps` has ended; of a question without parts what one
            search found.
        parts: each part with its own evidence; none of a question without parts.
    """

    def __init__(self, question: str, plan: PlanOf, context: SearchContext) -> None:
        self._question = question
        self._planned = plan
        self._context = context
        self.retrieval = Retrieval((), {})
        self.parts: list[PartEvidence] = []
        self._whole: Confidence | None = None

    def steps(self) -> Iterator[Step]:
        """Search, plan, search for the parts, judge; yield what is done, then what was left out."""
        started = time.perf_counter()
        whole = self._context.search(self._question)
        plan = self._planned(self._question, self._context.deadline, whole.passages)
        wordings = plan.parts or tuple(filter(None, [plan.translation]))
        if plan.names and all(self._is_named(one, self._question, whole.passages) for one in plan.names):
            wordings = ()
        if wordings and not plan.names:
            yield steps.planned(plan)
        found = side_by_side(partial(self._context.search, wording) for wording in wordings)
        if not found or (plan.names and not self._are_apart(plan, found)):
            self.retrieval = replace(whole, warnings=plan.warnings + whole.warnings)
            yield from map(steps.left_out, self.retrieval.warnings)
            return
        self._whole = self._context.judge(self._question, whole.passages)
        if plan.parts:
            judged = [
                judge_part(part, plan.parts, one.passages, self._context)
                for part, one in zip(plan.parts, found, strict=True)
            ]
            self.parts = [replace(one, sufficient=True) for one in judged] if plan.names else judged
            yield steps.covered(self.parts)
        retrievals = [whole, *found]
        timings_ms = {"retrieve": ms_since(started)}
        warnings = dict.fromkeys([*plan.warnings, *(warning for one in retrievals for warning in one.warnings)])
        if plan.translation:
            # The question's own words find what has nothing to do with it: they are of another language.
            lists = [(*found[0].passages, *whole.passages)]
            others = [(*found[0].left_out, *whole.passages, *whole.left_out)]
        else:
            lists = [one.passages for one in retrievals]
            others = [(*one.passages, *one.left_out) for one in retrievals]
        passages = merge(lists, self._context.options)
        self.retrieval = Retrieval(passages, timings_ms, tuple(warnings), _besides(passages, others))
        if plan.translation:
            self._whole = self._context.judge(plan.translation, passages)
        yield from map(steps.left_out, self.retrieval.warnings)

    def _is_named(self, name: str, question: str, passages: Sequence[Passage]) -> bool:
        """Whether what would be quoted for a question names a thing."""
        text = self._context.quoted(question, passages)
        if codes := identifiers(name):
            return all(code.pattern.search(text) for code in codes)
        terms = self._context.words.words_of(self._question).terms
        return set(terms(name)) <= set(terms(text))

    def _are_apart(self, plan: Plan, found: Sequence[Retrieval]) -> bool:
        """Whether each part's quote names the thing that it asks about, and each is another one."""
        asked = list(zip(plan.names, plan.parts, (one.passages for one in found), strict=True))
        quotes = {self._context.quoted(part, passages) for _, part, passages in asked}
        return len(quotes) == len(asked) and all(self._is_named(*one) for one in asked)

    def confidence(self, merged: Confidence) -> Confidence:
        """Return the best of three judgements: of all passages, of the whole question's, of the least covered part's.

        The last one counts only if all parts are covered.
        """
        judged = [merged, *([self._whole] if self._whole else [])]
        if self.parts and all(part.sufficient for part in self.parts):
            judged.append(min((part.confidence for part in self.parts), key=attrgetter("value")))
        return max(judged, key=attrgetter("value"))


def _besides(passages: Sequence[Passage], lists: Iterable[Sequence[Passage]]) -> tuple[Passage, ...]:
    """Return what the lists hold beside the passages: the first of each, then the second of each, and so on."""
    others = {one.node_id: one for row in zip_longest(*lists) for one in row if one is not None}
    for passage in passages:
        others.pop(passage.node_id, None)
    return tuple(others.values())


def judge_part(part: str, parts: Iterable[str], passages: tuple[Passage, ...], context: SearchContext) -> PartEvidence:
    """Judge what was found for one of the `parts` of a question; blocks."""
    confidence = context.judge(part, passages)
    terms = context.words.words_of(part).query_terms
    others = {term for other in parts if other != part for term in terms(other)}
    own = set(terms(part)) - others
    # The gate forgives a word that no passage holds. Of things that are compared it may be the very name.
    lacks = len(own) <= MAX_NAME_TERMS and not own.isdisjoint(confidence.missing)
    return PartEvidence(part, passages, confidence, confidence.value >= context.min_confidence and not lacks)


def merge(lists: Iterable[Sequence[Passage]], options: RetrievalSettings) -> tuple[Passage, ...]:
    """Return one list: the first of each, then the second of each, and so on, within the budget.

    No text stands there twice: of two passages that overlap the one that comes first stays, unless the other one holds
    all of it and more. That one takes its place.
    """
    chosen: list[Passage] = []
    room = options.budget_chars
    for passage in (one for row in zip_longest(*lists) for one in row if one is not None):
        if any(passage.text.strip() == other.text.strip() for other in chosen if other.document != passage.document):
            continue
        overlapping = [at for at, other in enumerate(chosen) if passage.overlaps(other)]
        held = [at for at in overlapping if passage.start <= chosen[at].start and chosen[at].end <= passage.end]
        if len(held) < len(overlapping) or any(len(chosen[at].text) == len(passage.text) for at in held):
            continue
        freed = sum(len(chosen[at].text) for at in held)
        if chosen and len(passage.text) - freed > room:
            continue
        room += freed - len(passage.text)
        place = held[0] if held else len(chosen)
        chosen = [other for at, other in enumerate(chosen) if at not in held]
        chosen.insert(place, passage)
    return tuple(chosen[: options.top_k])
