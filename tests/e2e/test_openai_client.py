"""OpenAI's own client against the real service."""

import re
from collections.abc import Iterator

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from tests.e2e.conftest import BETZ
from tests.e2e.program import Program

FOLLOW_UP = "In which year did he publish it?"


@pytest.fixture
def client(service: Program) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{service.url}/v1", api_key="unused", timeout=60, max_retries=0) as client:
        yield client


def asking(question: str) -> list[ChatCompletionMessageParam]:
    return [{"role": "user", "content": question}]


@pytest.mark.promise("G01")
def test_the_corpus_is_a_model(client: openai.OpenAI) -> None:
    assert "default" in [model.id for model in client.models.list()]
    assert client.models.retrieve("default").created > 1_700_000_000


@pytest.mark.promise("G02")
def test_a_whole_completion_is_what_evaluate_says(client: openai.OpenAI, service: Program) -> None:
    completion = client.chat.completions.create(model="default", messages=asking(BETZ), temperature=0)
    evaluated = httpx.post(f"{service.url}/evaluate", json={"query": BETZ, "iid": "1"}, timeout=60).json()

    content = completion.choices[0].message.content
    assert content is not None
    answer, _, sources = content.partition("\n\n**Sources**\n\n")
    assert re.sub(r"\[(\[\d+\])\]\([^)]*\)", r"\1", answer) == evaluated["generated_response"]
    assert f"{service.url}/documents/wind.md" in sources
    assert completion.usage is not None
    assert completion.usage.completion_tokens > 0
    assert completion.model_extra is not None
    assert completion.model_extra["citations"] == evaluated["citations"]
    assert completion.model_extra["treeline"]["ignored"] == ["temperature"]


@pytest.mark.promise("G01")
def test_the_streaming_helper_reads_the_same_answer(client: openai.OpenAI, service: Program) -> None:
    httpx.post(f"{service.url}/cache/clear")
    with client.chat.completions.stream(
        model="default", messages=asking(BETZ), stream_options={"include_usage": True}
    ) as stream:
        deltas = [event.delta for event in stream if event.type == "content.delta"]
        completion = stream.get_final_completion()

    whole = client.chat.completions.create(model="default", messages=asking(BETZ))
    assert "59.3 per cent" in "".join(deltas)
    assert completion.choices[0].message.content == "".join(deltas) == whole.choices[0].message.content
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert completion.usage.prompt_tokens > 0
    assert completion.usage.completion_tokens > 0


def test_a_follow_up_is_answered_from_the_conversation(client: openai.OpenAI) -> None:
    first = client.chat.completions.create(model="default", messages=asking("What is the Betz limit?"))
    turns: list[ChatCompletionMessageParam] = [
        *asking("What is the Betz limit?"),
        {"role": "assistant", "content": first.choices[0].message.content},
        *asking(FOLLOW_UP),
    ]
    followed = client.chat.completions.create(model="default", messages=turns)

    assert "1919" in (followed.choices[0].message.content or "")
    message = followed.choices[0].message.model_extra or {}
    assert "The question points back" in message["reasoning_content"]
    assert "Betz limit" in message["reasoning_content"]


def test_responses_follow_each_other_and_stream_typed_events(client: openai.OpenAI) -> None:
    with client.responses.stream(model="default", input="What is the Betz limit?") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        first = stream.get_final_response()
    followed = client.responses.create(model="default", input=FOLLOW_UP, previous_response_id=first.id)

    assert first.output_text == "".join(deltas)
    assert "1919" in followed.output_text
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="default", input=FOLLOW_UP, previous_response_id="resp_none")
