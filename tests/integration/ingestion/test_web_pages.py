"""Pages of a web server of this machine become documents, within what its robots.txt and the settings allow."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from index.build import Embeddings, open_corpus
from index.documents.catalogue import DocumentBrief
from ingestion import web_pages
from ingestion.__main__ import main
from ingestion.web_pages import WebPages
from settings import IngestSettings, load_settings
from tests.servers.threaded import QuietHandler, ThreadedServer

PAGE = "<html><head><title>{0}</title></head><body><main><h1>{0}</h1><p>{1}</p></main></body></html>"
Store = Callable[..., tuple[tuple[str, ...], list[dict[str, str]]]]


class Site(ThreadedServer):
    """Serves what stands in `pages`; a text that begins with a slash is the path that it leads on to.

    Attributes:
        pages: path -> body.
        asked: the paths that were asked for.
    """

    def __init__(self) -> None:
        self.pages: dict[str, str | bytes] = {}
        self.asked: list[str] = []
        super().__init__(_Handler)

    def lists(self, *paths: str, of: str = "url") -> str:
        """Return a sitemap."""
        entries = "".join(f"<{of}><loc>{path if '://' in path else self.url + path}</loc></{of}>" for path in paths)
        return f'<?xml version="1.0"?><set xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</set>'


class _Handler(QuietHandler):
    def do_GET(self) -> None:
        site: Site = self.service  # type: ignore[attr-defined]
        site.asked.append(self.path)
        body = site.pages.get(self.path)
        if body is None:
            self.reply(500 if self.path == "/broken" else 404, b"")
        elif isinstance(body, str) and body.startswith("/"):
            self.reply(302, b"", location=body)
        else:
            data = body if isinstance(body, bytes) else body.encode()
            self.reply(200, data, content_type="text/html; charset=utf-8")


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as one:
        one.pages["/wind"] = PAGE.format("Wind", "The mast of the old mill is nine metres high.")
        one.pages["/water"] = PAGE.format("Water", "The weir was rebuilt in spring.")
        yield one


@pytest.fixture
def store(tmp_path: Path) -> Store:
    def stored(*addresses: str, sitemap: str = "", limit: int | None = None, private: bool = True) -> Any:
        settings = IngestSettings(private_addresses=private, max_file_mb=1)
        with WebPages(settings, threading.Event()) as pages:
            return pages.store(addresses, [sitemap] if sitemap else [], tmp_path, limit)

    return stored


@pytest.fixture
def ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAG_INDEX__DIR", str(tmp_path / "index"))
    monkeypatch.setenv("RAG_INGEST__PRIVATE_ADDRESSES", "true")

    def ingested(*words: str, code: int = 0) -> Any:
        assert main(words) == code
        return json.loads(capsys.readouterr().out or "null")

    return ingested


def documents() -> list[DocumentBrief]:
    settings = load_settings()
    with closing(open_corpus("default", settings, Embeddings(settings).of("default").manifest)) as corpus:
        return corpus.catalogue.briefs()


def test_pages_become_documents_with_their_addresses(site: Site, ingest: Callable[..., Any]) -> None:
    first = ingest(f"{site.url}/wind", f"{site.url}/gone", "--sitemap", f"{site.url}/map.xml", code=1)
    site.pages["/map.xml"] = site.lists("/wind", "/water")
    second = ingest("--sitemap", f"{site.url}/map.xml")

    assert {one["source"] for one in first["failed"]} == {f"{site.url}/gone", f"{site.url}/map.xml"}
    assert (first["new"], second["new"], second["unchanged"]) == (1, 1, 1)
    assert {one.title: one.url for one in documents()} == {
        "Wind": f"{site.url}/wind",
        "Water": f"{site.url}/water",
    }


def test_without_any_page_nothing_is_made(site: Site, ingest: Callable[..., Any], tmp_path: Path) -> None:
    ingest(f"{site.url}/gone", code=1)

    assert not (tmp_path / "index" / "default").exists()


@pytest.mark.parametrize("option", ["--prune", "--watch", "--rebuild", "--dry-run"])
def test_what_is_for_folders_is_refused(option: str, ingest: Callable[..., Any], tmp_path: Path) -> None:
    for words in (["https://example.org/", option], ["https://example.org/", str(tmp_path)]):
        with pytest.raises(SystemExit) as refused:
            ingest(*words)
        assert refused.value.code == 2


def test_private_addresses_are_refused_unless_they_are_allowed(site: Site, store: Store) -> None:
    names, failed = store(f"{site.url}/wind", "http://[::ffff:127.0.0.1]:1/", "file:///etc/hosts", private=False)

    assert names == ()
    assert len(failed) == 3
    assert site.asked == []


def test_robots_txt_is_heeded_also_behind_a_redirection(site: Site, store: Store) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /water\n"
    site.pages["/brook"] = "/water"
    names, failed = store(*(f"{site.url}/{name}" for name in ("wind", "water", "brook")))

    assert len(names) == 1
    assert [one["source"] for one in failed] == [f"{site.url}/water", f"{site.url}/brook"]
    assert "/water" not in site.asked


def test_a_site_whose_robots_txt_fails_is_left_alone(site: Site, store: Store) -> None:
    site.pages["/robots.txt"] = "/broken"
    names, failed = store(f"{site.url}/wind")

    assert (names, len(failed)) == ((), 1)
    assert "/wind" not in site.asked


def test_a_page_that_leads_on_has_the_address_of_what_it_leads_to(site: Site, store: Store, tmp_path: Path) -> None:
    site.pages["/old"] = "/wind"
    (name,), _ = store(f"{site.url}/old")
    site.pages["/circle"] = "/circle"

    assert f"WARC-Target-URI: {site.url}/wind\r\n" in (tmp_path / name).read_bytes().decode()
    assert len(store(f"{site.url}/circle")[1]) == 1


def test_sitemaps_list_sitemaps_and_only_pages_of_their_own_site(site: Site, store: Store) -> None:
    site.pages["/index.xml"] = site.lists("/a.xml.gz", "/index.xml", of="sitemap")
    site.pages["/a.xml.gz"] = gzip.compress(site.lists("/wind", "/water", "http://127.0.0.1:1/x").encode())
    names, failed = store(sitemap=f"{site.url}/index.xml")

    assert (len(names), failed) == (2, [])


def test_pages_are_limited_in_number_and_size(site: Site, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    site.pages["/large"] = b"x" * 1_000_001
    site.pages["/map.xml"] = site.lists("/wind", "/water")

    assert [one["source"] for one in store(f"{site.url}/large")[1]] == [f"{site.url}/large"]
    assert [len(found) for found in store(sitemap=f"{site.url}/map.xml", limit=1)] == [1, 0]
    monkeypatch.setattr(web_pages, "MAX_PAGES", 1)
    assert [len(found) for found in store(sitemap=f"{site.url}/map.xml")] == [1, 1]


def test_a_page_that_takes_too_long_is_given_up(site: Site, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_pages, "PAGE_S", 0.0)

    assert len(store(f"{site.url}/wind")[1]) == 1
