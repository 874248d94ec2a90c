"""A server whose judgements are known, and judges that ask once."""

from collections.abc import Iterator

import pytest

from tests.servers.scripted_judge import judgement
from tests.servers.scripted_llm import Script, ScriptedLLM


@pytest.fixture(autouse=True)
def _no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.scoring.judge_client.RETRIES", 0)


@pytest.fixture
def server() -> Iterator[ScriptedLLM]:
    with ScriptedLLM(Script(text=judgement)) as running:
        yield running
