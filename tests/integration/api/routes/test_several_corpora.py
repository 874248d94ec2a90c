"""Every route that asks, over two small corpora at once: both are read, and each place leads into its own corpus."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from api.mcp.tools import Tools
from errors import UnknownCorpusError
from ingestion.schema import RunOptions
from query_engine.build import Engines
from settings import EmbedSettings, IndexSettings, Settings
from tests.fakes.http import records_in

BOTH = "harbour+orchard"
TEXTS = {
    "harbour": "# Yearly report\n\nThe harbour of Quarnevik was dredged in 1931 by Halvard Brenn.\n",
    "orchard": "# Yearly report\n\nThe orchard of Lindesholm was planted in 1904 by Sigrid Aune.\n",
}
# Each of them is answered by one of the two.
QUESTIONS = {
    "harbour": "Who dredged the harbour of Quarnevik?",
    "orchard": "Who planted the orchard of Lindesholm?",
}
NAMES = {"harbour": "Halvard Brenn", "orchard": "Sigrid Aune"}
WAYS = [["orchard", "harbour"], "harbour+orchard", "*"]
ABOUT = pytest.mark.parametrize("corpus", QUESTIONS)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Settings:
    index = tmp_path_factory.mktemp("several") / "index"
    return Settings(index=IndexSettings(dir=index), embed=EmbedSettings(cache_dir=model_cache))


@pytest.fixture(scope="module")
def engines(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engines]:
    folder = tmp_path_factory.mktemp("sources")
    with closing(Engines(settings)) as opened:
        for name, text in TEXTS.items():
            (folder / name).mkdir()
            (folder / name / "report.md").write_text(text, encoding="utf-8")
            Ingester(opened, settings).ingest(name, folder / name, RunOptions(), lambda _: None, threading.Event())
        yield opened


@pytest.fixture(scope="module")
def client(engines: Engines, settings: Settings) -> Iterator[TestClient]:
    app = create_app(engines, settings, Ingester(engines, settings), Jobs())
    with TestClient(app, base_url="http://localhost") as opened:
        yield opened


def posted(client: TestClient, route: str, body: dict[str, Any]) -> Any:
    reply = client.post(route, json=body)
    assert reply.status_code == 200, reply.text
    return reply.json()


def corpus_of(url: str) -> str:
    return parse_qs(urlsplit(url).query)["corpus"][0]


def opened_text(client: TestClient, url: str) -> str:
    """Return the document that a link leads to."""
    parts = urlsplit(url)
    return str(client.get(f"{parts.path}?{parts.query}", headers={"Accept": "application/json"}).json()["text"])


@ABOUT
@pytest.mark.parametrize("several", WAYS)
def test_query_reads_all_and_cites_the_corpus(client: TestClient, corpus: str, several: Any) -> None:
    reply = posted(client, "/query", {"question": QUESTIONS[corpus], "corpus": several, "include_context": True})

    assert NAMES[corpus] in reply["answer"]
    assert {citation["corpus"] for citation in reply["citations"]} == {corpus}
    assert all(corpus_of(citation["url"]) == corpus for citation in reply["citations"])
    assert NAMES[corpus] in opened_text(client, reply["citations"][0]["url"])
    assert {passage["corpus"] for passage in reply["retrieved"]} == {"harbour", "orchard"}


def test_the_stream_ends_with_the_same_citations(client: TestClient) -> None:
    reply = client.post("/query/stream", json={"question": QUESTIONS["orchard"], "corpus": WAYS[0]})

    done = json.loads(reply.text.rpartition("data:")[2])
    assert {citation["corpus"] for citation in done["citations"]} == {"orchard"}


@ABOUT
def test_retrieve_names_the_corpus_of_each_passage(client: TestClient, corpus: str) -> None:
    reply = posted(client, "/retrieve", {"question": QUESTIONS[corpus], "corpus": WAYS[0], "explain": True})

    assert reply["passages"][0]["corpus"] == corpus
    assert {passage["corpus"] for passage in reply["passages"]} == {"harbour", "orchard"}


@ABOUT
def test_run_links_into_the_corpus(client: TestClient, corpus: str) -> None:
    reply = client.post("/run", json={"question": QUESTIONS[corpus], "corpus": WAYS[0]})

    last = records_in(reply.text)[-1]
    assert NAMES[corpus] in last["final_report"]
    assert {corpus_of(url) for url in last["citations"]} == {corpus}


@ABOUT
def test_evaluate_says_where_its_contexts_are_from(client: TestClient, corpus: str) -> None:
    reply = posted(client, "/evaluate", {"query": QUESTIONS[corpus], "iid": "1", "corpus": WAYS[0]})

    assert {citation["corpus"] for citation in reply["citations"]} == {corpus}
    assert {source["corpus"] for source in reply["context_sources"]} == {"harbour", "orchard"}


@ABOUT
@pytest.mark.parametrize("model", ["orchard+harbour", "*", "harbour+orchard:agent"])
def test_chat_takes_several_as_a_model(client: TestClient, corpus: str, model: str) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": QUESTIONS[corpus]}]}

    reply = posted(client, "/v1/chat/completions", body)

    assert reply["model"] == model
    assert NAMES[corpus] in reply["choices"][0]["message"]["content"]
    assert {citation["corpus"] for citation in reply["citations"]} == {corpus}


@pytest.mark.parametrize("route", ["/vector", "/hybrid"])
def test_papers_are_found_in_both(client: TestClient, route: str) -> None:
    found = posted(client, route, {"question": QUESTIONS["orchard"], "corpus": WAYS[0]})

    assert found[0]["corpus"] == "orchard"
    assert {paragraph["corpus"] for paragraph in found} == {"harbour", "orchard"}


def test_react_answers_from_both(client: TestClient) -> None:
    reply = posted(client, "/react", {"question": QUESTIONS["orchard"], "corpus": WAYS[0]})

    assert NAMES["orchard"] in reply["answer"]
    assert reply["used_docs"][0]["corpus"] == "orchard"


def test_tools_lead_to_the_right_document(client: TestClient) -> None:
    tools, caller = Tools(client.app.state.service), "http://localhost"  # type: ignore[attr-defined]

    async def used() -> tuple[Any, Any, Any]:
        async def tell(_: str) -> None: ...

        found = await tools.search(QUESTIONS["orchard"], BOTH, caller)
        answered = await tools.ask(QUESTIONS["harbour"], "*", caller, tell)
        return found, await tools.fetch(found.results[0].id, caller), answered

    found, fetched, answered = asyncio.run(used())

    assert found.results[0].id.startswith("orchard:report.md#")
    assert NAMES["orchard"] in fetched.text
    assert answered.corpus == BOTH
    assert answered.citations[0].id.startswith("harbour:report.md#")


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("/query", {"question": "Who?"}),
        ("/retrieve", {"question": "Who?"}),
        ("/run", {"question": "Who?"}),
        ("/evaluate", {"query": "Who?", "iid": "1"}),
        ("/agent/research", {"topic": "Who?"}),
        ("/vector", {"question": "Who?"}),
    ],
)
def test_an_unknown_one_among_several_is_told_as_one_alone(
    client: TestClient, route: str, body: dict[str, Any]
) -> None:
    alone = client.post(route, json={**body, "corpus": "garden"})
    among = client.post(route, json={**body, "corpus": ["harbour", "garden"]})

    assert (alone.status_code, among.status_code) == (404, 404)
    assert among.json() == alone.json()


@pytest.mark.parametrize("corpora", [[], [""], ["Harbour"], ["a", 3], "a++b", "a+", "**", ["*"], ["a+b"]])
def test_what_names_no_corpora_is_refused(client: TestClient, corpora: Any) -> None:
    assert client.post("/query", json={"question": "Who?", "corpus": corpora}).status_code == 422


def test_one_in_a_list_is_answered_as_that_one(client: TestClient) -> None:
    replies = [
        posted(client, "/query", {"question": QUESTIONS["harbour"], "corpus": one, "include_context": True})
        for one in ("harbour", ["harbour"])
    ]

    assert replies[1]["cache_hit"]
    for reply in replies:
        assert not any("corpus" in place for place in (*reply["citations"], *reply["retrieved"]))
    assert replies[0]["citations"] == replies[1]["citations"]


def test_an_answer_is_kept_for_the_same_corpora_in_any_order_and_until_one_changes(
    client: TestClient, engines: Engines, settings: Settings, tmp_path: Path
) -> None:
    question = "Who is the keeper of the lighthouse of Quarnevik?"
    ways = [["harbour", "orchard"], ["orchard", "harbour"], "*"]
    hits = [posted(client, "/query", {"question": question, "corpus": way})["cache_hit"] for way in ways]

    (tmp_path / "keeper.md").write_text("# Keeper\n\nThe keeper of the lighthouse of Quarnevik is Tove Lind.\n")
    Ingester(engines, settings).ingest("orchard", tmp_path, RunOptions(), lambda _: None, threading.Event())
    after = posted(client, "/query", {"question": question, "corpus": ways[1]})

    assert hits == [False, True, True]
    assert not after["cache_hit"]
    assert "Tove Lind" in after["answer"]


def test_feedback_says_which_corpora_were_asked_and_where_each_place_is(client: TestClient) -> None:
    reply = posted(client, "/query", {"question": QUESTIONS["orchard"], "corpus": WAYS[0]})
    posted(client, "/feedback", {"answer_id": reply["answer_id"], "verdict": "good"})

    lines = client.get("/feedback", params={"corpus": BOTH}).text.splitlines()
    record = next(one for one in map(json.loads, lines) if one["id"] == reply["answer_id"])

    assert record["corpus"] == BOTH
    assert {citation["corpus"] for citation in record["citations"]} == {"orchard"}
    assert all(json.loads(line)["corpus"] != BOTH for line in client.get("/feedback?corpus=orchard").text.splitlines())


def test_all_corpora_are_held_while_they_are_asked_and_given_back(engines: Engines) -> None:
    with engines.lease("*") as engine:
        assert engine.corpus.name == BOTH
        assert {name for name, one in engines.status()["corpora"].items() if one["documents"]} == {"harbour", "orchard"}
    with pytest.raises(UnknownCorpusError, match="garden"):
        engines.lease("harbour+garden")
