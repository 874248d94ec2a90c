"""List the corpora of the index folder, delete one, or give one another name.

Flow: `python -m ingestion corpora`, `GET /corpora` -> **here**. Listing takes no lock: a corpus that a service holds is
listed like any other, and one that is damaged as well, with the reason.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from errors import RagError, SettingsError, UnknownCorpusError
from index.build import servers_of
from index.corpus import check_corpus_name, corpus_names, exists
from index.disk import folder_bytes
from index.documents.catalogue import Catalogue
from index.documents.rights import Groups, allowed
from index.documents.store import DocumentStore
from index.documents.tables import closing_engine
from index.documents.totals import recorded_totals
from index.layout.locations import Servers
from index.layout.lock import CorpusLock, holder_of
from index.layout.manifest import Manifest
from index.layout.swap import finish_swap, rebuilt, reembedded
from settings import Settings


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """One corpus, as far as it can be read.

    Attributes:
        name: of its folder.
        bytes: size of the folder on disk; what it has on servers is not counted.
        documents: their number.
        leaves: number of leaves of all documents.
        model: the embedding model, as it was set.
        precision: arithmetic that its vectors were made with.
        created_at: ISO 8601, UTC.
        last_ingested_at: when the newest document came in; None if there is none.
        held_by: who has it open: `process 123`, or `process 123 at http://...`; None if nobody.
        problem: why the facts that are None could not be read.
    """

    name: str
    bytes: int
    documents: int | None = None
    leaves: int | None = None
    model: str | None = None
    precision: str | None = None
    created_at: str | None = None
    last_ingested_at: str | None = None
    held_by: str | None = None
    problem: str | None = None


def list_corpora(settings: Settings, groups: Groups | None = None) -> list[CorpusFacts]:
    """Return all corpora of the index folder, by name; the documents are those that some groups see, None: all."""
    root, servers = settings.index.dir, servers_of(settings)
    return [_facts(root / name, servers, groups) for name in corpus_names(root)]


def documents_on_disk(name: str, settings: Settings, wanted: Manifest) -> int:
    """Return how many documents a corpus has, without opening it: no lock is taken, and only the totals are read.

    Raises:
        IndexMismatchError: it was built otherwise than `wanted` says.
        IndexDamagedError: its manifest or its documents cannot be read.
        StoreUnavailableError: a server does not answer.
    """
    folder, servers = settings.index.dir / name, servers_of(settings)
    manifest = Manifest.read(folder)
    manifest.check(wanted, name)
    servers.check(manifest, name)
    if not servers.has_documents(folder, manifest):
        return 0
    with closing_engine(servers.look_into_documents(folder, manifest)) as engine:
        return recorded_totals(engine).documents


def corpus_folder(name: str, settings: Settings) -> Path:
    """Return the folder of a corpus that there is, put in its place if a crash left it aside.

    Raises:
        SettingsError: `name` cannot name a corpus.
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: the process that puts it in its place is alive.
    """
    check_corpus_name(name)
    folder = settings.index.dir / name
    finish_swap(folder)
    if not exists(folder):
        raise UnknownCorpusError.of(name, corpus_names(folder.parent))
    return folder


def drop(name: str, settings: Settings) -> CorpusFacts:
    """Delete a corpus with all that belongs to it; return what it was.

    Raises:
        SettingsError: `name` cannot name a corpus.
        UnknownCorpusError: there is no such corpus.
        CorpusLockedError: another process holds it.
        IndexMismatchError: its stores are on servers that the settings do not name.
        StoreUnavailableError: a server does not answer; the corpus is still there.
    """
    folder = corpus_folder(name, settings)
    with CorpusLock(folder):
        servers = servers_of(settings)
        facts = _facts(folder, servers)
        servers.discard(folder)
        for unfinished in (rebuilt(folder), reembedded(folder)):
            servers.discard(unfinished)
    return facts


def rename(old: str, new: str, settings: Settings) -> None:
    """Give a corpus another name; nothing of it is copied.

    Raises:
        SettingsError: a name cannot name a corpus, or there is a corpus `new`.
        UnknownCorpusError: there is no corpus `old`.
        CorpusLockedError: another process holds it.
    """
    check_corpus_name(new)
    folder = corpus_folder(old, settings)
    target = folder.with_name(new)
    with CorpusLock(folder):
        if target.exists():
            raise SettingsError(f"There is a corpus {new!r} already.", "Choose another name, or drop that one.")
        folder.rename(target)


def _facts(folder: Path, servers: Servers, groups: Groups | None = None) -> CorpusFacts:
    facts = CorpusFacts(folder.name, folder_bytes(folder), held_by=holder_of(folder))
    try:
        manifest = Manifest.read(folder)
        facts = replace(facts, model=manifest.model, precision=manifest.precision, created_at=manifest.created_at)
        servers.check(manifest, folder.name)
        if not servers.has_documents(folder, manifest):
            return replace(facts, documents=0, leaves=0)
        with closing_engine(servers.look_into_documents(folder, manifest)) as engine:
            totals = recorded_totals(engine) if groups is None else DocumentStore(engine).sight(groups).totals
            newest = Catalogue(engine, None if groups is None else allowed(groups)).last_ingested_at()
            return replace(facts, documents=totals.documents, leaves=totals.leaves, last_ingested_at=newest)
    except RagError as error:
        return replace(facts, problem=str(error))
