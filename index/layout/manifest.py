"""What an index was built with, kept beside it as `manifest.json`.

Flow: made with the corpus, compared at every opening. Identity (embedding weights, pooling, prefixes, dimension,
chunk sizes) must match, because vectors of two recipes cannot be compared; precision is recorded, not compared.
"""

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from errors import IndexDamagedError, IndexMismatchError
from index.disk import sync_folder

FORMAT = 2
FILE_NAME = "manifest.json"
VARIABLES = {
    "weights_hash": "RAG_EMBED__MODEL",
    "pooling": "RAG_EMBED__MODEL",
    "dimension": "RAG_EMBED__MODEL",
    "query_prefix": "RAG_EMBED__QUERY_PREFIX",
    "document_prefix": "RAG_EMBED__DOCUMENT_PREFIX",
    "root_tokens": "RAG_CHUNK__ROOT_TOKENS",
    "middle_tokens": "RAG_CHUNK__MIDDLE_TOKENS",
    "leaf_tokens": "RAG_CHUNK__LEAF_TOKENS",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that must be equal for two vectors to be comparable."""

    weights_hash: str
    pooling: str
    dimension: int
    query_prefix: str
    document_prefix: str
    root_tokens: int
    middle_tokens: int
    leaf_tokens: int

    def fingerprint(self) -> str:
        """Hash of all fields, 16 hex digits; part of every document version."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of `manifest.json`.

    Attributes:
        identity: what must match.
        model: name of the embedding model, for people.
        precision: arithmetic the vectors were made with; not compared.
        corpus_id: identifies this corpus even if its folder is renamed; empty in what settings ask for.
        created_at: when it was made, in ISO 8601, UTC.
        documents_at: `folder` or `server`.
        vectors_at: `folder` or `server`.
    """

    identity: Identity
    model: str
    precision: str
    corpus_id: str = ""
    created_at: str = ""
    documents_at: str = "folder"
    vectors_at: str = "folder"

    def born(self) -> "Manifest":
        """Return the manifest of a new corpus made with these settings."""
        return replace(self, corpus_id=uuid4().hex, created_at=datetime.now(UTC).isoformat(timespec="seconds"))

    def write(self, folder: Path) -> None:
        """Write the file so that a crash leaves either the old one or the new one."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, indent=1)
        scratch = folder / f".{FILE_NAME}"
        with scratch.open("w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(folder / FILE_NAME)
        sync_folder(folder)

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """Read the manifest of the corpus in `folder`.

        Raises:
            IndexDamagedError: the file is missing, torn or of another format.
        """
        try:
            raw = json.loads((folder / FILE_NAME).read_text())
            if raw.pop("format") != FORMAT:
                raise ValueError("it is of another release's format")  # noqa: TRY301  # one message for all causes
            return cls(Identity(**raw.pop("identity")), **raw)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise IndexDamagedError(
                f"The manifest of corpus {folder.name!r} cannot be read: {error}.",
                f"Run `python -m ingestion PATH --corpus {folder.name} --rebuild`.",
            ) from error

    def check(self, wanted: Identity, corpus: str) -> None:
        """Compare with what the settings ask for.

        Raises:
            IndexMismatchError: a field differs; names it, both values and the ways out.
        """
        for item in fields(Identity):
            stored, now = getattr(self.identity, item.name), getattr(wanted, item.name)
            if stored != now:
                raise IndexMismatchError.of(
                    item.name, stored=stored, wanted=now, corpus=corpus, variable=VARIABLES[item.name]
                )
