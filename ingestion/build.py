"""Settings -> one ingestion run: opens the corpus, loads the embedder, starts the reader, and closes them all.

Flow: `__main__.py` (and the measurements) -> **here** -> `pipeline.py`.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from index.build import Embedding, open_corpus
from index.corpus import check_corpus_name, swap_in
from index.lock import CorpusLock
from ingestion.pipeline import Pipeline, Summary
from ingestion.reading.files import Skipped, SourceFile, list_files
from ingestion.reading.reader import Reader
from ingestion.splitting import TreeSplitter
from settings import Settings


def ingest(
    path: Path,
    settings: Settings,
    *,
    corpus: str,
    root_name: str = "",
    rebuild: bool = False,
    on_progress: Callable[[str, int], None] = lambda _source, _leaves: None,
) -> Summary:
    """Bring a folder, or one file, into the named corpus, which is made if it does not exist.

    Args:
        path: what to ingest; doc_ids are relative to this folder (or to the file's folder).
        settings: how to cut and embed; must match what the corpus was built with.
        corpus: its name.
        root_name: prefix of doc_ids.
        rebuild: build the corpus anew from `path`, beside the old one, and put it in its place at the end.
        on_progress: called with (source, leaves embedded so far).

    Raises:
        SettingsError: the corpus name is none.
        UnreadableError: `path` does not exist or cannot be looked into.
        CorpusError: the corpus is locked, damaged, or was built with other settings.
        ModelError: the embedding model cannot be loaded.
    """
    check_corpus_name(corpus)
    entries = list_files(path)  # first, so that a misspelt path makes no corpus
    embedding = Embedding(settings)
    if not rebuild:
        return _run(entries, settings, embedding, corpus, root_name, on_progress)
    target = settings.index.dir / corpus
    scratch = f".{corpus}.rebuild"
    shutil.rmtree(settings.index.dir / scratch, ignore_errors=True)
    target.mkdir(parents=True, exist_ok=True)
    lock = CorpusLock(target)
    try:
        summary = _run(entries, settings, embedding, scratch, root_name, on_progress)
        swap_in(settings.index.dir / scratch, target)
    finally:
        lock.release()
    summary.corpus = corpus
    return summary


def _run(  # noqa: PLR0917  # private, called from one place with names that match
    entries: Iterator[SourceFile | Skipped],
    settings: Settings,
    embedding: Embedding,
    corpus: str,
    root_name: str,
    on_progress: Callable[[str, int], None],
) -> Summary:
    opened = open_corpus(corpus, settings, embedding.manifest, create=True)
    try:
        with Reader(settings.ingest) as reader:
            splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.model.text_tokens)
            pipeline = Pipeline(opened, embedding, splitter, reader, root_name=root_name, on_progress=on_progress)
            return pipeline.run(entries)
    finally:
        opened.close()
