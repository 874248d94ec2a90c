import asyncio
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from api.links import Links
from api.schemas.replies.answers import EvaluateReply
from errors import QuestionError, StoreUnavailableError
from eval.asking.in_process import InProcess
from eval.asking.replies import read_reply
from eval.asking.target import NoReplyError
from eval.cases import GivenPage
from index.documents.store import Document
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Step
from tests.fakes.engines import FakeEngine, a_done
from tests.unit.eval.asking.fakes import a_case

WORKING = Step("search", "Searching.")
PAGES = (GivenPage(url="http://a/", html="<p>A</p>"), GivenPage(url="http://b/", html=""))


async def test_the_last_event_becomes_a_row() -> None:
    row = await InProcess(FakeEngine([WORKING, a_done(warnings=(AnswerWarning("low_confidence", "Perhaps."),))])).ask(
        a_case()
    )

    assert (row.id, row.outcome, row.answer, row.reason) == (
        "q1",
        "answered",
        "Wind turns blades. [1]",
        "generated_answer",
    )
    assert row.low_confidence
    assert row.passages[0].pages == (0,)
    assert row.first_record_s is not None
    assert 0 < row.first_record_s <= row.seconds


async def test_the_row_is_the_one_that_the_service_would_give() -> None:
    done = a_done()
    in_process = await InProcess(FakeEngine([done])).ask(a_case())
    reply = EvaluateReply.build(done, "q1", Links("http://x/", "default")).to_dict()

    by_http = read_reply(json.dumps(reply).encode(), "q1", 0.1)

    urls = tuple(quote.model_copy(update={"url": None}) for quote in by_http.citations)
    assert by_http.model_copy(update={"citations": urls}).content() == in_process.content()


@pytest.mark.parametrize("done", [a_done(None), a_done("I don’t know [1].")], ids=["by the gate", "by the author"])
async def test_an_abstention_is_declined(done: object) -> None:
    assert (await InProcess(FakeEngine([done])).ask(a_case())).outcome == "declined"  # type: ignore[list-item]


async def test_filter_and_time_go_with_the_question() -> None:
    engine = FakeEngine([a_done()])

    await InProcess(engine, filters={"filters": []}).ask(a_case(query_time="2024-03-10"))

    assert (engine.filters, engine.query_times) == ([{"filters": []}], ["2024-03-10"])


async def test_a_question_that_cannot_be_asked_is_refused() -> None:
    with pytest.raises(NoReplyError, match=r"The question is blank\. Write one\.") as caught:
        await InProcess(FakeEngine([QuestionError("The question is blank.", "Write one.")])).ask(a_case())

    assert caught.value.refused


async def test_an_engine_that_fails_may_be_asked_again() -> None:
    with pytest.raises(NoReplyError, match=r"It is down\.") as caught:
        await InProcess(FakeEngine([WORKING, StoreUnavailableError("It is down.", "Start it.")])).ask(a_case())

    assert not caught.value.lasting


async def test_a_bug_costs_one_question_and_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(NoReplyError, match=r"failed by a bug: KeyError: 'leaf'\. See the traceback") as caught:
        await InProcess(FakeEngine([WORKING, KeyError("leaf")])).ask(a_case())

    assert caught.value.lasting
    assert not caught.value.refused
    assert "Traceback" in caplog.text


@pytest.mark.promise("B01")
async def test_pages_are_read_for_their_question_alone_and_what_cannot_be_read_is_told() -> None:
    closed = []
    engine = FakeEngine([a_done()])

    @contextmanager
    def over(documents: Sequence[Document]) -> Iterator[FakeEngine]:
        yield engine
        closed.append(len(documents))

    def read(pages: Sequence[GivenPage]) -> tuple[list[Document], list[str]]:
        return [], [f"{page.url}: It is empty." for page in pages if not page.html]

    asked = a_case(pages=PAGES, query_time="2024-03-10")
    row = await InProcess(read_pages=read, open_engine=over, fingerprint="f0").ask(asked)

    assert engine.query_times == ["2024-03-10"]
    assert (row.outcome, row.fingerprint, row.warnings) == ("answered", "f0", ("page_unread: http://b/: It is empty.",))
    assert closed == [0]


async def test_who_is_cancelled_waits_until_the_pages_are_read() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def read(_: Sequence[GivenPage]) -> tuple[list[Document], list[str]]:
        begun.set()
        go_on.wait()
        return [], []

    @contextmanager
    def over(_: Sequence[Document]) -> Iterator[FakeEngine]:
        raise AssertionError("nobody waits for an answer any more")
        yield

    asking = asyncio.create_task(
        InProcess(read_pages=read, open_engine=over, fingerprint="f0").ask(a_case(pages=PAGES))
    )
    await asyncio.to_thread(begun.wait)
    asking.cancel()
    await asyncio.wait({asking}, timeout=0.01)
    assert not asking.done()
    go_on.set()

    with pytest.raises(asyncio.CancelledError):
        await asking
