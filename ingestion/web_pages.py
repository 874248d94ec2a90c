"""Fetch pages of the web for an ingestion: those that are named, and those that sitemaps list.

Flow: addresses -> **here** -> a web archive of one page each in the corpus's folder of uploads -> an ordinary run reads
them (`reading/warc.py`), so that each document has the page's address. What a site's robots.txt forbids is left alone,
and so are networks that are not public, unless the settings open them. No links are followed.
"""

import gzip
import hashlib
import re
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.robotparser import RobotFileParser

import httpx

from errors import UnreadableError
from ingestion.reading.office.package import parse_xml
from loopback import is_public
from settings import VERSION, IngestSettings

AGENT = "Treeline"
MAX_PAGES, MAX_SITEMAPS, MAX_HOPS = 1000, 50, 5
# Of one page, from the first byte asked for to the last; of robots.txt and sitemaps too.
PAGE_S, MAX_LIST_BYTES = 60.0, 50_000_000
# A site may ask for longer pauses between its pages.
MOST_PAUSE_S = 10.0
_NAME_CHARS = 120


class Page(NamedTuple):
    """An answer: where it came from after redirections, its status and type, and what it holds, decompressed."""

    url: str
    status: int
    content_type: str
    body: bytes


class WebPages:
    """Fetches; a context manager that ends its connections.

    Args:
        settings: size of a page, and whether addresses may be private.
        stop: set it, from any thread, to fetch no more.
    """

    def __init__(self, settings: IngestSettings, stop: threading.Event) -> None:
        self._max_bytes = settings.max_file_mb * 1_000_000
        self._private = settings.private_addresses
        self._stop = stop
        self._robots: dict[str, RobotFileParser] = {}
        # A proxy would resolve names by itself, and they could not be looked at.
        self._client = httpx.Client(headers={"user-agent": f"{AGENT}/{VERSION}"}, timeout=PAGE_S, trust_env=False)

    def __enter__(self) -> "WebPages":
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.close()

    def store(
        self, addresses: Iterable[str], sitemaps: Iterable[str], folder: Path, limit: int | None = None
    ) -> tuple[tuple[str, ...], list[dict[str, str]]]:
        """Fetch pages, and return the names of their files and what could not be fetched: `source` and `reason`.

        Args:
            addresses: of pages.
            sitemaps: addresses of lists of pages, which may list further lists.
            folder: for the files; one of the same page is replaced.
            limit: pages, at most; `MAX_PAGES` if None.
        """
        names: list[str] = []
        failed: list[dict[str, str]] = []
        listed = (page for sitemap in sitemaps for page in self._listed(sitemap, failed))
        most = min(limit or MAX_PAGES, MAX_PAGES)
        for count, address in enumerate(dict.fromkeys((*addresses, *listed))):
            if count >= most or self._stop.is_set():
                reason = f"Only {most:,} pages are fetched at a time. Name the others in another run."
                failed += [] if self._stop.is_set() or limit else [{"source": address, "reason": reason}]
                break
            try:
                page = self._page(address)
            except UnreadableError as error:
                failed.append({"source": address, "reason": str(error)})
                continue
            names.append(_file_name(address))
            (folder / names[-1]).write_bytes(_archived(page))
        return tuple(dict.fromkeys(names)), failed

    def _listed(self, sitemap: str, failed: list[dict[str, str]]) -> Iterator[str]:
        """Yield the pages of a sitemap's own site that it and the sitemaps in it list."""
        waiting, seen = [sitemap], set[str]()
        while waiting and len(seen) < MAX_SITEMAPS and not self._stop.is_set():
            address = waiting.pop(0)
            seen.add(address)
            try:
                body = self._get(address, MAX_LIST_BYTES).body
                if body.startswith(b"\x1f\x8b"):
                    body = _unpacked(body)
                remedy = "Check the address: `--sitemap` takes the XML that lists a site's pages."
                root = parse_xml(body, UnreadableError(f"{address} is not a sitemap.", remedy))
            except UnreadableError as error:
                failed.append({"source": address, "reason": str(error)})
                continue
            for entry in root.iter("{*}url", "{*}sitemap"):
                found = (entry.findtext("{*}loc") or "").strip()
                if urlsplit(found).netloc != urlsplit(sitemap).netloc:
                    continue
                if entry.tag.endswith("}url") or entry.tag == "url":
                    yield found
                elif found not in seen:
                    waiting.append(found)

    def _page(self, address: str) -> Page:
        if pause_s := float(self._rules(address).crawl_delay(AGENT) or 0):
            self._stop.wait(min(pause_s, MOST_PAUSE_S))
        return self._get(address, self._max_bytes, is_page=True)

    def _rules(self, address: str) -> RobotFileParser:
        """Return what a site allows: all without a robots.txt, nothing while it cannot be read."""
        parts = urlsplit(address)
        site = f"{parts.scheme}://{parts.netloc}"
        if site not in self._robots:
            rules = RobotFileParser()
            found = self._get(f"{site}/robots.txt", MAX_LIST_BYTES, any_status=True)
            if found.status < 300:
                rules.parse(found.body.decode("utf-8", "replace").splitlines())
            else:  # as RFC 9309 has it
                is_absent = 400 <= found.status < 500 and found.status != 429
                rules.parse([] if is_absent else ["User-agent: *", "Disallow: /"])
            self._robots[site] = rules
        return self._robots[site]

    def _get(self, address: str, max_bytes: int, *, is_page: bool = False, any_status: bool = False) -> Page:
        """Return what stands at an address; `is_page` asks its robots.txt before, `any_status` takes refusals too.

        Raises:
            UnreadableError: nothing, or it may not be asked, or it is too large or too slow.
        """
        url, end_s = address, time.monotonic() + PAGE_S
        for _ in range(MAX_HOPS):
            self._check_name(url)
            if is_page and not self._rules(url).can_fetch(AGENT, url):
                raise UnreadableError(f"The site's robots.txt forbids {url}.", "Ask its owner, or leave it out.")
            try:
                with self._client.stream("GET", url) as reply:
                    # The name may lead elsewhere by now.
                    self._check_host(reply.extensions["network_stream"].get_extra_info("server_addr")[0], url)
                    if reply.has_redirect_location:
                        url = str(reply.url.join(reply.headers["location"]))
                        continue
                    if not (reply.is_success or any_status):
                        fact = f"{url} answers with status {reply.status_code}."
                        raise UnreadableError(fact, "Check the address, or try again later.")
                    body = b""
                    for piece in reply.iter_bytes():
                        body += piece
                        if len(body) > max_bytes or time.monotonic() > end_s:
                            fact = f"{address} is larger than {max_bytes // 1_000_000} MB, or took over {PAGE_S:.0f} s."
                            raise UnreadableError(fact, "Raise RAG_INGEST__MAX_FILE_MB, or leave it out.")
                    return Page(str(reply.url), reply.status_code, reply.headers.get("content-type", "text/html"), body)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                fact = f"{address} cannot be fetched: {error or type(error).__name__}."
                raise UnreadableError(fact, "Check the address, or try again later.") from error
        raise UnreadableError(f"{address} leads on more than {MAX_HOPS} times.", "Name the page that it leads to.")

    def _check_name(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            known = parts.scheme in ("http", "https") and parts.hostname
            found = {str(one[4][0]) for one in socket.getaddrinfo(parts.hostname, parts.port or 80)} if known else set()
            if not found:
                raise OSError(url)  # noqa: TRY301
        except (ValueError, OSError) as error:
            raise UnreadableError(f"{url} leads nowhere.", "Check the address: http or https, and its host.") from error
        for host in found:
            self._check_host(host, url)

    def _check_host(self, host: str, url: str) -> None:
        if not (self._private or is_public(host)):
            raise UnreadableError(
                f"{url} leads to {host}, which is not a public address.",
                "Set RAG_INGEST__PRIVATE_ADDRESSES=true to fetch pages of your own network.",
            )


def _unpacked(body: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(body)) as file:
            return file.read(MAX_LIST_BYTES)
    except (OSError, EOFError) as error:
        raise UnreadableError("The compressed sitemap is damaged.", "Name one that is whole.") from error


def _file_name(address: str) -> str:
    """Return the name of a page's file: readable, and its own."""
    parts = urlsplit(address)
    words = "-".join(re.findall(r"[\w.]+", f"{parts.netloc}{parts.path}", re.ASCII))[:_NAME_CHARS]
    return f"{words}-{hashlib.sha256(address.encode()).hexdigest()[:8]}.warc"


def _archived(page: Page) -> bytes:
    """Return a web archive of one page; without a time, so that an unchanged page is an unchanged file."""
    content_type = page.content_type.encode("ascii", "replace")
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type + b"\r\n\r\n" + page.body
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {page.url}\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(answer)}\r\n\r\n"
    )
    return head.encode() + answer + b"\r\n\r\n"
