"""One run: the corpus's leaves, pairs, negatives, training, and the gain on held-out documents.

Flow: `__main__.py` -> **here** -> a table on stdout; `training.json` and `held_out.jsonl` lie in the model's folder.
The steps are kept in the run's folder as they end: pairs and negatives once they are made, then checkpoints.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import numpy.typing as npt
from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import ModelError
from eval.cases import Case
from eval.metrics import Scores
from eval.progress_bar import ProgressBar, tell
from eval.run_folder import replace_file
from index.build import Embedding, open_corpus
from index.corpus import Corpus, corpus_names
from index.documents.splitter import TreeSplitter
from index.embedding.batch import embed_documents
from index.embedding.cpu import resolved
from index.embedding.model import EmbeddingModel
from settings import Settings
from training.checkpoints import use_threads
from training.embedder import pairs as pairing
from training.embedder.fit import fit
from training.embedder.measure import score, table
from training.embedder.negatives import mine
from training.embedder.rows import Leaf, Pair, Row, read_rows, write_rows
from training.questions import read_training_questions
from training.unfinished import TrainingError, finish, unfinished

Vectors = npt.NDArray[np.float32]

ROWS = "rows.jsonl"
EMBEDDED_AT_ONCE = 512
KEPT = ("corpus", "questions", "held_out", "negatives", "epochs", "limit", "batch", "rate", "seed")


def train(arguments: argparse.Namespace, settings: Settings) -> str:
    """Train and measure; return the table of before and after.

    Raises:
        TrainingError: there is nothing to learn from, or the run in the folder is another one.
        RagError: from the corpus, the questions or the models.
    """
    use_threads(arguments.threads)
    embedding = Embedding(settings)
    base = embedding.model
    if not isinstance(base, EmbeddingModel):
        raise TrainingError(
            "The embedding model is on a server.", "Set RAG_EMBED__PROVIDER=local, and RAG_EMBED__MODEL to its folder."
        )
    chosen = {name: str(getattr(arguments, name)) for name in KEPT}
    chosen |= {"questions": " ".join(map(str, arguments.questions)), "base": base.weights_hash}
    name = arguments.corpus or settings.index.corpus
    if name not in corpus_names(settings.index.dir):
        raise TrainingError(f"There is no corpus {name!r}.", f"Make it: `python -m ingestion PATH --corpus {name}`.")
    with unfinished(arguments.out, chosen) as work:
        splitter = TreeSplitter(settings.chunk, embedding.model.count_tokens, embedding.passage_tokens)
        with closing(open_corpus(name, settings, embedding.manifest)) as corpus:
            sides = pairing.divide(corpus.documents.each(), splitter, arguments.held_out, arguments.seed)
            if not sides.documents or not sides.documents_held_out:
                raise TrainingError(
                    f"Of the documents {sides.documents} would be learnt from and {sides.documents_held_out} held out.",
                    "Ingest more documents, or change --held-out or --seed.",
                )
            run = _Run(arguments, settings, embedding, sides, corpus)
            held_pairs, searched, before = run.held_out()
            if not (work / ROWS).is_file():
                write_rows(run.rows(), work / ROWS)
        rows = read_rows(work / ROWS)
        tell(
            f"{len(rows)} rows of {sides.documents} documents to learn from; {len(held_pairs)} questions to "
            f"{sides.documents_held_out} other documents to measure on, in {len(searched)} leaves"
        )
        options = {name: getattr(arguments, name) for name in ("epochs", "batch", "rate", "seed", "save_steps")}
        made = fit(base, rows, work, **options)
        tuned, precision = _embedder_of(made, settings)
        questions, vectors = _questions(tuned, held_pairs), _embedded(tuned, searched)
        after = score(held_pairs, questions, searched, vectors)
        shown = table(before, after)
        cases = "".join(pair.case.model_dump_json(exclude_unset=True) + "\n" for pair in held_pairs)
        replace_file(made / "held_out.jsonl", cases)
        replace_file(made / "training.json", json.dumps(_record(chosen, rows, before, after, precision), indent=1))
        finish(work, made, arguments.out)
    return shown


class _Run:
    """What is made of the corpus before the training begins."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        settings: Settings,
        embedding: Embedding,
        sides: pairing.Sides,
        corpus: Corpus,
    ) -> None:
        self._arguments = arguments
        self._embed = settings.embed
        self._embedder = embedding.embedder
        self._sides = sides
        self._corpus = corpus
        self._cases = _read(arguments.questions)

    def held_out(self) -> tuple[list[Pair], list[Leaf], list[Scores]]:
        """Return the pairs to measure on, the leaves that are searched, and the scores before."""
        leaves = self._sides.held_out
        vectors = self._stored(leaves)
        pairs = pairing.pairs_of_questions(self._cases, leaves, vectors, self._question)
        if not pairs:
            raise TrainingError(
                "No question's passage lies in a held-out document.",
                "Give more questions, with `relevant_docs` and `answer` or `reference_context`, or raise --held-out.",
            )
        places = pairing.searched(leaves, pairs, self._arguments.search, self._arguments.seed)
        chosen = [leaves[place] for place in places]
        return pairs, chosen, score(pairs, _questions(self._embedder, pairs), chosen, vectors[places])

    def rows(self) -> list[Row]:
        """Return the rows to learn from."""
        arguments, leaves = self._arguments, self._sides.learnt
        vectors = self._stored(leaves)
        pairs = pairing.pairs_of_questions(self._cases, leaves, vectors, self._question)[: arguments.limit]
        if len(pairs) < 2:
            raise TrainingError(
                f"There are {len(pairs)} pairs of question and passage to learn from.",
                "Give more questions, with `relevant_docs` and `answer` or `reference_context`, or lower --held-out.",
            )
        tell(f"mining negatives for {len(pairs)} questions among {len(leaves)} leaves")
        return mine(
            pairs,
            _questions(self._embedder, pairs),
            embed_documents(self._embedder, [pair.leaf.embedded for pair in pairs]),
            leaves,
            vectors,
            count=arguments.negatives,
            prefixes=(self._embed.query_prefix, self._embed.document_prefix),
            seed=arguments.seed,
        )

    def _question(self, text: str) -> Vectors:
        return np.asarray(self._embedder.get_query_embedding(text), np.float32)

    def _stored(self, leaves: Sequence[Leaf]) -> Vectors:
        """Return the vectors that the corpus holds, made with the model as it is."""
        found: dict[str, Vectors] = {}
        for first in range(0, len(leaves), EMBEDDED_AT_ONCE):
            found |= self._corpus.vectors.fetch([leaf.node_id for leaf in leaves[first : first + EMBEDDED_AT_ONCE]])
        return np.stack([found[leaf.node_id] for leaf in leaves])


def _embedder_of(folder: Path, settings: Settings) -> tuple[BaseEmbedding, str]:
    """Return the trained model as it will be served, and its precision; exact if it cannot be had in int8."""
    embed = settings.embed.model_copy(update={"model": str(folder), "precision": resolved(settings.embed.precision)})
    try:
        return Embedding(settings.model_copy(update={"embed": embed})).embedder, embed.precision
    except ModelError as error:
        if embed.precision != "int8" or embed.device != "cpu":
            raise
        tell(f"{error} It is measured in bf16.")
        embed = embed.model_copy(update={"precision": "bf16"})
        return Embedding(settings.model_copy(update={"embed": embed})).embedder, embed.precision


def _embedded(embedder: BaseEmbedding, leaves: Sequence[Leaf]) -> Vectors:
    bar = ProgressBar(sys.stderr, "batches of leaves embedded by the trained model")
    batches = [leaves[first : first + EMBEDDED_AT_ONCE] for first in range(0, len(leaves), EMBEDDED_AT_ONCE)]
    bar.begin(len(batches))
    vectors = []
    for batch in batches:
        vectors.append(embed_documents(embedder, [leaf.embedded for leaf in batch]))
        bar.step("")
    bar.close()
    return np.concatenate(vectors)


def _questions(embedder: BaseEmbedding, pairs: Sequence[Pair]) -> Vectors:
    return np.asarray([embedder.get_query_embedding(pair.case.question) for pair in pairs], np.float32)


def _record(
    chosen: dict[str, str], rows: Sequence[object], before: list[Scores], after: list[Scores], precision: str
) -> dict[str, object]:
    def means(scored: list[Scores]) -> dict[str, float]:
        names = dict.fromkeys(name for scores in scored for name in scores)
        return {name: round(float(np.mean([one[name] for one in scored if name in one])), 4) for name in names}

    figures = {"before": means(before), "after": means(after)}
    return {"arguments": chosen, "rows": len(rows), "held_out_questions": len(before), "precision": precision} | figures


def _read(paths: Sequence[Path]) -> list[Case]:
    """Read questions; those of several files get ids that tell the files apart."""
    cases = list[Case]()
    for number, path in enumerate(paths, start=1):
        found = read_training_questions(path)
        several = len(paths) > 1
        cases += [case.model_copy(update={"id": f"{number}-{case.id}"}) if several else case for case in found]
    return cases
