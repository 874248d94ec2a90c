"""What an index was built with, kept beside it as `manifest.json`.

Flow: made with the corpus, compared at every opening. Identity (embedding weights, pooling, prefixes, dimension,
chunk sizes) must match, because vectors of two recipes cannot be compared; precision is recorded, not compared. Of a
model on a server only the name is known, so the vectors that it gives to fixed texts are kept and compared as well.
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
from index.embedding import probe

FORMAT = 2
FILE_NAME = "manifest.json"
VARIABLES = {
    "weights_hash": "RAG_EMBED__MODEL",
    "pooling": "RAG_EMBED__MODEL",
    "dimension": "RAG_EMBED__MODEL or RAG_EMBED__DIMENSIONS",
    "query_prefix": "RAG_EMBED__QUERY_PREFIX",
    "document_prefix": "RAG_EMBED__DOCUMENT_PREFIX",
    "root_tokens": "RAG_CHUNK__ROOT_TOKENS",
    "middle_tokens": "RAG_CHUNK__MIDDLE_TOKENS",
    "leaf_tokens": "RAG_CHUNK__LEAF_TOKENS",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Everything that must be equal for two vectors to be comparable.

    Attributes:
        weights_hash: of the model; for one on a server `server:` and its name there.
        pooling: how token vectors become one; `server` if that is not known.
        dimension: length of a vector; 0 if it is left to a server.
        query_prefix: put before each question.
        document_prefix: put before each passage.
        root_tokens: size of a root passage.
        middle_tokens: size of a middle passage.
        leaf_tokens: size of a leaf.
    """

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
        model_vectors: of the fixed texts of `embedding/probe.py`, by a model on a server; empty for one in a folder,
            and in what settings ask for before the server is asked.
    """

    identity: Identity
    model: str
    precision: str
    corpus_id: str = ""
    created_at: str = ""
    documents_at: str = "folder"
    vectors_at: str = "folder"
    model_vectors: str = ""

    def created(self) -> "Manifest":
        """Return the manifest of a new corpus made with these settings."""
        return replace(self, corpus_id=uuid4().hex, created_at=datetime.now(UTC).isoformat(timespec="seconds"))

    def to_json(self) -> str:
        """Return the contents of the file."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)

    @classmethod
    def of_json(cls, text: str) -> "Manifest":
        """Return what `to_json` was called on.

        Raises:
            ValueError, KeyError, TypeError: it is torn, or of another format.
        """
        raw = json.loads(text)
        if raw.pop("format") != FORMAT:
            raise ValueError("it is of another release's format")
        return cls(Identity(**raw.pop("identity")), **raw)

    def write(self, folder: Path) -> None:
        """Write the file so that a crash leaves either the old one or the new one."""
        text = self.to_json()
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
            return cls.of_json((folder / FILE_NAME).read_text())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise _unreadable(folder.name, error) from error

    def check(self, wanted: "Manifest", corpus: str) -> None:
        """Compare with what the settings ask for, and with how a model on a server answers now, if it was asked.

        Raises:
            IndexMismatchError: a field differs; names it, both values and the ways out.
            IndexDamagedError: what the model answered once cannot be read.
        """
        for item in fields(Identity):
            stored, now = getattr(self.identity, item.name), getattr(wanted.identity, item.name)
            if stored != now:
                raise IndexMismatchError.of(
                    item.name, stored=stored, wanted=now, corpus=corpus, variable=VARIABLES[item.name]
                )
        if self.model_vectors and wanted.model_vectors:
            self._check_model(wanted.model_vectors, corpus)

    def same_model(self, other: "Manifest") -> bool:
        """Say whether both were made by one model, as far as its vectors tell; raises IndexDamagedError as `check`."""
        try:
            self.check(other, "")
        except IndexMismatchError:
            return False
        return True

    def _check_model(self, vectors: str, corpus: str) -> None:
        try:
            stored = probe.from_text(self.model_vectors)
        except ValueError as error:
            raise _unreadable(corpus, error) from error
        now = probe.from_text(vectors)
        if stored.shape != now.shape:
            differs = f"its vectors have {now.shape[1]} numbers instead of {stored.shape[1]}"
        elif (cosine := probe.likeness(stored, now)) < probe.SAME_COSINE:
            differs = f"its vectors of three fixed texts have a cosine of {cosine:.3f} with those of then"
        else:
            return
        raise IndexMismatchError(
            f"The embedding server now runs another model than the one that made corpus {corpus!r}: {differs}.",
            "Let the server run the former model again, or embed the corpus with the new one: "
            f"`python -m ingestion reembed --corpus {corpus}`.",
        )


def _unreadable(corpus: str, error: Exception) -> IndexDamagedError:
    return IndexDamagedError(
        f"The manifest of corpus {corpus!r} cannot be read: {error}.",
        f"Run `python -m ingestion PATH --corpus {corpus} --rebuild`.",
    )
