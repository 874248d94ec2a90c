"""How long `/agent/research` takes for five sub-questions, without a language model.

Flow: `bench/build.py` opens the engine -> **here** asks for each topic -> a table. Each topic is asked once, after one
that does not count, so that nothing of it was read before.
"""

import statistics
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.runtime.deadline import Deadline
from research.topic.topic_research import ResearchDone, research_topic
from settings import Settings

SUBQUESTIONS = 5
LIMIT_MS = 3000
WARM_UP = "hydropower"
# Of the sample corpus: things, names, comparisons, questions, and one that it does not know.
TOPICS = (
    "What do we know about heat pumps?",
    "bioenergy",
    "Is nuclear cheaper than wind?",
    "wind vs solar",
    "pumped storage",
    "Albert Betz",
    "how to store electricity",
    "recycling wind turbine blades",
    "Why are solar panels getting cheaper?",
    "deep sea mining",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One topic.

    Attributes:
        cpu_ms: processor time of all threads; on a machine that others use it says more than `total_ms`.
        asked: sub-questions, those asked again included.
        conflicts: pairs of statements that were shown as opposed.
    """

    topic: str
    total_ms: float
    cpu_ms: float
    asked: int
    gaps: int
    conflicts: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready values."""
        return asdict(self)


async def measure(engine: Engine, settings: Settings, topics: Sequence[str] = TOPICS) -> list[Measured]:
    """Research each topic once."""
    await _research(engine, settings, WARM_UP)
    return [await _research(engine, settings, topic) for topic in topics]


def table(measured: Sequence[Measured]) -> str:
    """Return a Markdown table, and a line with the median and the slowest."""
    lines = [
        "| topic | ms | ms of processor | questions asked | gaps | possible conflicts |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {one.topic} | {one.total_ms:.0f} | {one.cpu_ms:.0f} | {one.asked} | {one.gaps} | {one.conflicts} |"
        for one in measured
    ]
    times = [one.total_ms for one in measured]
    slowest = f"median {statistics.median(times):.0f} ms, slowest {max(times):.0f} ms (limit {LIMIT_MS} ms)"
    slowest += f"; processor time: median {statistics.median(one.cpu_ms for one in measured):.0f} ms"
    return "\n".join([*lines, "", f"{SUBQUESTIONS} sub-questions each: {slowest}."])


async def _research(engine: Engine, settings: Settings, topic: str) -> Measured:
    deadline = Deadline(settings.answer.deadline_s)
    course = research_topic(
        engine, engine.stream, Inquiry(topic), settings.retrieval, SUBQUESTIONS, write=None, deadline=deadline
    )
    started = time.process_time()
    done = [event async for event in course][-1]
    assert isinstance(done, ResearchDone)
    assert done.research is not None
    findings = done.research.findings
    return Measured(
        topic,
        done.timings_ms["total"],
        (time.process_time() - started) * 1000,
        sum(one.attempts for one in findings),
        sum(one.status == "gap" for one in findings),
        len(done.research.conflicts),
    )
