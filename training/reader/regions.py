"""`python -m training.reader.regions`: teach the shipped reader whole regions of real documentation.

Questions in users' own words are asked of real manuals and handbooks (`data/README.md`); the leaves that our retrieval
finds for them are the examples: each sentence of a region answers, and the leaves found beside it do not. Some of the
older questions are learnt again, so that the reader keeps what it knows. Documents are held out whole, for the figures
and for `training/gate`. `manifest.json` beside the weights names all inputs by their hashes.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import hashlib
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from errors import run_command
from index.embedding.model import load_embedding_model
from settings import load_settings
from training.questions import is_held_out
from training.reader.examples import Example, read_own, read_rows
from training.reader.found import found_examples

SEED = 7
OWN = Path(__file__).with_name("data")
REAL = ("devtools", "handbooks", "hardware", "selfhosted")
# Of the questions of older sets, this share is learnt again.
REPEATED = {"office": 0.5, "web": 0.35, "papers": 0.35, "manuals": 0.6, "everyday": 0.12, "wiki": 0.07}
EPOCHS, RATE = 1.5, 6e-5


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = argparse.ArgumentParser(prog="python -m training.reader.regions", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets: squad/corpus holds the articles")
    parser.add_argument(
        "--start", type=Path, default=Path("query_engine/reader/model"), help="the weights to go on from"
    )
    parser.add_argument("--checkpoint", type=Path, default=Path("var/regions.safetensors"), help="where it is kept")
    parser.add_argument("--out", type=Path, required=True, help="folder of the export")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def _train(arguments: argparse.Namespace) -> int:
    from tokenizers import Tokenizer  # noqa: PLC0415

    from training.reader.export import export  # noqa: PLC0415  # imports torch
    from training.reader.fit import encode, fit  # noqa: PLC0415
    from training.reader.weights import mean_weights, read_weights  # noqa: PLC0415

    encoder = load_embedding_model("minilm").folder
    found: list[Example] = []
    for name in REAL:
        found += found_examples(name, OWN / name / "docs", read_rows(OWN / name / "rows.jsonl"), load_settings())
    learnt = [one for one in found if not is_held_out(one.group)]
    learnt += _repeated(arguments.data)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    rows = encode(learnt, tokenizer)
    tests = encode([one for one in found if is_held_out(one.group)], tokenizer)
    arguments.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    start = read_weights(arguments.start, encoder)
    fit(rows, tests, encoder, arguments.checkpoint, epochs=EPOCHS, rate=RATE, start=start, seed=SEED)
    # The mean of both keeps what the first knew (Wortsman et al., 2022, arXiv 2109.01903).
    both = mean_weights([start, read_weights(arguments.checkpoint, encoder)])
    export(both, encoder, rows, arguments.out)
    manifest = {
        "start": _hash(arguments.start),
        "data": {name: _hash(OWN / name) for name in (*REAL, *REPEATED)},
        "examples": len(rows),
        "held_out": len(tests),
        "epochs": EPOCHS,
        "rate": RATE,
        "seed": SEED,
    }
    (arguments.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return 0


def unseen_rows(name: str) -> list[dict[str, Any]]:
    """Return the questions of a set about documents that the reader has not learnt from."""
    rows = read_rows(OWN / name / "rows.jsonl")
    return [row for row in rows if name not in REAL or is_held_out(f"{name}/{row['doc']}")]


def is_repeated(name: str, question: str) -> bool:
    """Whether a question of an older set is learnt again."""
    return random.Random(question).random() < REPEATED[name]  # noqa: S311


def _repeated(data: Path) -> list[Example]:
    rng = random.Random(SEED)  # noqa: S311
    found = []
    for name in REPEATED:
        documents = data / "squad" / "corpus" if name == "wiki" else OWN / name / "docs"
        examples = read_own(OWN / name / "rows.jsonl", documents, rng)
        found += [one for one in examples if is_repeated(name, one.question)]
    return found


def _hash(folder: Path) -> str:
    """Return one hash of all files of a folder, with their names."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
