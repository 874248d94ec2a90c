"""Search in rounds: queries, search, fusion, reranking, review, and again with what is missing.

Flow: `modes.py` -> `Engine.stream` reads the question -> **here** gathers -> the engine's gate and synthesizers answer
from what was gathered.

    begin (queries) -> search (side by side, merged) -> review -> search … -> stop

The loop ends when a review finds the passages sufficient, no new query is left, the useful passages fill the context,
or the rounds or the time are used up. Failures are reported: the loop continues without a search that failed, and ends
with what it has where the language model fails.

The engine's stages are a plain iterator; the rounds run in a thread of their own beside it, so that each step is shown
at once. The answer ends after that thread and the searches'.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue

from errors import OutOfTimeError, RagError
from query_engine import steps as engine_steps
from query_engine.answerability.classifier import Confidence, PartEvidence
from query_engine.llms.helper import PromptHelper
from query_engine.retrieval.multi_part import SearchContext, merge
from query_engine.runtime.threads import POLL_S, start_thread
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval, ms_since
from research import steps
from research.by_model import ModelReviewer
from research.found_documents import found_documents
from research.schema import Notes, Review, Round, Search
from research.tags import was_asked

# Rounds, and time for all of them: never more than half of what is left of the question's own.
ROUNDS = 5
TIMEOUT_S = 60.0
# Of that, for the queries of the first round.
QUERIES_S = 10.0
TOO_SLOW = ("The search had not ended when the time for it was over.", "Ask again, or ask for less.")
NO_QUERY = "there is no query left that was not asked before."
NO_ROOM = "the useful passages fill the room that an answer has for them."
NO_TIME = "the time for it is over."
LAST_ROUND = "this was the last round."
NO_MODEL = "the language model failed."

# Queries of one round beside the question, and passages taken from each search, at most.
VARIANTS = 5
RESULTS = 10

Tell = Callable[[Step], None]


class Research:
    """The evidence for one question, gathered in rounds; an `Evidence` of `retrieval/multi_part.py`.

    Args:
        question: the whole one, as it is searched for.
        context: judges, and bounds passages and time.
        search: finds passages for a query; blocks, and is called from several threads at once.
        helper: asks the language model.

    Attributes:
        parts: none; the rounds are about the whole question.
        retrieval: one list of passages of all rounds, once `steps` has ended; useful ones first.
        stop: set when nobody waits for the answer any more.
    """

    parts: Sequence[PartEvidence] = ()

    def __init__(self, question: str, context: SearchContext, search: Search, helper: PromptHelper) -> None:
        self.retrieval = Retrieval((), {})
        self._context = context
        self._find = search
        self._notes = Notes(question)
        self._warnings: list[AnswerWarning] = []
        self._limit = context.deadline.for_stage(TIMEOUT_S)
        self._helper: PromptHelper | None = helper
        self.stop = context.deadline.stop

    def steps(self) -> Iterator[Step]:
        """Search in rounds; yield a step when a round begins, and a `RoundStep` when it has ended.

        Raises:
            OutOfTimeError: nobody waits for the answer any more.
        """
        started = time.perf_counter()
        told: SimpleQueue[Step | None] = SimpleQueue()
        rounds = start_thread(partial(self._rounds, told.put))
        self._context.threads.append(rounds)
        rounds.add_done_callback(lambda _: told.put(None))
        try:
            while not rounds.done() or not told.empty():
                self._context.deadline.check_wanted("while it was searched")
                with suppress(Empty):
                    if (one := told.get(timeout=POLL_S)) is not None:
                        yield one
            rounds.result()
        finally:
            if not rounds.done():
                self.stop.set()
        self.retrieval = Retrieval(self._passages(), {"retrieve": ms_since(started)}, tuple(self._warnings))

    def confidence(self, merged: Confidence) -> Confidence:
        """Return the gate's judgement of all passages."""
        return merged

    def _rounds(self, tell: Tell) -> None:
        """Search and review until a review has no query left."""
        number, queries = 1, self._begin(tell)
        while queries:
            passages = self._search(number, queries, tell)
            queries = self._review(number, queries, passages, tell)
            number += 1

    def _begin(self, tell: Tell) -> tuple[str, ...]:
        """Return the queries of the first round: the question, and those that the language model adds."""
        by_model: tuple[str, ...] = ()
        if self._helper is not None:
            try:
                by_model = self._model_reviewer(self._helper, tell).first_queries(self._limit.within(QUERIES_S))
            except OutOfTimeError as error:
                self._context.deadline.check_wanted("before the first search")
                text = (
                    f"The language model wrote no queries, so the question's own words are searched for. {error.fact}"
                )
                self._warn(AnswerWarning("queries_skipped", text), tell)
            except RagError as error:
                self._give_up_model(error, tell)
        queries = [self._notes.question]
        for query in by_model:
            if not was_asked(query, queries):
                queries.append(query)
        return tuple(queries[: VARIANTS + 1])

    def _search(self, number: int, queries: Sequence[str], tell: Tell) -> tuple[Passage, ...]:
        """Search for all queries at once; return this round's passages, best first."""
        tell(steps.searching(number, queries))
        self._notes.asked += queries
        running = {query: start_thread(partial(self._find, query, self._limit)) for query in queries}
        self._context.threads.extend(running.values())
        self._wait_for(running.values())
        for query, future in running.items():
            try:
                if not future.done():
                    raise OutOfTimeError(*TOO_SLOW)
                found = future.result()
            except RagError as error:
                self._context.deadline.check_wanted("while it was searched")
                self._warn(AnswerWarning("search_failed", f"The search for “{query}” failed: {error.fact}"), tell)
                continue
            self._notes.found[query] = found.passages[:RESULTS]
            for warning in found.warnings:
                self._warn(warning, tell)
        self._notes.merged = self._merged(self._notes.found.values())
        return self._merged(self._notes.found[query] for query in queries if query in self._notes.found)[:RESULTS]

    def _review(
        self, number: int, queries: tuple[str, ...], passages: tuple[Passage, ...], tell: Tell
    ) -> tuple[str, ...]:
        """Review a round, tell it, and return the queries of the next one; none if it was the last."""
        review = self._reviewed(passages, tell)
        notes = self._notes
        notes.useful += [one for one in review.useful if one not in notes.useful]
        if review.summary:
            notes.summaries.append(review.summary)
        found = found_documents(notes.question, passages, review.useful, self._context.words)
        tell(steps.round_done(Round(number, queries, found, review)))
        if review.sufficient:
            return ()
        if why := self._reason_to_end(review, number):
            tell(steps.ended(why))
            return ()
        return review.queries

    def _reviewed(self, passages: tuple[Passage, ...], tell: Tell) -> Review:
        if self._helper is not None:
            try:
                self._limit.check("before what was found could be reviewed")
                return self._model_reviewer(self._helper, tell).review(passages, self._limit)
            except OutOfTimeError as error:
                self._context.deadline.check_wanted("while it was reviewed")
                self._warn(AnswerWarning("research_cut", error.fact), tell)
            except RagError as error:
                self._give_up_model(error, tell)
        return Review(passages, "", sufficient=False)

    def _reason_to_end(self, review: Review, number: int) -> str:
        if not self._limit.left_s():
            self._warnings.append(AnswerWarning("research_cut", "The research was cut short by its time limit."))
            return NO_TIME
        if self._helper is None:
            return NO_MODEL
        if not review.queries:
            return NO_QUERY
        if number >= ROUNDS:
            return LAST_ROUND
        if sum(len(one.text) for one in self._notes.useful) >= self._context.options.budget_chars:
            return NO_ROOM
        return ""

    def _wait_for(self, searches: Collection[Future[Retrieval]]) -> None:
        """Wait until all have ended, the limit has passed or nobody waits for the answer any more."""
        pending: Collection[Future[Retrieval]] = searches
        while pending and self._limit.left_s() and not self._limit.stop.is_set():
            pending = wait(pending, timeout=min(POLL_S, self._limit.left_s())).not_done
        self._context.deadline.check_wanted("while it was searched")

    def _passages(self) -> tuple[Passage, ...]:
        """Return the passages of all rounds within the budget, useful ones first."""
        return merge([(*self._notes.useful, *self._notes.merged)], self._context.options)

    def _merged(self, lists: Iterable[Sequence[Passage]]) -> tuple[Passage, ...]:
        """Return the passages of several searches in turns, none twice, however many there are."""
        return merge(
            lists, self._context.options.model_copy(update={"budget_chars": sys.maxsize, "top_k": sys.maxsize})
        )

    def _model_reviewer(self, helper: PromptHelper, tell: Tell) -> ModelReviewer:
        return ModelReviewer(
            helper,
            self._notes,
            self._context.words,
            max_queries=VARIANTS,
            on_thought=lambda thought: tell(engine_steps.thinking(thought)),
        )

    def _give_up_model(self, error: RagError, tell: Tell) -> None:
        """Go on without further rounds."""
        self._context.deadline.check_wanted("while it was reviewed")
        self._helper = None
        text = f"The language model failed, so no further round follows. {error.fact}"
        self._warn(AnswerWarning("research_cut", text), tell)

    def _warn(self, warning: AnswerWarning, tell: Tell) -> None:
        if warning not in self._warnings:
            self._warnings.append(warning)
            tell(steps.told(warning))
