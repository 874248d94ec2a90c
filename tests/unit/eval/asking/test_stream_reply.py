"""Streams of `/run` as services of others write them."""

import json
from collections.abc import Sequence

import httpx
import pytest

from eval.asking.http import StreamTarget
from eval.asking.replies import StreamReply
from eval.asking.target import NoReplyError
from eval.rows import Row
from tests.servers.contestant import good_records, stream_of
from tests.unit.eval.asking.fakes import a_case

THINKS = {"intermediate_steps": "Searching", "final_report": None, "is_intermediate": True}
SAYS = {"intermediate_steps": "Searching", "final_report": "Heat pumps move heat.", "is_intermediate": False}


async def ask(body: bytes, status: int = 200) -> Row:
    def reply(request: httpx.Request) -> httpx.Response:
        assert (request.url.path, json.loads(request.content)) == ("/run", {"question": "What is q1?"})
        return httpx.Response(status, content=body)

    async with httpx.AsyncClient(base_url="http://service", transport=httpx.MockTransport(reply)) as client:
        return await StreamTarget(client).ask(a_case())


def read(lines: Sequence[str]) -> Row:
    stream = StreamReply()
    for line in lines:
        stream.take(line)
    return stream.row("q1", 2.0, 1.0)


async def test_a_stream_that_keeps_the_contract_is_a_row_with_its_citations() -> None:
    row = await ask(b": ping\n\n" + stream_of(good_records()))

    assert (row.outcome, row.answer, row.warnings) == ("answered", "Heat pumps move heat [1].", ())
    assert [(one.number, one.url) for one in row.citations] == [(1, "http://localhost/heat.md")]
    assert row.first_record_s is not None
    assert row.first_record_s <= row.seconds


FORMS = {
    "is_complete": stream_of([{**THINKS, "is_complete": False}, {**SAYS, "is_complete": True}, {**SAYS, "x": 1}]),
    "bare lines": b"".join(json.dumps({**one, "complete": one is SAYS}).encode() + b"\n" for one in (THINKS, SAYS)),
    "no blanks": b"data:" + json.dumps({**SAYS, "complete": True}).encode() + b"\r\n\r\n",
    "nothing after the end": stream_of([{**SAYS, "complete": True}, {**SAYS, "final_report": "Late."}]),
    "null changes nothing": stream_of([SAYS, {"final_report": None, "error": None, "complete": True}]),
    "one object over several lines": json.dumps({**SAYS, "complete": True}, indent=2).encode(),
    "plain text": b"Heat pumps\nmove heat.",
    "plain text as events": b"data: Heat pumps\ndata: move heat.\n\ndata: [DONE]\n\n",
}


@pytest.mark.promise("A39")
@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS)
async def test_other_forms_are_read_too(body: bytes) -> None:
    row = await ask(body)

    assert " ".join((row.answer or "").split()) == "Heat pumps move heat."
    assert row.warnings == ()


async def test_a_separator_of_lines_inside_json_ends_no_line() -> None:
    record = json.dumps({**SAYS, "final_report": "Heat\u2028pumps", "complete": True}, ensure_ascii=False)

    assert (await ask(f"data: {record}\n\n".encode())).answer == "Heat\u2028pumps"


def test_a_stream_that_just_ends_is_read_with_a_warning() -> None:
    row = read([f"data: {json.dumps(SAYS)}"])

    assert row.answer == "Heat pumps move heat."
    assert [warning.partition(":")[0] for warning in row.warnings] == ["stream_unfinished"]


def test_not_knowing_is_declining() -> None:
    assert read(["I don't know."]).outcome == "declined"


async def test_a_refusal_names_the_route() -> None:
    with pytest.raises(NoReplyError, match="POST /run"):
        await ask(b"no such page", 404)


@pytest.mark.parametrize(
    "lines",
    [[], ["", ": ping"], ['data: {"error": "It broke.", "complete": true}'], [f"data: {json.dumps(THINKS)}"]],
)
def test_a_stream_without_an_answer_is_not_a_reply(lines: list[str]) -> None:
    with pytest.raises(NoReplyError):
        read(lines)
