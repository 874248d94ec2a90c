"""Tell by its vectors which model answers: those of three fixed texts, kept with each corpus.

Flow: `openai_server.py` has the texts embedded -> **here** -> `layout/manifest.py` keeps the vectors and compares them
at each opening. A model in a folder is known by the hash of its weights; one behind a URL only by what it answers.

Servers are not exact to the bit: batches, kernels and precision move vectors a little. So they are compared by cosine.
"""

from base64 import b64decode, b64encode

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

# Prose, figures and a word in another script.
TEXTS = (
    "The quick brown fox jumps over the lazy dog.",
    "In 2019, revenue rose 14.7% to $3.2 billion; see section 4(b).",
    "The train from Tokyo (東京) to Osaka takes two hours and a half.",
)
# The packaged model in int8 has a cosine of 0.995 or more with itself in fp32, in bf16 of 0.9999; two models share
# next to nothing.
SAME_COSINE = 0.98


def to_text(vectors: Vectors) -> str:
    """Return unit vectors, shape (3, dimension), as text for a JSON file."""
    # Half precision is a hundred times finer than what is compared.
    return b64encode(vectors.astype("<f2").tobytes()).decode()


def from_text(text: str) -> Vectors:
    """Return what `to_text` was given, shape (3, dimension); raises ValueError if it is not of that form."""
    return np.frombuffer(b64decode(text, validate=True), "<f2").astype(np.float32).reshape(len(TEXTS), -1)


def likeness(one: Vectors, other: Vectors) -> float:
    """Return the smallest cosine among pairs of rows, both of shape (texts, dimension); 0 if the dimensions differ."""
    if one.shape != other.shape:
        return 0.0
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float(((one * other).sum(axis=1) / lengths).min())
