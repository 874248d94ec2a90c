"""Settings -> the sources that they name. The only place that constructs them.

Flow: `main.py`, `bench` -> **here** -> `engine.py`, or a research loop. Nothing is connected to: a source that is down
does not stop the start; one that is unknown, or lacks its address or key, does. A step of a pipeline opens one source
at a time, and may name its server where `addresses.py` allows it.
"""

import difflib
import logging
from collections.abc import Callable, Sequence
from typing import TypeVar
from urllib.parse import urldefrag

from errors import SettingsError
from query_engine.build import Engines
from settings import Settings, SourcesSettings
from sources.addresses import ANY, chosen_server, is_allowed, server_of
from sources.base import Source
from sources.chroma import ForeignChroma, address_of
from sources.engine import SourceEngine
from sources.http_client import JsonClient
from sources.meilisearch import MeiliSearch
from sources.mosaic import Mosaic
from sources.organisers import CLUEWEB, FINEWEB, OrganisersSearch

logger = logging.getLogger(__name__)

Embed = Callable[[str], Sequence[float]]
Value = TypeVar("Value")


def build_sources(settings: Settings, embed: Embed) -> list[Source]:
    """Return the sources of `RAG_ANSWER__SOURCES`, in that order, each once; none if it is not set.

    Args:
        settings: all of them.
        embed: a query -> its vector, by the model of the settings; may block.

    Raises:
        SettingsError: a source is unknown, or its address, key, index or collection is not set.
    """
    names = [name.strip() for name in (settings.answer.sources or "").split(",") if name.strip()]
    return [_source(name, settings.sources, embed) for name in dict.fromkeys(names)]


def open_source(name: str, settings: SourcesSettings, embed: Embed, *, url: str = "", part: str = "") -> Source:
    """Return one source, of the settings or as a request describes it.

    Args:
        name: one of `SOURCES`.
        settings: addresses, keys, limits.
        embed: as for `build_sources`.
        url: the server, where the request names one; empty takes that of the settings.
        part: its index or collection, where the request names one, well formed; empty takes that of the settings.

    Raises:
        SettingsError: there is no such source, something is not set, or the request names what is not allowed. A key
            goes to the server of the settings and no other.
    """
    if name not in SOURCES:
        raise _unknown(name, "The source is called")
    if name == "fineweb" and not {"fineweb_url", "fineweb_key"} & settings.model_fields_set:
        raise SettingsError(
            "The source 'fineweb' is not set up.", "Have the operator set RAG_SOURCES__FINEWEB_URL: queries go there."
        )
    if name not in {"mosaic", "meilisearch", "chroma"}:
        return SOURCES[name](settings, embed)
    part_field = "collection" if name == "chroma" else "index"
    configured, known = urldefrag(getattr(settings, f"{name}_url") or "")
    chosen = chosen_server(name, url, configured or None, settings)
    ours = bool(configured) and server_of(chosen) == server_of(configured)
    # Without an index in the settings all of a MOSAIC service's are searched.
    pinned = bool(known) or name != "mosaic"
    if part and part != known and pinned and not is_allowed(chosen, settings):
        raise SettingsError(
            f"The {part_field} {part[:100]!r} of {chosen} is not allowed.",
            f"Leave `{part_field}` out to search that of RAG_SOURCES__{name.upper()}_URL, or have the operator add the "
            "server to RAG_SOURCES__ALLOWED_URLS.",
        )
    searched = part or (known if ours else "")
    asked: dict[str, object] = {f"{name}_url": f"{chosen}#{searched}" if searched else chosen}
    if not ours and name != "mosaic":
        asked[f"{name}_key"] = None
    return SOURCES[name](settings.model_copy(update=asked), embed)


def build_source_engine(engines: Engines, settings: Settings) -> SourceEngine | None:
    """Return what answers from the sources of the settings; None if they name none.

    Args:
        engines: of the process.
        settings: all of them.

    Raises:
        SettingsError: as `build_sources`; or a corpus has the name that stands for the sources.
    """
    if settings.sources.mosaic_url == ANY:
        logger.warning("A pipeline's step may have this service ask any public server: RAG_SOURCES__MOSAIC_URL is *.")
    sources = build_sources(settings, engines.embed_query)
    if not sources:
        return None
    if SourceEngine.name in engines.names():
        raise SettingsError(
            f"A corpus is named {SourceEngine.name!r}, which stands for the sources in RAG_ANSWER__SOURCES.",
            "Ingest its documents under another name, or unset RAG_ANSWER__SOURCES.",
        )
    return SourceEngine(engines, sources, settings)


def _source(name: str, settings: SourcesSettings, embed: Embed) -> Source:
    if name not in SOURCES:
        raise _unknown(name, "RAG_ANSWER__SOURCES names")
    return SOURCES[name](settings, embed)


def _unknown(name: str, fact: str) -> SettingsError:
    near = difflib.get_close_matches(name, SOURCES, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return SettingsError(f"{fact} {name!r}, and there is no such source.", f"{hint}Known: {', '.join(SOURCES)}.")


def _clueweb(settings: SourcesSettings, _embed: Embed) -> Source:
    key = _needed("clueweb", "key", settings.clueweb_key)
    url, _, options = settings.clueweb_url.partition("?")
    return OrganisersSearch(JsonClient("clueweb", url, key.get_secret_value()), CLUEWEB, options)


def _fineweb(settings: SourcesSettings, _embed: Embed) -> Source:
    key = settings.fineweb_key.get_secret_value() if settings.fineweb_key else ""
    url, _, options = settings.fineweb_url.partition("?")
    return OrganisersSearch(JsonClient("fineweb", url, key), FINEWEB, options)


def _meilisearch(settings: SourcesSettings, _embed: Embed) -> Source:
    key = settings.meilisearch_key.get_secret_value() if settings.meilisearch_key else ""
    url, index = _place("meilisearch", "index", settings.meilisearch_url)
    return MeiliSearch(JsonClient("meilisearch", url, key, "authorization"), index)


def _mosaic(settings: SourcesSettings, _embed: Embed) -> Source:
    url, index = urldefrag(_needed("mosaic", "url", None if settings.mosaic_url == ANY else settings.mosaic_url))
    return Mosaic(JsonClient("mosaic", url), index or None)


def _chroma(settings: SourcesSettings, embed: Embed) -> Source:
    from index.vectors.chroma import nearest_texts  # noqa: PLC0415  # Chroma takes seconds to import

    url, collection = _place("chroma", "collection", settings.chroma_url)
    token = settings.chroma_key.get_secret_value() if settings.chroma_key else None

    def nearest(vector: Sequence[float], k: int, timeout_s: float) -> list[tuple[str, str | None, dict[str, object]]]:
        return nearest_texts(url, collection, vector, k, timeout_s=timeout_s, token=token)

    return ForeignChroma(address_of(url, collection), embed, nearest)


def _place(source: str, part: str, url: str | None) -> tuple[str, str]:
    """Return the server of an address, and what is searched there."""
    server, searched = urldefrag(_needed(source, "url", url))
    if not searched:  # the settings name one, a step may name a server alone
        raise SettingsError(f"The source {source!r} has no {part}.", "Name one in the step.")
    return server, searched


def _needed(source: str, field: str, value: Value | None) -> Value:
    if value is None:
        raise SettingsError(
            f"The source {source!r} has no {field}.",
            f"Set RAG_SOURCES__{source.upper()}_{field.upper()}, or take {source!r} out of RAG_ANSWER__SOURCES.",
        )
    return value


SOURCES: dict[str, Callable[[SourcesSettings, Embed], Source]] = {
    "clueweb": _clueweb,
    "fineweb": _fineweb,
    "meilisearch": _meilisearch,
    "chroma": _chroma,
    "mosaic": _mosaic,
}
