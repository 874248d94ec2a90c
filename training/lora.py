"""`python -m training.lora`: fine-tune a language model by LoRA (Hu et al., 2021, arXiv 2106.09685) on answers.

Flow: rows of `prompts.py` -> **here**, by PEFT -> a folder for `RAG_LLM__MODEL` with the provider huggingface. Only the
answer's tokens count. Whether answers get better, `python -m eval compare` says.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from errors import SettingsError, packages_for, run_command
from settings import load_settings
from training.prompts import encoded, read_rows
from training.questions import is_held_out
from training.recipe import PACKAGES, parser_of, refuse_existing, trainer_options


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = parser_of(
        "python -m training.lora",
        "Fine-tune the language model that RAG_LLM__MODEL names, a folder or a hub id, by LoRA, in the form of prompt "
        "in which it is served, and measure it on questions that are held out.",
        batch=4,
        rate=2e-4,
    )
    parser.add_argument("rows", type=Path, help='lines of {"question", "passages": [{"title", "text"}], "answer"}')
    parser.add_argument("--rank", type=int, default=16, help="of the adapter (default: 16)")
    parser.add_argument("--max-tokens", type=int, default=2048, help="of prompt and answer (default: 2048)")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def _train(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    refuse_existing(arguments.out)
    if not settings.llm.model:
        raise SettingsError(
            "No language model is named.", "Set RAG_LLM__MODEL to a folder of Hugging Face or a hub id."
        )
    with packages_for(*PACKAGES):
        import peft  # noqa: PLC0415
        import transformers  # noqa: PLC0415
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(settings.llm.model)
    rows = read_rows(arguments.rows)
    sides = [[row for row in rows if is_held_out(row.question) == side] for side in (False, True)]
    learnt, held = (list(encoded(side, tokenizer, settings, arguments.max_tokens)) for side in sides)
    if not learnt or not held:
        raise SettingsError(
            f"{len(learnt)} rows to learn from and {len(held)} to measure on fit {arguments.max_tokens} tokens.",
            "Give more rows, or raise --max-tokens.",
        )
    rank = arguments.rank
    config = peft.LoraConfig(r=rank, lora_alpha=2 * rank, target_modules="all-linear", task_type="CAUSAL_LM")
    base = transformers.AutoModelForCausalLM.from_pretrained(settings.llm.model, dtype="float32")
    model: Any = peft.get_peft_model(base, config)
    with tempfile.TemporaryDirectory() as scratch:
        trainer = transformers.Trainer(
            model=model,
            args=transformers.TrainingArguments(**trainer_options(arguments, scratch)),
            train_dataset=learnt,
            eval_dataset=held,
            data_collator=transformers.DataCollatorForSeq2Seq(tokenizer),
        )
        before = trainer.evaluate()["eval_loss"]
        trainer.train()
        after = trainer.evaluate()["eval_loss"]
    model.merge_and_unload().bfloat16().save_pretrained(arguments.out)
    tokenizer.save_pretrained(arguments.out)
    print(f"loss a token of {len(held)} held-out answers: {before:.3f} before, {after:.3f} after")
    return 0


if __name__ == "__main__":
    sys.exit(main())
