from typing import Any

import pytest

from tests.e2e.arena import violations
from tests.fakes.answers import KnowingEngine, quoted
from tests.fakes.http import client_of, records_in

ANSWERS = {
    "wind": quoted(("wind.md", "Wind turns blades.")),
    "How wind works": quoted(("sun.md", "Sun [drives] the wind."), url="https://example.org/a(b)"),
}
REPORT = "# Wind\n\nWind turns blades. [1]\n\n## How wind works\n\nSun [drives] the wind. [2]\n\n## What is not known"
REFERENCE = "\n- [2] [Wind](https://example.org/a%28b%29)"


def evaluated(settings: dict[str, Any] | None = None, **body: Any) -> dict[str, Any]:
    client = client_of(KnowingEngine(ANSWERS), **(settings or {}))
    reply: dict[str, Any] = client.post("/evaluate", json={"query": "wind", "iid": "1", **body}).json()
    return reply


@pytest.mark.parametrize(
    ("settings", "form", "is_report"),
    [
        ({}, None, False),
        ({}, "answer", False),
        ({}, "report", True),
        ({"answer": {"form": "report"}}, None, True),
        ({"answer": {"form": "report"}}, "answer", False),
    ],
)
def test_the_request_or_the_settings_ask_for_a_report(
    settings: dict[str, Any], form: str | None, is_report: bool
) -> None:
    shown = evaluated(settings, form=form)["generated_response"]

    assert shown.startswith(REPORT) == is_report
    assert (shown == "Wind turns blades. [1]") == (not is_report)


def test_a_report_ends_with_a_link_for_each_number_once() -> None:
    shown = evaluated({}, form="report")["generated_response"]

    assert shown.count("eferences") == 1
    assert "\n\n## References\n\n- [1] [Wind](http://testserver/documents/wind.md?corpus=default&start=" in shown
    assert shown.endswith(REFERENCE)


def test_run_streams_the_same_report() -> None:
    body = {"question": "wind", "form": "report"}
    reply = client_of(KnowingEngine(ANSWERS)).post("/run", json=body)

    assert violations(reply.content) == []
    last = records_in(reply.text)[-1]
    assert last["complete"]
    assert last["final_report"] == evaluated(form="report")["generated_response"]
    assert last["citations"][1] == "https://example.org/a(b)"
    assert "**Asking 1 of 6**" in last["intermediate_steps"]
    assert "error" not in last


def test_a_report_about_nothing_known_is_declined_without_references() -> None:
    reply = evaluated(form="report", query="whales")

    assert reply["answered"] is False
    assert reply["generated_response"].startswith("I don't know.")


def test_an_unknown_form_is_refused() -> None:
    assert evaluated(form="poem")["error"]["field"] == "form"
