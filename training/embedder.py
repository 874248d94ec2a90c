"""`python -m training.embedder`: fine-tune the embedding model on questions and the texts that answer them.

Flow: questions with reference texts -> **here**, by sentence-transformers -> a folder for `RAG_EMBED__MODEL`. The loss
is multiple negatives ranking (Henderson et al., 2017, arXiv 1705.00652): a question's text against all others of its
batch. Whether answers get better, `python -m bench retrieval` and `python -m eval` say.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from errors import SettingsError, packages_for, run_command
from eval.tables import aligned, figure
from index.embedding.model import EmbeddingModel, load_embedding_model
from settings import EmbedSettings, load_settings
from training.questions import is_held_out, read_training_questions
from training.recipe import PACKAGES, parser_of, refuse_existing, trainer_options

METRICS = ("cosine_mrr@10", "cosine_ndcg@10", "cosine_recall@10")
OFFLINE = {"local_files_only": True}

Pair = tuple[str, str]


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = parser_of(
        "python -m training.embedder",
        "Fine-tune the embedding model (RAG_EMBED__MODEL) on questions with reference texts, and measure it on "
        "questions to documents that are held out.",
        batch=32,
        rate=2e-5,
    )
    parser.add_argument("questions", type=Path, nargs="+", metavar="QUESTIONS", help="in a format of `python -m eval`")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def pairs_of(paths: Sequence[Path], embed: EmbedSettings) -> tuple[list[Pair], list[Pair]]:
    """Return questions with their texts, prefixes included: to learn from, and held out, by document.

    Raises:
        BadCasesError: a file cannot be read as questions.
        SettingsError: one of both is empty.
    """
    learnt, held = list[Pair](), list[Pair]()
    for case in (case for path in paths for case in read_training_questions(path)):
        for text in case.references[:1]:
            side = held if is_held_out((*case.relevant_docs, text)[0]) else learnt
            side.append((embed.query_prefix + case.question, embed.document_prefix + text))
    if len(learnt) < 2 or not held:
        raise SettingsError(
            f"{len(learnt)} questions with reference texts are to learn from, and {len(held)} to measure on.",
            "Give more questions with `reference_context`, about more documents.",
        )
    return learnt, held


def _train(arguments: argparse.Namespace) -> int:
    embed = load_settings().embed
    refuse_existing(arguments.out)
    if embed.base_url:
        raise SettingsError("The embedding model is on a server.", "Unset RAG_EMBED__BASE_URL.")
    learnt, held = pairs_of(arguments.questions, embed)
    with packages_for(*PACKAGES):
        from datasets import Dataset  # noqa: PLC0415
        from sentence_transformers import (  # noqa: PLC0415
            SentenceTransformerTrainer,
            SentenceTransformerTrainingArguments,
        )
        from sentence_transformers.sentence_transformer.evaluation import (  # noqa: PLC0415
            InformationRetrievalEvaluator,
        )
        from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss  # noqa: PLC0415
    model = _loaded(load_embedding_model(embed.model, embed.cache_dir))
    texts = {text: str(place) for place, text in enumerate(dict.fromkeys(text for _, text in learnt + held))}
    evaluator = InformationRetrievalEvaluator(
        queries={str(place): question for place, (question, _) in enumerate(held)},
        corpus={place: text for text, place in texts.items()},
        relevant_docs={str(place): {texts[text]} for place, (_, text) in enumerate(held)},
    )
    before = evaluator(model)
    with tempfile.TemporaryDirectory() as scratch:
        options = SentenceTransformerTrainingArguments(
            **trainer_options(arguments, scratch),
            batch_sampler="no_duplicates",  # a text that stands twice in a batch would be its own negative
        )
        rows = Dataset.from_dict({"anchor": [one for one, _ in learnt], "positive": [text for _, text in learnt]})
        loss = MultipleNegativesRankingLoss(model)
        SentenceTransformerTrainer(model=model, args=options, train_dataset=rows, loss=loss).train()
    after = evaluator(model)
    model.save_pretrained(str(arguments.out), create_model_card=False)
    lines = [(name, figure(before[name]), figure(after[name])) for name in METRICS]
    print(f"{len(learnt)} questions learnt, {len(held)} held out, {len(texts)} texts\n")
    print(aligned(["metric", "before", "after"], lines))
    return 0


def _loaded(base: EmbeddingModel) -> Any:
    """Put the model together here: a folder without `modules.json` would be taken to pool by mean."""
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415
    from sentence_transformers.base.modules.normalize import Normalize  # noqa: PLC0415
    from sentence_transformers.base.modules.transformer import Transformer  # noqa: PLC0415
    from sentence_transformers.sentence_transformer.modules.pooling import Pooling  # noqa: PLC0415

    encoder = Transformer(str(base.folder), model_kwargs=OFFLINE, config_kwargs=OFFLINE, processor_kwargs=OFFLINE)
    encoder.max_seq_length = base.max_tokens
    pooling = Pooling(base.dimension, pooling_mode=base.pooling)
    return SentenceTransformer(modules=[encoder, pooling, Normalize()])


if __name__ == "__main__":
    sys.exit(main())
