"""How much of an embedding server's throughput ingestion uses.

Flow: `__main__.py` -> **here** starts the scripted server of the tests as a process, once for each speed -> the same
passages, by a bare HTTP client and as ingestion embeds them, in turn -> table.

The bare client sends the passages in batches of the same size, as many at once, and reads no reply: it shows what the
server can do on this machine. Ours does what an ingestion does between a cut document and its vectors.
"""

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import cycle, islice
from statistics import median
from typing import Any

import httpx

from bench.speed.process import serving_process
from index.build import Embedding
from index.documents.sources import SourceNote
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from index.embedding.openai_server import batches
from ingestion.pipeline.chunk_embed import batches as documents_together
from ingestion.pipeline.diff import Change
from ingestion.pipeline.embed import Vectorizer
from settings import Settings

SERVER = "tests.servers.scripted_models"
# Milliseconds that the server computes for each text: about as a GPU does for a small and for a large model, and none,
# where only the network and the two programs are left.
PER_TEXT_MS = (1.0, 0.25, 0.0)


@dataclass(slots=True)
class Measured:
    """One speed of the server.

    Attributes:
        name: says which.
        texts: passages in a run.
        bare_s: seconds of each run by the bare client.
        ours_s: the same by our embedding path.
    """

    name: str
    texts: int
    bare_s: list[float] = field(default_factory=list)
    ours_s: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Our throughput as a share of the bare client's."""
        return median(self.bare_s) / median(self.ours_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the runs as JSON-ready values."""
        return asdict(self) | {"share": self.share}


def measure(texts: Sequence[str], settings: Settings, count: int, repeats: int) -> list[Measured]:
    """Measure each speed of the server.

    Args:
        texts: documents; repeated under other titles as often as need be.
        settings: limits of the requests, sizes of the passages.
        count: passages, at least.
        repeats: runs of each.

    Raises:
        RagError: the server, or our embedding path, failed.
    """
    measured = []
    for per_text_ms in PER_TEXT_MS:
        arguments = ["-m", SERVER, "--vectors", "at_once", "--per-text-ms", str(per_text_ms)]
        with serving_process(arguments, {}, ready=False) as (url, _):
            measured.append(_measure(f"{per_text_ms:g} ms a text", url, texts, settings, count=count, repeats=repeats))
    return measured


def _measure(name: str, url: str, texts: Sequence[str], settings: Settings, *, count: int, repeats: int) -> Measured:
    embed = settings.embed.model_copy(update={"provider": "openai", "base_url": url, "model": "scripted"})
    embedding = Embedding(settings.model_copy(update={"embed": embed}))
    splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.passage_tokens)
    changes = list(_documents(texts, splitter, count))
    passages = [text for change in changes for text in splitter.leaf_texts(change.stored())]
    requests = list(batches(passages, embed.batch_texts, embed.batch_bytes, embed.concurrency))
    found = Measured(name, len(passages))
    for run in range(repeats + 1):
        started = time.perf_counter()
        asyncio.run(_send(url, requests, embed.concurrency))
        between = time.perf_counter()
        # Another one each time: it remembers what it has embedded.
        vectorizer = Vectorizer(None, embedding, splitter.leaf_texts, lambda: None)
        for together in documents_together(map(replace, changes), embedding.batch_leaves):
            vectorizer.fill([step for step in together if isinstance(step, Change)])
        if run:  # the first one warms both up
            found.bare_s.append(between - started)
            found.ours_s.append(time.perf_counter() - between)
    return found


def _documents(texts: Sequence[str], splitter: TreeSplitter, count: int) -> Iterator[Change]:
    """Yield documents with trees that have so many leaves together, each document under another title."""
    leaves = 0
    trees = [splitter.split(text) for text in texts]
    for number, (text, tree) in enumerate(islice(cycle(zip(texts, trees, strict=True)), count)):
        if leaves >= count:
            return
        leaves += len(tree.leaves)
        name = f"{number}.md"
        yield Change(
            Document(name, f"Number {number:05}", text, source=name), name, False, SourceNote(name, "", name), tree
        )


async def _send(url: str, requests: Sequence[list[str]], at_once: int) -> None:
    waiting = iter(requests)

    async def work(client: httpx.AsyncClient) -> None:
        for texts in waiting:
            body = {"input": texts, "model": "scripted", "encoding_format": "base64"}
            (await client.post(f"{url}/embeddings", json=body)).raise_for_status()

    async with httpx.AsyncClient(timeout=60, trust_env=False) as client:
        await asyncio.gather(*(work(client) for _ in range(at_once)))


def table(measured: Sequence[Measured]) -> str:
    """Return a Markdown table."""
    lines = ["| server | passages | bare client, texts/s | ingestion's, texts/s | share |", "|---|---:|---:|---:|---:|"]
    for one in measured:
        bare, ours = ([one.texts / seconds for seconds in runs] for runs in (one.bare_s, one.ours_s))
        lines.append(f"| {one.name} | {one.texts:,} | {_spread(bare)} | {_spread(ours)} | {one.share:.2f} |")
    return "\n".join(lines)


def _spread(rates: Sequence[float]) -> str:
    return f"{median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})"
