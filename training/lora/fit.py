"""Train a LoRA adapter (Hu et al., 2021, arXiv 2106.09685) on rows of tokens, and measure the loss it leaves.

Flow: `tokens.py` -> **here** -> a folder for `RAG_LLM__MODEL` with the provider huggingface: the adapter merged into
the model, or the adapter by itself, which names its model.
"""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import Trainer, TrainingArguments

from settings import LLMSettings
from training.checkpoints import common_arguments, run_trainer
from training.lora.base_model import load_base
from training.lora.tokens import IGNORED, Tokens

DROPOUT = 0.05
# The usual ratio of alpha to rank.
ALPHA_PER_RANK = 2


class LoraTraining:
    """A language model, its tokenizer, and an adapter that is trained on it.

    Args:
        settings: which model.
        rank: of the adapter's matrices.
        seed: of the adapter's first values.

    Attributes:
        tokenizer: of the model.
        from_gguf: the model is a GGUF file.

    Raises:
        ModelError: the model cannot be loaded, or has no chat template.
    """

    def __init__(self, settings: LLMSettings, *, rank: int, seed: int) -> None:
        base = load_base(settings)
        self.tokenizer: Any = base.tokenizer
        self.from_gguf = base.from_gguf
        torch.manual_seed(seed)
        config = LoraConfig(
            r=rank,
            lora_alpha=ALPHA_PER_RANK * rank,
            lora_dropout=DROPOUT,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        with warnings.catch_warnings():
            # PEFT asks for it under the name that it had in older versions of transformers.
            warnings.filterwarnings("ignore", message="`is_gradient_checkpointing` is deprecated")
            self._model: PeftModel = get_peft_model(base.model, config)

    def trained_share(self) -> float:
        """Share of the parameters that is trained."""
        trained, total = self._model.get_nb_trainable_parameters()
        return float(trained / total)

    def loss(self, rows: Sequence[Tokens]) -> float:
        """Return the mean negative log-likelihood of an answer's token, in nats, over all tokens of all rows."""
        self._model.eval()
        device = self._model.device
        total, count = 0.0, 0
        with torch.inference_mode():
            for row in rows:
                labels = torch.tensor([row.labels], device=device)
                ids = torch.tensor([row.input_ids], device=device)
                answered = sum(label != IGNORED for label in row.labels)
                total += float(self._model(input_ids=ids, labels=labels).loss) * answered
                count += answered
        return total / count if count else math.nan

    def fit(
        self, rows: Sequence[Tokens], work: Path, *, epochs: float, batch: int, rate: float, seed: int, save_steps: int
    ) -> None:
        """Train, from the newest checkpoint in `work` if there is one."""
        common = common_arguments(work, epochs=epochs, batch=batch, rate=rate, seed=seed, save_steps=save_steps)
        pad = self.tokenizer.pad_token_id
        trainer = Trainer(
            model=self._model,
            args=TrainingArguments(**common, remove_unused_columns=False),
            train_dataset=list(rows),
            data_collator=lambda batch: padded(batch, 0 if pad is None else pad),
        )
        run_trainer(trainer, work)

    def save(self, target: Path, *, merged: bool) -> None:
        """Write the model with the adapter merged into it, or the adapter by itself; and the tokenizer."""
        if merged:
            # In 16 bits, as models are published; the adapter was added in 32.
            self._model.merge_and_unload().to(torch.bfloat16).save_pretrained(target)
        else:
            self._model.save_pretrained(str(target))
        self.tokenizer.save_pretrained(target)


def padded(rows: Sequence[Tokens], pad: int) -> dict[str, torch.Tensor]:
    """Return rows as tensors of shape (rows, tokens of the longest), padded at the end."""
    width = max(len(row.input_ids) for row in rows)

    def filled(values: Sequence[Sequence[int]], with_value: int) -> torch.Tensor:
        return torch.tensor([[*row, *[with_value] * (width - len(row))] for row in values])

    return {
        "input_ids": filled([row.input_ids for row in rows], pad),
        "labels": filled([row.labels for row in rows], IGNORED),
        "attention_mask": filled([[1] * len(row.input_ids) for row in rows], 0),
    }
