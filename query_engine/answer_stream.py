"""Run the stages of an answer in a thread, and stream their events within the deadline.

Flow: `Engine.stream`, `SourceEngine.stream`, `PageAnswers.stream` hand over their stages -> **here** -> the reader of
the stream, on the event loop. What the stages do is the callers' business.
"""

from collections.abc import AsyncGenerator, Callable, Generator

from errors import OutOfTimeError
from query_engine.inquiry import Inquiry
from query_engine.question.validation import clean_question
from query_engine.runtime.deadline import Deadline
from query_engine.runtime.threads import ThreadedGenerator
from query_engine.runtime.watching import asked
from query_engine.schema.events import Event
from query_engine.stages import in_stages
from query_engine.synthesis.fallback_chain import Answer
from settings import AnswerSettings


async def answer_stream(
    inquiry: Inquiry, settings: AnswerSettings, stages: Callable[[Answer, Deadline], Generator[Event, None, None]]
) -> AsyncGenerator[Event, None]:
    """Yield the events of `stages`; the last one comes before the deadline, even if a stage hangs.

    A thread that hangs cannot be ended: closing the iterator, and reading on behind the last event, tells the stages to
    stop and waits until they have.

    Args:
        inquiry: its text is the question.
        settings: how a declined answer reads, and the deadline of an inquiry without one.
        stages: return the events; they fill the answer that they are given.

    Raises:
        QuestionError: the question cannot be asked as it stands (in place of the first event).
        Exception: from `stages`, except OutOfTimeError.
    """
    answer = Answer(clean_question(inquiry.text), inquiry.query_time, explains=settings.decline != "exact")
    answer.manner = inquiry.manner
    deadline = inquiry.deadline or Deadline(settings.deadline_s)
    asked(answer.question)
    events = ThreadedGenerator(lambda: in_stages(stages(answer, deadline)), deadline)
    try:
        async for event in events:
            yield event
    except OutOfTimeError as error:
        for event in answer.out_of_time(error.fact):
            yield event
    finally:
        await events.close()
