"""Look at a target before the questions are asked, and at its first replies: so that no hour is lost on an empty run.

Flow: `build.py` -> **here** -> facts for the run's header, warnings, or an error that says what to mend.
"""

from typing import Any

import httpx

from errors import RagError
from eval.asking.target import QUOTING, Facts
from eval.cases import Case
from eval.contract.exchange import Exchange
from eval.rows import Row

FEW_CHUNKS = 50
FIRST_REPLIES = 5


class PreflightError(RagError):
    """The run would measure nothing: no service, no documents, or no language model where one is wanted."""

    code = "preflight"


async def look_at_service(client: httpx.AsyncClient, corpus: str | None, *, require_llm: bool) -> Facts:
    """Return what a service tells of itself and of the corpus that will be asked; a stranger's may tell nothing.

    Raises:
        PreflightError: the service is not up, its corpus is missing or empty, or no language model writes.
    """
    name, exchange = str(client.base_url).rstrip("/"), Exchange(client, timeout_s=30)
    health = await _get(exchange, name, "/health")
    if "llm_ready" not in health:
        said = "does not tell about its index" if health else "has no GET /health"
        return Facts(name, corpus, warnings=(f"{name} {said}: only its replies can be judged.",))
    stats = await _get(exchange, name, "/stats", {} if corpus is None else {"corpus": corpus})
    ready = await _get(exchange, name, "/ready", refused_too=True)
    told = {key: stats.get(key) for key in ("documents", "leaves", "model", "precision", "state")}
    synthesizer = str(ready.get("synthesizer", QUOTING))
    return Facts(
        name,
        corpus=str(stats.get("corpus", corpus)),
        settings={"index": told, "llm": {"provider": synthesizer}},
        versions=ready.get("versions", {}),
        warnings=(
            *check_chunks(str(stats.get("corpus", corpus)), int(stats.get("total_chunks", 0))),
            *check_author(synthesizer, ready=health["llm_ready"], reason=health["llm_reason"], required=require_llm),
        ),
    )


def check_chunks(corpus: str, chunks: int) -> tuple[str, ...]:
    """Return a warning if a corpus is tiny, and raise PreflightError if it is empty."""
    if not chunks:
        raise PreflightError(
            f"The corpus {corpus!r} is empty: every question would be declined.",
            f"Bring documents in first: python -m ingestion PATH --corpus {corpus}.",
        )
    if chunks < FEW_CHUNKS:
        return (f"The corpus {corpus!r} holds {chunks} chunks, fewer than {FEW_CHUNKS}: is it whole?",)
    return ()


def check_author(provider: str, *, ready: bool, reason: str, required: bool) -> tuple[str, ...]:
    """Return a warning if a language model did not write when it was last asked.

    Raises:
        PreflightError: one is required, and none is set.
    """
    if required and provider == QUOTING:
        raise PreflightError(
            "--require-llm is given, but no language model is set: answers would be quotes.",
            "Set RAG_LLM__PROVIDER where the answers are made, or leave out --require-llm.",
        )
    return () if ready else (f"The language model did not write when it was last asked: {reason}",)


class FirstReplies:
    """Watches the first replies for a run that is not worth its time; `provider` is set to write, if that is known."""

    def __init__(self, provider: str | None = None) -> None:
        self._left = FIRST_REPLIES
        self._model = provider if provider != QUOTING else None

    def add(self, case: Case, row: Row) -> list[str]:
        """Return what a row warns of; the same is said once."""
        said = []
        if self._left and row.outcome != "failed" and not case.unanswerable:
            self._left = self._left - 1 if row.outcome == "declined" else 0
            if row.outcome == "declined" and not self._left:
                said.append(
                    f"The first {FIRST_REPLIES} questions were all declined (the last one with: "
                    f"{(row.answer or '')[:100]!r}). Is it the right corpus, and was all of it ingested?"
                )
        if self._model and row.outcome == "answered":
            model, self._model = self._model, None
            if row.synthesizer == QUOTING:
                why = "".join(f" {warning}" for warning in row.warnings if warning.startswith("llm"))
                said.append(
                    f"The first answer is quotes, not written by {model!r}.{why} --require-llm makes that a failure."
                )
        return said


async def _get(
    exchange: Exchange, base: str, path: str, parameters: dict[str, str] | None = None, *, refused_too: bool = False
) -> dict[str, Any]:
    """Return an object; an empty one where there is no such address, or something else is said there."""
    reply = await exchange.get(path, params=parameters)
    if not reply.status:
        remedy = "Start the service, e.g. python main.py, or correct --url."
        raise PreflightError(f"Nothing answers at {base}: {reply.broken}.", remedy)
    known = reply.value or {}
    if reply.status == httpx.codes.OK or (refused_too and known):
        return known
    refusal = known.get("error")
    if isinstance(refusal, dict) and "detail" in refusal and path != "/health":
        raise PreflightError(f"{base} refuses: {refusal['detail']}", "Mend that, or name another corpus by --corpus.")
    if reply.status >= 500:
        raise PreflightError(f"{base}{path} replies with status {reply.status}.", "Mend the service.")
    return {}
