"""Embedding by a server: what is sent, what is made of every way it fails, and for how long it is asked again."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import SecretStr

from errors import ModelError, ModelServerError
from index.embedding import openai_server, probe
from index.embedding.model import served_model
from index.embedding.openai_server import ServerEmbedding, batches
from settings import EmbedSettings
from tests.servers.scripted_models import Fault, Script, ScriptedModels, by_another_model, by_words

TEXTS = [f"Note {number} tells of wind and water." for number in range(70)]
BUSY = Script(status=429, headers={"Retry-After": "7"})


@pytest.fixture
def server() -> Iterator[ScriptedModels]:
    with ScriptedModels() as server:
        yield server


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that are made between attempts; none takes any time."""
    made: list[float] = []

    async def pause(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", pause)
    return made


@pytest.fixture
def connect(server: ScriptedModels, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., ServerEmbedding]]:
    opened: list[ServerEmbedding] = []

    def connect(*, retries: int = 4, connect_s: float = 5, **settings: Any) -> ServerEmbedding:
        monkeypatch.setattr(openai_server, "RETRIES", retries)
        monkeypatch.setattr(openai_server, "CONNECT_S", connect_s)
        given = {"base_url": server.base_url, "model": "scripted"} | settings
        embed = EmbedSettings(**given)
        opened.append(ServerEmbedding(embed, served_model(embed.max_tokens, None)))
        return opened[-1]

    yield connect
    for embedder in opened:
        embedder.close()


Connect = Callable[..., ServerEmbedding]


def test_vectors_are_those_of_the_texts_in_order_and_of_length_one(connect: Connect, server: ScriptedModels) -> None:
    server.vectors = lambda texts: 3 * by_words(texts)

    vectors = connect().encode_documents(TEXTS)

    assert vectors.dtype == np.float32
    assert np.allclose(vectors, by_words(TEXTS), atol=1e-6)


@pytest.mark.parametrize("script", [Script(shuffled=True), Script(numbers=True)], ids=["another order", "numbers"])
def test_replies_of_other_servers_are_read(connect: Connect, server: ScriptedModels, script: Script) -> None:
    server.play(script)

    assert np.allclose(connect().encode_documents(TEXTS), by_words(TEXTS), atol=1e-6)


def test_requests_carry_name_key_dimensions_and_prefixes(connect: Connect, server: ScriptedModels) -> None:
    embedder = connect(api_key=SecretStr("sesame"), dimensions=16, query_prefix="query: ", document_prefix="passage: ")

    assert embedder.encode_documents(["one\ntwo"]).shape == (1, 16)
    assert len(embedder.get_query_embedding("why")) == 16
    assert embedder.get_text_embedding("three")
    assert [request.body["input"][0] for request in server.requests] == [
        "passage: one\ntwo",
        "query: why",
        "passage: three",
    ]
    assert {request.headers["authorization"] for request in server.requests} == {"Bearer sesame"}
    assert server.requests[0].body["dimensions"] == 16
    assert server.requests[0].body["model"] == "scripted"


def test_requests_keep_to_the_limits(connect: Connect, server: ScriptedModels) -> None:
    connect(batch_texts=8, concurrency=3).encode_documents(TEXTS)

    sizes = [len(request.body["input"]) for request in server.requests]
    assert max(sizes) <= 8
    assert sum(sizes) == len(TEXTS) + 1  # the fixed text
    assert server.most_open <= 3


def test_batches_are_bounded_in_bytes_and_even() -> None:
    assert [len(batch) for batch in batches(["x" * 400] * 5 + ["y" * 5000], 100, 1000, 1)] == [2, 2, 1, 1]
    assert [len(batch) for batch in batches(["x"] * 33, 32, 1000, 4)] == [9, 9, 9, 6]


def test_a_text_beyond_the_window_is_embedded_in_parts(connect: Connect, server: ScriptedModels) -> None:
    text = "wind " * 100 + "water " * 100

    vector = connect(max_tokens=130).encode_documents([text])[0]

    sent = [part for request in server.requests for part in request.body["input"]][:-1]
    assert "".join(sent) == text
    assert all(len(part.split()) <= 64 for part in sent)
    assert np.allclose(np.linalg.norm(vector), 1)
    assert vector @ by_words(["wind water"])[0] > 0.9


@pytest.mark.parametrize(
    ("fault", "fact"),
    [
        ("nan", "no finite numbers"),
        ("zeros", "all zeros"),
        ("short", "1 vectors for 2 texts"),
        ("uneven", "of different lengths"),
        ("repeated_index", "1 vectors for 2 texts"),
        ("garbage", "not a list of embeddings"),
        ("other_json", "not a list of embeddings"),
    ],
)
def test_what_is_no_vector_a_text_is_refused(
    connect: Connect, server: ScriptedModels, pauses: list[float], fault: Fault, fact: str
) -> None:
    server.play(Script(fault=fault))

    with pytest.raises(ModelError, match=fact) as caught:
        connect().encode_documents(["one"])

    assert server.base_url in caught.value.fact
    assert "RAG_EMBED__" in caught.value.remedy
    assert not pauses  # it would be wrong again


def test_a_length_that_was_not_asked_for_is_refused(connect: Connect) -> None:
    with pytest.raises(ModelError, match=r"vectors of 64 numbers instead of 100\. Unset RAG_EMBED__DIMENSIONS"):
        connect(dimensions=100).encode_documents(["one"])


def test_a_length_that_changes_is_refused(connect: Connect, server: ScriptedModels) -> None:
    server.play(Script(), Script(fault="wrong_dimension"))
    embedder = connect()
    embedder.encode_documents(["one"])

    with pytest.raises(ModelError, match="vectors of 63 numbers, after ones of 64"):
        embedder.encode_documents(["one"])


def test_a_model_that_is_swapped_meanwhile_is_noticed(connect: Connect, server: ScriptedModels) -> None:
    embedder = connect()
    embedder.probe()
    server.vectors = by_another_model

    with pytest.raises(ModelError, match="another model than before"):
        embedder.get_query_embedding("why")


def test_a_busy_server_is_asked_again_when_it_wants(
    connect: Connect, server: ScriptedModels, pauses: list[float]
) -> None:
    server.play(BUSY, Script())

    assert connect().encode_documents(["one"]).shape == (1, 64)
    assert pauses == [7]


@pytest.mark.parametrize(
    ("script", "tries"),
    [
        (Script(status=429, headers={"Retry-After": "600"}), 1),  # nobody waits for so long
        (Script(status=500), 3),
        (Script(cut="before"), 3),
        (Script(cut="middle"), 3),
    ],
    ids=["waits too long", "fails", "cut before", "cut in the middle"],
)
def test_a_server_that_goes_on_failing_does_not_answer(
    connect: Connect, server: ScriptedModels, script: Script, tries: int
) -> None:
    server.play(script)

    with pytest.raises(ModelServerError):
        connect(retries=2).encode_documents(["one"])

    assert len(server.requests) == tries


def test_a_question_is_tried_once_more_and_does_not_wait_long(connect: Connect, server: ScriptedModels) -> None:
    embedder = connect(retries=9)
    server.play(Script(status=500))
    with pytest.raises(ModelServerError):
        embedder.get_query_embedding("why")
    assert len(server.requests) == 2

    server.play(BUSY)
    with pytest.raises(ModelServerError, match="no more requests"):
        embedder.get_text_embedding_batch(["one", "two"])
    assert len(server.requests) == 3


@pytest.mark.parametrize("script", [Script(stall=True), Script(drip=True)], ids=["nothing", "the head only"])
def test_a_slow_server_is_not_waited_for(connect: Connect, server: ScriptedModels, script: Script) -> None:
    server.play(script)

    with pytest.raises(ModelServerError, match=r"did not answer within .* RAG_EMBED__TIMEOUT_S"):
        connect(retries=0, timeout_s=0.05, connect_s=0.05).encode_documents(["one"])


def test_nobody_listening_is_told_at_once(connect: Connect) -> None:
    with pytest.raises(ModelServerError, match=r"cannot be reached .*\. Start it, or correct RAG_EMBED__BASE_URL"):
        connect(base_url="http://127.0.0.1:9/v1", retries=0).probe()


def test_a_refusal_is_not_tried_again(connect: Connect, server: ScriptedModels) -> None:
    server.play(Script(status=400))

    with pytest.raises(ModelError, match="RAG_EMBED__BATCH_TEXTS") as caught:
        connect().encode_documents(["one"])

    assert not isinstance(caught.value, ModelServerError)
    assert len(server.requests) == 1


def test_a_run_that_is_stopped_waits_for_no_reply(connect: Connect, server: ScriptedModels) -> None:
    server.play(Script(stall=True))

    def stop() -> None:
        if server.open_requests:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        connect().encode_documents(["one"], stop)

    assert server.wait_until(lambda server: not server.open_requests)


def test_more_tokens_than_were_allowed_for_are_told_once(
    connect: Connect, server: ScriptedModels, caplog: pytest.LogCaptureFixture
) -> None:
    server.play(Script(tokens=10_000))
    embedder = connect()

    with caplog.at_level(logging.WARNING):
        embedder.encode_documents(["one"])
        embedder.encode_documents(["two"])

    assert [record.levelname for record in caplog.records if "RAG_EMBED__TOKENIZER" in record.message] == ["WARNING"]


def test_loopback_goes_through_no_proxy(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert connect().probe().shape == (len(probe.TEXTS), 64)
