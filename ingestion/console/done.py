"""Tell another program that a run has ended: Slack, or whatever takes JSON.

Flow: the summary of a run -> **here** -> `RAG_INGEST__DONE_URL`. The address may be a secret, so no message repeats it.
What does not arrive is told on stderr and changes nothing else.
"""

import sys

import httpx

from ingestion.console.summary import totals
from ingestion.schema import Summary
from loopback import may_use_proxy

TIMEOUT_S = 10


def tell_done(url: str, summary: Summary) -> None:
    """Post `text` for people, and the counts of the summary under its names."""
    counts = {name: value for name, value in summary.to_dict().items() if not isinstance(value, list)}
    body = {"text": "\n".join(totals(summary)), **counts, "failed": len(summary.failed)}
    try:
        httpx.post(url, json=body, timeout=TIMEOUT_S, trust_env=may_use_proxy(url)).raise_for_status()
    except httpx.HTTPStatusError as error:
        sys.stderr.write(f"warning: RAG_INGEST__DONE_URL answers with status {error.response.status_code}\n")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        sys.stderr.write(f"warning: nothing answers at RAG_INGEST__DONE_URL: {type(error).__name__}\n")
