"""Fine-tune a sentence-transformers model on questions, their passages, and passages that only look like them.

Flow: rows of `rows.py` -> **here** -> a folder that `RAG_EMBED__MODEL` takes. The loss is multiple negatives ranking
(Henderson et al., 2017, arXiv 1705.00652): a question's passage against its hard negatives and the other passages of
the batch. No batch holds a text twice, since that would be a negative of itself.
"""

from collections.abc import Sequence
from pathlib import Path

from datasets import Dataset
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.base.modules.transformer import Transformer
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.model_card import SentenceTransformerModelCardData
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from sentence_transformers.sentence_transformer.trainer import SentenceTransformerTrainer
from sentence_transformers.sentence_transformer.training_args import (
    BatchSamplers,
    SentenceTransformerTrainingArguments,
)

from index.embedding.model import EmbeddingModel
from training.checkpoints import common_arguments, run_trainer
from training.embedder.rows import Row

OFFLINE = {"local_files_only": True}


def fit(
    base: EmbeddingModel,
    rows: Sequence[Row],
    work: Path,
    *,
    epochs: float,
    batch: int,
    rate: float,
    seed: int,
    save_steps: int,
) -> Path:
    """Train, from the newest checkpoint in `work` if there is one; return the folder of the trained model.

    Args:
        base: the model to begin with.
        rows: of equally many negatives, prefixes included.
        work: of the run.
        epochs: how often each row is seen; parts of one are possible.
        batch: rows compared with one another.
        rate: the highest learning rate.
        seed: of the order of rows and of dropout.
        save_steps: between two checkpoints.
    """
    card = SentenceTransformerModelCardData(generate_widget_examples=False)
    # Put together here, because a folder without `modules.json` would be taken to pool by mean.
    transformer = Transformer(str(base.folder), model_kwargs=OFFLINE, config_kwargs=OFFLINE, processor_kwargs=OFFLINE)
    transformer.max_seq_length = base.max_tokens
    modules = [transformer, Pooling(base.dimension, pooling_mode=base.pooling), Normalize()]
    model = SentenceTransformer(modules=modules, model_card_data=card)
    columns = {"anchor": [row.question for row in rows], "positive": [row.passage for row in rows]}
    columns |= {f"negative_{place}": [row.negatives[place] for row in rows] for place in range(len(rows[0].negatives))}
    common = common_arguments(work, epochs=epochs, batch=batch, rate=rate, seed=seed, save_steps=save_steps)
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(**common, batch_sampler=BatchSamplers.NO_DUPLICATES),
        train_dataset=Dataset.from_dict(columns),
        loss=MultipleNegativesRankingLoss(model),
    )
    run_trainer(trainer, work)
    target = work / "model"
    model.save_pretrained(str(target), create_model_card=False)
    return target
