"""Answer a question from sources instead of a corpus: fetch pages, then the engine's own stages over them.

Flow: `/run`, `/evaluate`, `/query` without a corpus, where `RAG_ANSWER__SOURCES` is set -> **here**: `corpus.py`
fetches -> `Engine.stages` (passages, gate, answer, citations) -> the same events as from a corpus. If a source fails,
the answer comes from the others, and a step and a warning say so.
"""

import time
from collections.abc import AsyncGenerator, Generator, Sequence
from functools import partial

from query_engine import steps as engine_steps
from query_engine.answer_stream import answer_stream
from query_engine.engine import GatheringOver
from query_engine.inquiry import Inquiry
from query_engine.question.condense import Condenser
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Event
from query_engine.schema.retrieval_result import ms_since
from query_engine.synthesis.fallback_chain import Answer
from settings import Settings
from sources import steps
from sources.base import Source
from sources.corpus import NAME, DocumentEngines, open_source_corpus

NO_PAGES = f"{engine_steps.DONT_KNOW} No source returned a page. {{why}}"


class SourceEngine:
    """Answers from sources. Safe to use for several questions at once.

    Args:
        engines: make the engine over the pages.
        sources: at least one.
        settings: all of them.

    Attributes:
        name: stands for it where a corpus is named.
        sources: their names.
    """

    name: str = NAME

    def __init__(self, engines: DocumentEngines, sources: Sequence[Source], settings: Settings) -> None:
        self._engines = engines
        self._asked = tuple(sources)
        self._settings = settings
        self._condenser = Condenser()
        self.sources = tuple(source.name for source in sources)

    def stream(self, inquiry: Inquiry, gathering: GatheringOver | None = None) -> AsyncGenerator[Event, None]:
        """Answer a question; what `Engine.stream` says holds here too.

        Args:
            inquiry: the question and what belongs to it.
            gathering: given the engine over the first pages and a search that asks the sources again, returns what
                gathers the passages; None takes those of the first pages.
        """
        stages = partial(self._stages, inquiry, gathering=gathering)
        return answer_stream(inquiry, self._settings.answer, stages)

    def _stages(
        self, inquiry: Inquiry, answer: Answer, deadline: Deadline, gathering: GatheringOver | None
    ) -> Generator[Event, None, None]:
        query = self._query(inquiry, answer.question, deadline)
        yield steps.asking(self.sources, query)
        with open_source_corpus(self._engines, self._asked, answer.question, inquiry.writer) as corpus:
            started = time.perf_counter()
            found = corpus.fetch(query, deadline)
            answer.timings_ms["fetch"] = ms_since(started)
            yield from steps.fetched(found)
            answer.warnings += dict.fromkeys(warning for one in found for warning in one.warnings)
            if corpus.pages:
                gather = gathering(corpus.engine, corpus.search) if gathering else None
                yield from corpus.engine.stages(inquiry, answer, deadline, gather)
            else:
                answer.fingerprint = corpus.engine.fingerprint()
                why = " ".join(dict.fromkeys(one.error.fact for one in found if one.error))
                yield answer.done("no_retrieval", NO_PAGES if why else engine_steps.NOTHING_FOUND, why=why)

    def _query(self, inquiry: Inquiry, question: str, deadline: Deadline) -> str:
        """Return the question as it stands without its conversation."""
        return self._condenser.condense(inquiry.turns, question, deadline).question if inquiry.turns else question
