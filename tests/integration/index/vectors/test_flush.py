"""Chroma's graph is whole on disk once it was settled, and goes on as before."""

import struct
from pathlib import Path

import numpy as np

from index.vectors.chroma import WRITTEN_AFTER, open_embedded
from index.vectors.flush import flush

LEAVES = 1300
VECTORS = np.random.default_rng(0).standard_normal((LEAVES, 8)).astype(np.float32)


def written(folder: Path) -> int:
    """Return how many vectors the graph on disk holds."""
    (header,) = folder.glob("*/header.bin")
    elements: int = struct.unpack_from("<iQQQ", header.read_bytes())[3]
    return elements


def fill(folder: Path, first: int, last: int) -> None:
    collection = open_embedded(folder)
    for start in range(first, last, 100):
        names = [f"v.{number}" for number in range(start, start + 100)]
        collection.upsert(names, VECTORS[start : start + 100])
        collection.nearest(VECTORS[0], 1)
    collection.close()


def test_what_chroma_left_out_of_its_graph_is_written_and_found(tmp_path: Path) -> None:
    fill(tmp_path, 0, 1200)
    assert written(tmp_path) < 1200, "Chroma writes its graph as it goes: nothing has to be settled any more"

    flush(tmp_path)

    assert written(tmp_path) == 1200
    collection = open_embedded(tmp_path)
    assert collection.count() == 1200
    assert [collection.nearest(VECTORS[place], 1)[0][0] for place in (0, 1199)] == ["v.0", "v.1199"]
    assert collection.raw.configuration_json["hnsw"]["sync_threshold"] == WRITTEN_AFTER
    collection.close()


def test_after_a_kill_midway_the_graph_is_not_written_at_every_change(tmp_path: Path) -> None:
    fill(tmp_path, 0, 1200)
    collection = open_embedded(tmp_path)
    collection.write_graph()
    collection.close()  # and here the kill

    fill(tmp_path, 1200, 1300)

    assert written(tmp_path) == 1200


def test_an_empty_collection_has_nothing_to_settle(tmp_path: Path) -> None:
    flush(tmp_path)

    collection = open_embedded(tmp_path)
    assert collection.count() == 0
    collection.close()
