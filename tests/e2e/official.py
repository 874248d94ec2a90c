"""The rules of the competition's own tester, reimplemented: what it sends, what it accepts, when it exits with 1.

    official.main(["--base-url", URL, "--test-mode", "full", "--validation-file", FILE, "--result-file", FILE])

It asks `/health` first and gives up without it. `/evaluate` gets one request a row; at least 80 % have to succeed, and
the file of replies must hold no empty answer and no id twice; missing ids are only mentioned. `/run` has to answer 200
and end.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import httpx

NEEDED_RATIO = 0.8


def main(argv: Sequence[str]) -> int:
    """Return 0 when the service passes, else 1."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--test-mode", choices=("full", "evaluate", "run"), default="full")
    parser.add_argument("--validation-file", type=Path, default=Path("t2t_val.jsonl"))
    parser.add_argument("--result-file", type=Path, default=Path("result.jsonl"))
    parser.add_argument("--test-question", default="What is the capital of France?")
    parser.add_argument("--timeout", type=float, default=300)
    options = parser.parse_args(argv)
    with httpx.Client(base_url=options.base_url, timeout=options.timeout) as client:
        if client.get("/health").status_code != 200:
            return 1
        passed = True
        if options.test_mode in {"full", "evaluate"}:
            passed &= evaluate(client, options.validation_file, options.result_file)
        if options.test_mode in {"full", "run"}:
            passed &= run(client, options.test_question)
    return 0 if passed else 1


def evaluate(client: httpx.Client, validation_file: Path, result_file: Path) -> bool:
    """Ask every row of the validation file, write the replies as they come, judge both."""
    rows = [json.loads(line) for line in validation_file.read_text(encoding="utf-8").splitlines() if line.strip()]
    replies = []
    for row in rows:
        reply = client.post("/evaluate", json={"query": row["query"], "iid": row["iid"]})
        if reply.status_code == 200 and accepts(reply.json(), row["iid"]):
            replies.append(reply.json())
    result_file.write_text("".join(json.dumps(reply) + "\n" for reply in replies), encoding="utf-8")
    written = [json.loads(line) for line in result_file.read_text(encoding="utf-8").splitlines()]
    return len(replies) >= NEEDED_RATIO * len(rows) and not faults(written)


def accepts(reply: dict[str, Any], iid: str) -> bool:
    """Say whether a reply counts as a success: both keys, and the id unchanged."""
    return reply.get("query_id") == iid and isinstance(reply.get("generated_response"), str)


def faults(results: Iterable[dict[str, Any]]) -> list[str]:
    """Return what makes a file of results invalid: one empty answer or one id twice is enough."""
    results = list(results)
    counts = Counter(result["query_id"] for result in results)
    found = [f"id {iid!r} stands there {count} times" for iid, count in counts.items() if count > 1]
    found += [f"empty answer to {r['query_id']!r}" for r in results if not r["generated_response"].strip()]
    return found


def run(client: httpx.Client, question: str) -> bool:
    """Ask one question; read the stream to its end."""
    with client.stream("POST", "/run", json={"question": question}) as reply:
        if reply.status_code != 200:
            return False
        records = [json.loads(line.removeprefix("data:")) for line in reply.iter_lines() if line.startswith("data:")]
    return bool(records) and not any("error" in record for record in records)
