"""`python -m training.reader`: train the reader from data sets and write it for the service.

Flow: argv -> **here** -> `examples.py`, `articles.py` and `found.py` -> `fit.py` -> `export.py`.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from errors import run_command
from index.embedding.model import load_embedding_model
from settings import Settings, load_settings
from training.reader import examples
from training.reader.articles import read_articles, rows_of_near_misses, rows_of_sentences, rows_of_squad
from training.reader.examples import Example, read_rows
from training.reader.found import FOUND, found_examples

SEED = 7
OWN = Path(__file__).with_name("data")
ASKED_OF_THE_GATE = Path(__file__).parents[1] / "gate" / "data" / "wiki.jsonl"
# Reported sets whose questions are about SQuAD's articles: these articles are not learnt from.
REPORTED = ("open_questions", "squad", "squad2")
EXCHANGED_SHARE = 0.3
SQUAD_SHARE = 0.6
# Where leaves are found, fewer passages are cut.
CUT_SHARE = 0.35
NEAR_MISSES = 6500
HELD_OUT = {"selqa": 0.05, "squad": 0.03, "clapnq": 0.06, "wiki": 0.1}
HELD_OUT_OF_OWN = 0.06


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.reader",
        description="Train the reader on one machine without a GPU (about an hour on two cores), and export it.",
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of data sets: selqa, squad, clapnq and others")
    parser.add_argument("--squad", type=Path, nargs="*", default=[], help="files of SQuAD 2.0, or parts of them")
    parser.add_argument("--clapnq", type=Path, nargs="*", default=[], help="files of CLAPNQ's annotated_data")
    parser.add_argument("--qed", type=Path, nargs="*", default=[], help="files of QED")
    parser.add_argument(
        "--found",
        nargs="*",
        metavar="NAME",
        help="learn also from the leaves that our retrieval finds for these own questions (default: all)",
    )
    parser.add_argument(
        "--sentences", type=Path, nargs=2, metavar=("SENTENCES", "QUESTIONS"), help="with --found: SQuAD by sentences"
    )
    parser.add_argument("--near-misses", type=Path, help="with --found: SQuAD2-CR's word_att_extended.tsv")
    parser.add_argument("--epochs", type=float, default=1.5, help="default: 1.5")
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate (default: 1e-4)")
    parser.add_argument("--start", type=Path, help="a checkpoint or an export to go on from (default: MiniLM)")
    parser.add_argument(
        "--average", type=Path, nargs="*", default=[], help="checkpoints or exports; the mean with them is exported"
    )
    parser.add_argument("--checkpoint", type=Path, default=Path("var/reader.safetensors"), help="where it is kept")
    parser.add_argument("--export-only", action="store_true", help="export the checkpoint, train nothing")
    parser.add_argument("--out", type=Path, default=Path("query_engine/reader/model"), help="folder of the export")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def _train(arguments: argparse.Namespace) -> int:
    from tokenizers import Tokenizer  # noqa: PLC0415

    from training.reader.export import export  # noqa: PLC0415  # imports torch
    from training.reader.fit import encode, fit  # noqa: PLC0415
    from training.reader.weights import mean_weights, read_weights  # noqa: PLC0415

    encoder = load_embedding_model("minilm").folder
    rng = random.Random(SEED)  # noqa: S311
    reported = _reported_articles(arguments.data)
    cut = list(_examples(arguments, reported, rng))
    leaves = list(_found(arguments, reported, rng)) if arguments.found is not None else []
    both = examples.without_giveaways(cut + leaves, rng)
    held = _held_out(both)
    learnt = [one for one in both if one.group not in held]
    if leaves:
        learnt = [one for one in learnt if FOUND in one.source or rng.random() < CUT_SHARE]
    learnt += list(examples.with_exchanged_names(learnt, EXCHANGED_SHARE, rng))
    learnt = [one for one in learnt if not one.source.startswith("squad") or rng.random() < SQUAD_SHARE]
    learnt += list(examples.with_exchanged_words([one for one in learnt if "exchanged" not in one.source], rng))
    print(f"{len(learnt)} examples: {dict(Counter(one.source for one in learnt))}", file=sys.stderr)
    tokenizer = Tokenizer.from_file(str(encoder / "tokenizer.json"))
    rows = encode(learnt, tokenizer)
    if not arguments.export_only:
        tests = encode([one for one in both if one.group in held], tokenizer)
        start = read_weights(arguments.start, encoder) if arguments.start else None
        arguments.checkpoint.parent.mkdir(parents=True, exist_ok=True)
        fit(
            rows,
            tests,
            encoder,
            arguments.checkpoint,
            epochs=arguments.epochs,
            rate=arguments.rate,
            start=start,
            seed=SEED,
        )
    weights = mean_weights([read_weights(path, encoder) for path in (arguments.checkpoint, *arguments.average)])
    export(weights, encoder, rows, arguments.out)
    return 0


def _examples(arguments: argparse.Namespace, reported: set[str], rng: random.Random) -> Iterator[Example]:
    data: Path = arguments.data
    yield from examples.read_selqa(data / "selqa" / "questions.jsonl", rng)
    for path in arguments.squad:
        yield from examples.read_squad(path, reported, rng)
    asked = {row["question"].strip() for row in read_rows(data / "clapnq" / "questions.jsonl")}
    for path in arguments.clapnq:
        yield from examples.read_clapnq(path, asked, rng)
    for name in _own_names():
        documents = data / "squad" / "corpus" if name == "wiki" else OWN / name / "docs"
        yield from examples.read_own(OWN / name / "rows.jsonl", documents, rng)
    for path in arguments.qed:
        yield from examples.read_qed(path, asked, rng)


def _found(arguments: argparse.Namespace, reported: set[str], rng: random.Random) -> Iterator[Example]:
    settings = load_settings()
    for name in arguments.found or _own_names():
        if name == "wiki":
            yield from _found_in_articles(arguments, reported, settings, rng)
        else:
            rows = list(read_rows(OWN / name / "rows.jsonl"))
            yield from found_examples(name, OWN / name / "docs", rows, settings, other_documents=False)


def _found_in_articles(
    arguments: argparse.Namespace, reported: set[str], settings: Settings, rng: random.Random
) -> Iterator[Example]:
    corpus: Path = arguments.data / "squad" / "corpus"
    left_out = reported | {Path(row["doc"]).stem for row in read_rows(ASKED_OF_THE_GATE)}
    articles = read_articles(corpus, left_out)
    rows = list(read_rows(OWN / "wiki" / "rows.jsonl"))
    for path in arguments.squad:
        rows += rows_of_squad(path, articles)
    if arguments.sentences:
        sentences, questions = arguments.sentences
        rows += rows_of_sentences(sentences, questions, articles)
    if arguments.near_misses:
        asked = list(rows_of_near_misses(arguments.near_misses, read_articles(corpus, ())))
        asked = [row for row in asked if Path(row["doc"]).stem in articles]
        rows += rng.sample(asked, min(NEAR_MISSES, len(asked)))
    files = {f"{name}.txt" for name in left_out}
    yield from found_examples("wiki", corpus, rows, settings, other_documents=True, leave_out=files)


def _own_names() -> list[str]:
    return sorted(path.name for path in OWN.iterdir() if path.is_dir())


def _reported_articles(data: Path) -> set[str]:
    names = set()
    for name in REPORTED:
        for row in read_rows(data / name / "questions.jsonl"):
            named = [*(row.get("relevant_docs") or []), *(region["doc"] for region in row.get("regions") or [])]
            names |= {Path(document).stem for document in named}
    return names


def _held_out(found: Sequence[Example]) -> set[str]:
    rng = random.Random(SEED)  # noqa: S311
    groups = sorted({one.group for one in found})
    return {group for group in groups if rng.random() < HELD_OUT.get(group.partition("/")[0], HELD_OUT_OF_OWN)}


if __name__ == "__main__":
    sys.exit(main())
