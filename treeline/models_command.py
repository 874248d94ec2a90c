"""`treeline models`: the language models that answer on this machine, each with the settings that use it.

Flow: the ports at which local servers listen -> **here** -> lines to copy into `.env`. Only the loopback interface is
asked, without keys.
"""

import argparse
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import httpx


class Server(NamedTuple):
    """A kind of server, and where it listens if nobody changed that."""

    name: str
    provider: str
    port: int


SERVERS = (
    Server("Ollama", "ollama", 11434),
    Server("LM Studio", "openai", 1234),
    Server("llama.cpp", "openai", 8080),
    Server("vLLM", "openai", 8000),
)
TIMEOUT_S = 0.2
NOTHING = """No model server answers on this machine. The shortest way to one:
  install Ollama (https://ollama.com), then: ollama pull qwen3:4b-instruct
docs/models.md names others."""


def main(argv: Sequence[str] | None = None, prog: str = "treeline models") -> int:
    """Parse `argv` and list what answers."""
    parser = argparse.ArgumentParser(
        prog=prog, description="List the language models that answer on this machine, with the settings that use them."
    )
    parser.parse_args(argv)
    print("\n\n".join(found(SERVERS)) or NOTHING)
    return 0


def found(servers: Sequence[Server]) -> Iterator[str]:
    """Yield, for each server that answers, its models and the lines for `.env`."""
    with ThreadPoolExecutor(len(servers)) as threads:
        for server, models in zip(servers, threads.map(_models, servers), strict=True):
            if models:
                address = f"http://127.0.0.1:{server.port}"
                lines = [f"RAG_LLM__PROVIDER={server.provider}", f"RAG_LLM__MODEL={models[0]}"]
                if server.provider != "ollama":
                    lines.insert(1, f"RAG_LLM__BASE_URL={address}/v1")
                others = f"\n  # or {', '.join(models[1:])}" if len(models) > 1 else ""
                yield f"{server.name} at {address}\n  " + "\n  ".join(lines) + others


def _models(server: Server) -> list[str]:
    """Return the names of a server's models; none where nothing answers, or something else does."""
    try:
        reply = httpx.get(f"http://127.0.0.1:{server.port}/v1/models", timeout=TIMEOUT_S, trust_env=False).json()
        return [str(one["id"]) for one in reply["data"]]
    except (httpx.HTTPError, ValueError, TypeError, KeyError):
        return []
