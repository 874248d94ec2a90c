"""`/task/chat`: a conversation over the documents of a task, by the model that was chosen."""

from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.events import Done
from query_engine.schema.turn import Turn
from sources.given_pages import GivenPage
from tests.fakes.engines import a_citation, a_done
from tests.fakes.http import client_of
from tests.fakes.pipelines import TEXTS, an_engine
from tests.fakes.sources import FakePageAnswers

BODY = {"query": "What turns blades?", "1": {"id": "corpus_datasource", "parameters": {"limit": 3}}}
ANSWER = "Rain falls. [1] It is wet. [2] It [7] pours. [1]"
CITED = (a_citation(1, "Doc 3"), a_citation(2, "Doc 1"))


@pytest.fixture
def given() -> FakePageAnswers:
    return FakePageAnswers("given pages", a_done(ANSWER, citations=CITED))


@pytest.fixture
def client(given: FakePageAnswers) -> TestClient:
    return client_of(an_engine(), given=given)


def run(client: TestClient, body: dict[str, Any] = BODY) -> str:
    return str(client.post("/task/run", json=body).headers["Location"]).rpartition("/")[2]


def begun(client: TestClient, task: str, model: str = "extractive", column: str = "full-text") -> Any:
    return client.get("/task/chat/new", params={"model": model, "column": column, "task_id": task})


def say(client: TestClient, chat: str, message: str = "What falls?", **extra: str) -> Any:
    return client.get(f"/task/chat/{chat}", params={"message": message, **extra})


@pytest.mark.promise("D10")
def test_a_message_is_answered_from_the_documents_of_the_task(client: TestClient, given: FakePageAnswers) -> None:
    task = run(client)
    new = begun(client, task)

    reply = say(client, new.text, task_id=task)

    assert new.headers["content-type"].startswith("text/plain")
    assert reply.headers["content-type"].startswith("text/plain")
    assert reply.text == "Rain falls. [Doc 3] It is wet. [Doc 1] It [7] pours. [Doc 3]"
    assert given.pages == [GivenPage(f"Doc {n}", "Wind", text=text) for n, text in enumerate(TEXTS, start=1)]
    assert given.inquiries[0].writer == "extractive"
    assert given.only_sure is False
    assert given.inquiries[0].deadline is not None


def test_a_follow_up_sees_what_was_said(client: TestClient, given: FakePageAnswers) -> None:
    chat = begun(client, run(client)).text

    say(client, chat)
    say(client, chat, "And when?")

    assert given.inquiries[0].turns == ()
    assert given.inquiries[1].turns == (
        Turn("user", "What falls?"),
        Turn("assistant", "Rain falls. It is wet. It [7] pours."),
    )


@pytest.mark.promise("D10")
@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("Who invented tea?", "I don't know. The passages found do not answer this."),
        ("Wer hat den Tee erfunden?", "I don't know. Die gefundenen Stellen beantworten diese Frage nicht."),
    ],
)
def test_what_the_documents_do_not_answer_is_declined_with_one_sentence(
    client: TestClient, given: FakePageAnswers, message: str, sentence: str
) -> None:
    given.done = a_done(None, 'I don\'t know. None of the passages found mentions "tea".')

    assert say(client, begun(client, run(client)).text, message).text == sentence


def out_of_time() -> Done:
    late = "I don't know. The time for this question was over."
    return a_done(None, late, warnings=(AnswerWarning("out_of_time", "It was over."),))


def test_what_ended_for_lack_of_time_says_so_and_is_no_turn(client: TestClient, given: FakePageAnswers) -> None:
    chat = begun(client, run(client)).text
    given.done = out_of_time()

    assert say(client, chat).text == given.done.message
    say(client, chat)

    assert given.inquiries[1].turns == ()


def test_what_lowers_an_answer_stands_in_a_header(client: TestClient, given: FakePageAnswers) -> None:
    given.done = replace(given.done, warnings=(AnswerWarning("llm", 'It said "né\n".'),))

    assert say(client, begun(client, run(client)).text).headers["Warning"] == "299 - \"llm: It said 'n? '.\""


def test_a_model_that_is_not_served_quotes_and_says_so_each_time(client: TestClient, given: FakePageAnswers) -> None:
    new = begun(client, run(client), "gemma2")
    reply = say(client, new.text)

    assert given.inquiries[0].writer == "quotes"
    assert "'gemma2' is not served" in new.headers["Warning"]
    assert "'gemma2' is not served" in reply.headers["Warning"]


@pytest.mark.promise("D26")
def test_the_model_is_not_ignored(given: FakePageAnswers) -> None:
    other = client_of(
        an_engine(), given=given, llm={"provider": "openai", "model": "gemma2", "base_url": "http://x/v1"}
    )
    chat = begun(other, run(other), "gemma2").text
    say(other, chat)
    assert given.inquiries[0].writer == "gemma2"


def test_documents_are_counted_by_their_place_and_those_without_text_left_out(given: FakePageAnswers) -> None:
    client = client_of(an_engine(["One.", "  ", "Three."]), given=given)
    say(client, begun(client, run(client)).text)

    assert [(page.url, page.text) for page in given.pages] == [("Doc 1", "One."), ("Doc 3", "Three.")]


def test_results_without_documents_can_be_asked_and_answer_nothing(given: FakePageAnswers) -> None:
    client = client_of(an_engine([]), given=given)
    given.done = a_done(None)

    assert say(client, begun(client, run(client)).text).text.startswith("I don't know.")
    assert given.pages == []


def test_an_unknown_task_is_404_and_an_unknown_chat_500_as_in_mosaicrag(given: FakePageAnswers) -> None:
    client = client_of(an_engine(), given=given)
    first, second = run(client), run(client)
    chat = begun(client, first).text

    unknown = [begun(client, "x"), say(client, "x"), say(client, chat, task_id=second), say(client, chat, task_id="x")]

    assert [reply.status_code for reply in unknown] == [404, 500, 500, 500]
    assert [reply.json()["error"]["code"] for reply in unknown] == ["unknown_task", *["unknown_chat"] * 3]


def test_a_task_that_failed_has_nothing_to_talk_about(client: TestClient) -> None:
    store = client.app.state.service.pipelines.tasks.store  # type: ignore[attr-defined]
    task = store.add(BODY, 10)
    store.end(task, "failed", "no")

    refused = begun(client, task)

    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "task_unfinished")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"column": "fulltext"}, "nearest known one is 'full-text'"),
        ({"column": ""}, "at least 1"),
        ({"column": None}, "required"),
        ({"model": None}, "required"),
        ({"model": "a b"}, "pattern"),
        ({"task_id": None}, "required"),
    ],
)
def test_a_chat_that_makes_no_sense_is_refused(client: TestClient, change: dict[str, str | None], told: str) -> None:
    params = {"model": "extractive", "column": "full-text", "task_id": run(client), **change}
    reply = client.get("/task/chat/new", params={name: value for name, value in params.items() if value is not None})

    assert reply.status_code == 422
    assert told in reply.json()["error"]["detail"]


@pytest.mark.parametrize("message", ["", "  ", "x" * 8001, None])
def test_no_message_is_refused(client: TestClient, message: str | None) -> None:
    chat = begun(client, run(client)).text
    params = {} if message is None else {"message": message}

    assert client.get(f"/task/chat/{chat}", params=params).status_code == 422
