"""Look into the files of Chroma's vector graph for damage that shows in no search yet.

Flow: `health/child.py` asks before it searches. The upper layers of the graph (`link_lists.bin`) only speed searches
up: torn ones are read without complaint, and spoil what is written next.
"""

import struct
from pathlib import Path

# hnswlib's header as Chroma writes it: version, offset of layer 0, capacity, elements, bytes an element, offsets of
# label and vector, highest layer, entry point, links an element (upper layers, layer 0, wanted), level factor, ef.
_HEADER = struct.Struct("<iQQQQQQiIQQQdQ")
_VERSION = 1


def torn_links(folder: Path) -> str | None:
    """Return what is wrong with the graph files below `folder`, the one that Chroma keeps; None if nothing is."""
    for path in sorted(folder.glob("*/header.bin")):
        header = path.read_bytes()
        if len(header) != _HEADER.size:
            return f"{path.name} has {len(header)} bytes instead of {_HEADER.size}."
        version, _, _, elements, *_, links, _, _, _, _ = _HEADER.unpack(header)
        lists = path.with_name("link_lists.bin")
        if version == _VERSION and lists.is_file() and not _is_whole(lists.read_bytes(), elements, links):
            return f"{lists.name} does not hold the links of {elements} leaves."
    return None


def _is_whole(data: bytes, elements: int, links: int) -> bool:
    """Whether there is a list an element: its size in bytes, then for each layer a number and `links` places."""
    row = 4 * (links + 1)
    at = 0
    for _ in range(elements):
        if at + 4 > len(data):
            return False
        (size,) = struct.unpack_from("<I", data, at)
        layers = range(at + 4, at + 4 + size, row)
        at += 4 + size
        if size % row or at > len(data):
            return False
        for layer in layers:
            used, *targets = struct.unpack_from(f"<{links + 1}I", data, layer)
            if used > links or any(target >= elements for target in targets[:used]):
                return False
    return at == len(data)
