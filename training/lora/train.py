"""One run: rows, tokens, the loss before, training, the loss after, the model's folder.

Flow: `__main__.py` -> **here** -> two figures on stdout, also kept in `training.json` beside the model.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from contextlib import closing

from eval.metrics import BUDGETS_CHARS
from eval.progress_bar import ProgressBar, tell
from eval.run_folder import replace_file
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.schema.passage import Passage
from settings import Settings
from training.checkpoints import use_threads
from training.lora.fit import LoraTraining
from training.lora.rows import Row, read_rows, rows_of_questions, write_rows
from training.lora.tokens import encode
from training.questions import read_training_questions
from training.unfinished import TrainingError, finish, unfinished

ROWS = "rows.jsonl"
BEFORE = "before.json"
KEPT = (
    *("rows", "questions", "corpus", "adapter", "rank", "max_tokens", "held_out"),
    *("epochs", "limit", "batch", "rate", "seed"),
)


def train(arguments: argparse.Namespace, settings: Settings) -> str:
    """Train; return the loss on held-out rows before and after.

    Raises:
        TrainingError: there is nothing to learn from, or the run in the folder is another one.
        RagError: from the rows, the corpus or the model.
    """
    use_threads(arguments.threads)
    chosen = {name: str(getattr(arguments, name)) for name in KEPT}
    chosen |= {"model": str(settings.llm.model), "prompt": settings.llm.prompt}
    with unfinished(arguments.out, chosen) as work:
        if not (work / ROWS).is_file():
            write_rows(_rows(arguments, settings), work / ROWS)
        learnt, held = _divided(read_rows(work / ROWS), arguments.held_out, arguments.seed)
        run = LoraTraining(settings.llm, rank=arguments.rank, seed=arguments.seed)
        if arguments.adapter and run.from_gguf:
            raise TrainingError(
                "An adapter cannot name a GGUF file as its model.", "Leave --adapter out: the merged model is saved."
            )
        rows = encode(learnt, run.tokenizer, settings, arguments.max_tokens)[: arguments.limit]
        tests = encode(held, run.tokenizer, settings, arguments.max_tokens)
        if not rows or not tests:
            raise TrainingError(
                f"{len(rows)} rows to learn from and {len(tests)} to measure on fit {arguments.max_tokens} tokens.",
                "Give more rows, or raise --max-tokens.",
            )
        tell(
            f"{len(rows)} rows to learn from, {len(tests)} to measure on; "
            f"{run.trained_share():.1%} of the parameters are trained"
        )
        if not (work / BEFORE).is_file():
            replace_file(work / BEFORE, json.dumps(run.loss(tests)))
        before = json.loads((work / BEFORE).read_text())
        options = {name: getattr(arguments, name) for name in ("epochs", "batch", "rate", "seed", "save_steps")}
        run.fit(rows, work, **options)
        after = run.loss(tests)
        made = work / "model"
        run.save(made, merged=not arguments.adapter)
        record = {"arguments": chosen, "rows": len(rows), "held_out_rows": len(tests)}
        replace_file(
            made / "training.json", json.dumps(record | {"loss": {"before": before, "after": after}}, indent=1)
        )
        finish(work, made, arguments.out)
    return f"loss a token of {len(tests)} held-out answers: {before:.3f} before, {after:.3f} after"


def _rows(arguments: argparse.Namespace, settings: Settings) -> list[Row]:
    if arguments.rows is not None:
        return read_rows(arguments.rows)
    cases = read_training_questions(arguments.questions)
    # Only the retrieval is wanted, not a second language model.
    engines = Engines(settings.model_copy(update={"llm": settings.llm.model_copy(update={"provider": "extractive"})}))
    bar = ProgressBar(sys.stderr, "questions searched")
    with closing(engines):
        engine = engines.get(arguments.corpus)
        options = settings.retrieval.model_copy(update={"budget_chars": max(BUDGETS_CHARS)})

        def retrieve(question: str) -> Sequence[Passage]:
            return engine.retrieve(Inquiry(question), options).passages

        bar.begin(len(cases))
        rows = list(rows_of_questions(cases, retrieve, bar.step, arguments.seed))
    bar.close()
    tell(f"{len(rows)} of {len(cases)} questions can be learnt from: what answers them was found")
    return rows


def _divided(rows: Sequence[Row], share: float, seed: int) -> tuple[list[Row], list[Row]]:
    """Hold out about a `share` of the rows; rows of one question stand on one side."""
    learnt, held = list[Row](), list[Row]()
    for row in rows:
        digest = hashlib.sha256(f"{seed}:{row.question}".encode()).digest()
        (held if int.from_bytes(digest[:8]) / 2**64 < share else learnt).append(row)
    return learnt, held
