import json
from typing import Any

import httpx
import pytest

from ingestion.console import done
from ingestion.schema import Summary

URL = "https://hooks.example/secret"


def posted(monkeypatch: pytest.MonkeyPatch, status: int) -> list[httpx.Request]:
    sent: list[httpx.Request] = []

    def take(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(status)

    def post(url: str, **given: Any) -> httpx.Response:
        with httpx.Client(transport=httpx.MockTransport(take)) as client:
            return client.post(url, json=given["json"])

    monkeypatch.setattr(httpx, "post", post)
    return sent


@pytest.mark.promise("C11")
def test_a_run_is_told_in_words_and_in_counts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sent = posted(monkeypatch, 200)
    done.tell_done(URL, Summary("papers", new=2, failed=[{"source": "a.pdf", "reason": "It is damaged."}]))

    body = json.loads(sent[0].content)
    assert (str(sent[0].url), body["new"], body["failed"]) == (URL, 2, 1)
    assert "'papers': 2 new" in body["text"]
    assert capsys.readouterr().err == ""


def test_a_message_that_is_refused_is_told_without_its_address(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    posted(monkeypatch, 403)
    done.tell_done(URL, Summary("papers"))

    told = capsys.readouterr().err
    assert "403" in told
    assert "secret" not in told


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/x", "no address"])
def test_an_address_where_nothing_answers_stops_nothing(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    done.tell_done(url, Summary("papers"))

    assert "RAG_INGEST__DONE_URL" in capsys.readouterr().err
