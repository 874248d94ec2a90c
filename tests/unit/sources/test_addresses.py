"""A request makes the service ask no other servers than those that the operator wrote down."""

import pytest
from pydantic import SecretStr

from errors import SettingsError
from query_engine.runtime.deadline import Deadline
from settings import SourcesSettings
from sources.addresses import server_of
from sources.base import SourceQuery
from sources.build import open_source
from tests.servers.mosaic import MosaicServer

OURS = "http://search.example:7700"
SETTINGS = SourcesSettings(
    meilisearch_url=f"{OURS}#pages",
    meilisearch_key=SecretStr("k"),
    allowed_urls="https://other.example/meili/ , http://10.0.0.7:7700",
)


def opened(url: str = "", part: str = "", name: str = "meilisearch", settings: SourcesSettings = SETTINGS) -> object:
    return open_source(name, settings, lambda _: [0.0], url=url, part=part)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:7700",
        "http://169.254.169.254/latest/meta-data",
        "http://localhost:7700",
        "http://[::1]:7700",
        "http://search.example:7701",
        "https://search.example:7700",
        "http://search.example:7700/admin",
        "http://search.example:7700@127.0.0.1",
        "http://search.example:7700#@127.0.0.1",
        "http://search.example:7700?x=1",
        "http://search.example:7700\\@127.0.0.1",
        "http://search.example:7700/a/../..",
        "http://search.example:99999",
        "http://[search.example",
        "file:///etc/passwd",
        "https://other.example/",
        "https://other.example/meili/../x",
    ],
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="is not allowed"):
        opened(url, "pages")


@pytest.mark.parametrize("url", ["", OURS, "HTTP://SEARCH.example:7700/", "http://search.example.:7700"])
def test_the_address_of_the_settings_may_be_named_and_keeps_its_key(url: str) -> None:
    server = opened(url)._client.server  # type: ignore[attr-defined]

    assert (server.url, server.key) == (OURS, "k")


@pytest.mark.parametrize("url", ["https://other.example/meili", "https://OTHER.example:443/meili/"])
def test_an_allowed_address_gets_no_key(url: str) -> None:
    server = opened(url, "notes")._client.server  # type: ignore[attr-defined]

    assert (server.url, server.key) == (url.rstrip("/"), "")


def test_of_the_server_of_the_settings_only_its_index_may_be_named() -> None:
    opened(part="pages")
    with pytest.raises(SettingsError, match=r"The index 'salaries' of http://search\.example:7700 is not allowed"):
        opened(part="salaries")
    opened(part="salaries", settings=SETTINGS.model_copy(update={"allowed_urls": OURS}))


def test_an_allowed_server_needs_an_index() -> None:
    with pytest.raises(SettingsError, match="has no index"):
        opened("http://10.0.0.7:7700")


def test_of_mosaic_any_index_may_be_named_unless_the_settings_name_one() -> None:
    url = "https://mosaic.example/api"
    opened(part="arts", name="mosaic", settings=SourcesSettings(mosaic_url=url))
    with pytest.raises(SettingsError, match="'arts'"):
        opened(part="arts", name="mosaic", settings=SourcesSettings(mosaic_url=f"{url}#science"))


@pytest.mark.parametrize("name", ["mosaic", "fineweb", "clueweb"])
def test_no_public_service_is_asked_that_the_operator_did_not_set_up(name: str) -> None:
    with pytest.raises(SettingsError, match="RAG_SOURCES__"):
        opened(name=name, settings=SourcesSettings())


def test_an_unknown_source_and_one_without_address_are_told() -> None:
    with pytest.raises(SettingsError, match="Did you mean 'chroma'"):
        opened(name="croma")
    with pytest.raises(SettingsError, match="RAG_SOURCES__CHROMA_URL"):
        opened(name="chroma", settings=SourcesSettings())


@pytest.mark.promise("D15")
def test_where_any_is_allowed_private_addresses_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"public.example": "93.184.216.34", "inside.example": "10.0.0.7"}

    def looked_up(host: str, port: int, **_: object) -> list[tuple[object, ...]]:
        return [(2, 1, 6, "", (known.get(host, host), port))]

    monkeypatch.setattr("socket.getaddrinfo", looked_up)
    any_server = SourcesSettings(mosaic_url="*")

    server = opened("https://public.example/api", "arts", "mosaic", any_server)._client.server  # type: ignore[attr-defined]
    assert server.url == "https://public.example/api"
    for url in (
        "http://inside.example",
        "http://127.0.0.1:9",
        "http://169.254.169.254",
        "http://[::1]",
        "ftp://public.example",
    ):
        with pytest.raises(SettingsError, match="public"):
            opened(url, "", "mosaic", any_server)
    with pytest.raises(SettingsError, match="RAG_SOURCES__MOSAIC_URL"):
        opened("", "", "mosaic", any_server)


def test_a_redirect_is_not_followed() -> None:
    with MosaicServer({}) as inside, MosaicServer({}) as outside:
        outside.fails["/search"] = 302
        source = open_source("mosaic", SourcesSettings(mosaic_url=outside.url), lambda _: [0.0])
        with pytest.raises(Exception, match="302"):
            source.search(SourceQuery("wind", 1, "?"), Deadline(30))

    assert inside.requests == []


def test_addresses_are_compared_by_what_decides_where_they_lead() -> None:
    assert (
        server_of("https://A.example/x/") == server_of("https://a.example:443/x") == ("https", "a.example", 443, "/x")
    )
    assert server_of("ftp://a.example") is None
