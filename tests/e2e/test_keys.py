"""A service that asks for keys: OpenAI's client and the commands beside it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import openai
import pytest
from playwright.sync_api import Browser

from tests.e2e.browser import CHROMIUM, opened
from tests.e2e.conftest import MAIN
from tests.e2e.program import Program, run


class Filed(NamedTuple):
    """A service whose keys stand in a file, one key to read and one for the corpus `mine`, and its settings."""

    url: str
    reader: str
    limited: str
    variables: dict[str, str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with documents in `docs`."""
    folder = tmp_path_factory.mktemp("keys")
    (folder / "docs").mkdir()
    (folder / "docs" / "wind.md").write_text("# Wind\n\nA turbine turns the wind into electric power.\n")
    return folder


@pytest.fixture(scope="module")
def without(place: Path, model_cache: Path) -> dict[str, str]:
    """Return the settings of a command that knows no key."""
    return {"RAG_INDEX__DIR": str(place / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}


@pytest.fixture(scope="module")
def guarded(place: Path, without: dict[str, str]) -> Iterator[Program]:
    """Yield a service with two keys, which other machines may reach as well."""
    variables = without | {"RAG_SERVE__KEYS": "sk-one-0123456789,sk-two-0123456789", "RAG_SERVE__HOST": "0.0.0.0"}
    with Program([MAIN, "--ingest", str(place / "docs")], variables, place) as service:
        yield service


def test_openais_client_passes_with_a_key_and_with_no_other(guarded: Program) -> None:
    with openai.OpenAI(base_url=f"{guarded.url}/v1", api_key="sk-two-0123456789", timeout=60, max_retries=0) as client:
        question = "What does a turbine turn the wind into?"
        reply = client.chat.completions.create(model="default", messages=[{"role": "user", "content": question}])
        assert "electric power" in (reply.choices[0].message.content or "")
    with (
        openai.OpenAI(base_url=f"{guarded.url}/v1", api_key="sk-three-0123456789", timeout=60, max_retries=0) as client,
        pytest.raises(openai.AuthenticationError, match="The key is missing or wrong") as refused,
    ):
        client.models.list()
    assert refused.value.code == "invalid_api_key"
    assert httpx.get(f"{guarded.url}/health").status_code == 200


@pytest.mark.promise("C14")
@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
def test_a_person_signs_in_and_out_on_the_page(browser: Browser, guarded: Program) -> None:
    page = opened(browser, width=360)
    page.goto(f"{guarded.url}/login")
    page.locator("input[name=key]").fill("sk-one-0123456789")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui")
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/login")

    assert page.context.cookies() == []
    assert page.goto(f"{guarded.url}/ui/config").status == 401  # type: ignore[union-attr]
    page.context.close()


@pytest.mark.usefixtures("guarded")
def test_commands_send_the_first_key_of_their_settings(place: Path, without: dict[str, str]) -> None:
    knowing = without | {"RAG_SERVE__KEYS": "sk-one-0123456789,sk-four-0123456789"}
    again = run(["-m", "ingestion", "docs"], knowing, place)
    asked = run(["-m", "query_engine", "What does a turbine turn the wind into?"], knowing, place)
    refused = run(["-m", "query_engine", "What does a turbine turn the wind into?"], without, place)

    assert "0 new, 0 changed, 1 unchanged" in again.stderr
    assert "electric power" in asked.stdout
    assert refused.returncode == 1
    assert "key_needed: The key is missing or wrong" in refused.stderr
    assert "RAG_SERVE__KEYS" in refused.stderr


@pytest.fixture(scope="module")
def filed(place: Path, without: dict[str, str]) -> Iterator[Filed]:
    """Yield a service whose keys stand in a file."""
    for name in ("mine", "others"):
        (place / "root" / name).mkdir(parents=True)
        (place / "root" / name / f"{name}.md").write_text(f"# {name}\n\nThe {name} are painted green.\n")
    own = {"RAG_SERVE__KEYS_FILE": str(place / "keys.json"), "RAG_INDEX__DIR": str(place / "filed")}
    variables = without | own | {"RAG_INGEST__ROOT": str(place / "root")}
    limited = ["limited", "--scope", "ingest", "--scope", "read", "--corpus", "mine"]
    reader, mine = (
        run(["-m", "treeline", "keys", "add", *words], variables, place).stdout.strip()
        for words in (["reader", "--scope", "read"], limited)
    )
    with Program([MAIN, "--ingest", str(place / "docs")], variables, place) as service:
        yield Filed(service.url, reader, mine, variables)


@pytest.mark.promise("G18")
def test_a_key_of_the_file_opens_what_it_is_for_until_it_is_revoked(place: Path, filed: Filed) -> None:
    def status(method: str, path: str) -> int:
        return httpx.request(method, filed.url + path, headers={"Api-Key": filed.reader}).status_code

    assert (status("GET", "/stats"), status("POST", "/cache/clear")) == (200, 403)
    malformed = {"content": b"{", "headers": {"content-type": "application/json"}}
    assert httpx.post(f"{filed.url}/query", **malformed).status_code == 401  # type: ignore[arg-type]
    run(["-m", "treeline", "keys", "revoke", "reader"], filed.variables, place)
    assert status("GET", "/stats") == 401


@pytest.mark.fault("E15")
def test_a_key_for_one_corpus_brings_in_its_own_folder_alone(place: Path, filed: Filed) -> None:
    with httpx.Client(base_url=filed.url, headers={"Api-Key": filed.limited}, timeout=60) as client:

        def ingested(path: str) -> int:
            return client.post("/ingest", json={"path": path, "corpus": "mine", "wait": True}).status_code

        others = str(place / "root" / "others")
        assert [ingested(path) for path in ("others", others, "../others", ".")] == [403, 403, 403, 200]
        found = client.post("/retrieve", json={"question": "What is painted green?", "corpus": "mine"})
        assert "The mine are painted" in found.text
        assert "The others are painted" not in found.text
