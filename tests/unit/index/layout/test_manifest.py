"""The manifest: what must match, and what a torn file gives."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from errors import IndexDamagedError, IndexMismatchError
from index.embedding import probe
from index.layout.manifest import Manifest
from tests.fakes.corpora import MANIFEST


@pytest.mark.promise("G24")
@pytest.mark.parametrize(
    ("change", "variable"),
    [
        ({"weights_hash": "other"}, "RAG_EMBED__MODEL"),
        ({"pooling": "cls"}, "RAG_EMBED__MODEL"),
        ({"dimension": 768}, "RAG_EMBED__MODEL"),
        ({"query_prefix": "query: "}, "RAG_EMBED__QUERY_PREFIX"),
        ({"document_prefix": "passage: "}, "RAG_EMBED__DOCUMENT_PREFIX"),
        ({"leaf_tokens": 64}, "RAG_CHUNK__LEAF_TOKENS"),
        ({"middle_tokens": 256}, "RAG_CHUNK__MIDDLE_TOKENS"),
        ({"root_tokens": 1024}, "RAG_CHUNK__ROOT_TOKENS"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_each_differing_field_is_refused_with_both_values(change: dict[str, Any], variable: str) -> None:
    field, wanted = next(iter(change.items()))
    with pytest.raises(IndexMismatchError) as caught:
        MANIFEST.check(replace(MANIFEST, identity=replace(MANIFEST.identity, **change)), "books")

    assert f"{field}={getattr(MANIFEST.identity, field)!r}" in caught.value.fact
    assert repr(wanted) in caught.value.fact
    assert variable in caught.value.remedy
    assert "reembed" in caught.value.remedy


def test_precision_is_not_compared() -> None:
    replace(MANIFEST, precision="bf16").check(MANIFEST, "books")


def served(likeness: float = 1.0, dimension: int = 8) -> Manifest:
    """Return the manifest of a model on a server whose vectors have this cosine with those of `served()`."""
    vectors = np.zeros((len(probe.TEXTS), dimension), np.float32)
    vectors[:, 0], vectors[:, 1] = likeness, (1 - likeness**2) ** 0.5
    return replace(MANIFEST, model_vectors=probe.to_text(vectors))


def test_vectors_of_a_model_on_a_server_are_kept_and_compared_with_a_tolerance(tmp_path: Path) -> None:
    served().write(tmp_path)
    stored = Manifest.read(tmp_path)

    stored.check(served(0.99), "books")
    stored.check(MANIFEST, "books")  # the server was not asked

    assert stored.same_model(served(0.99))
    assert not stored.same_model(served(0.9))


@pytest.mark.parametrize(
    ("now", "fact"),
    [(served(0.5), "a cosine of 0.500 with those of then"), (served(dimension=4), "4 numbers instead of 8")],
    ids=["another model", "another length"],
)
def test_another_model_on_the_server_is_refused(now: Manifest, fact: str) -> None:
    with pytest.raises(IndexMismatchError, match=fact) as caught:
        served().check(now, "books")

    assert "reembed --corpus books" in caught.value.remedy


def test_vectors_that_cannot_be_read_are_damage() -> None:
    with pytest.raises(IndexDamagedError, match="--rebuild"):
        replace(MANIFEST, model_vectors="torn").check(served(), "books")


@pytest.mark.parametrize("content", ["", '{"format": 1', '{"format": 99}', "[]"])
def test_a_torn_or_foreign_manifest_is_damage(tmp_path: Path, content: str) -> None:
    (tmp_path / "manifest.json").write_text(content)

    with pytest.raises(IndexDamagedError, match="--rebuild"):
        Manifest.read(tmp_path)
