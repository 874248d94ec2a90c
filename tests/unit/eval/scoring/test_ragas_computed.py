"""RAGAS's own metrics over known texts; and what a row lacks for them."""

import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import ModelError
from eval.cases import Case
from eval.cells import failed, not_applicable, scored
from eval.rows import Row
from eval.scoring.ragas_metrics import COMPUTED, OF_CONTEXTS, OF_TEXTS, RagasOfflineScorer, load_computed
from eval.scoring.stage import Cells
from eval.similarity import Vectors
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.eval_rows import answered, case, declined, seen, unreplied

HOME = Path(__file__).parents[4]


async def lengths(name: str, **texts: str | list[str]) -> float:
    """Say of texts how long they are, as RAGAS never would."""
    if name == "ragas_bleu_score":
        raise ValueError("nothing to count")
    compared, known = texts.values()
    return float("nan") if name == "ragas_exact_match" else len(compared) / len(known)


def cells_of(row: Row, **known: Any) -> Cells:
    ((_, cells),) = RagasOfflineScorer(lambda: lengths, len, len).score([(case(**known), row)])
    return cells


def cells_by_ragas(embedder: Callable[[], BaseEmbedding], known: Case, row: Row) -> Cells:
    vectors = Vectors(embedder)
    ((_, cells),) = RagasOfflineScorer(lambda: load_computed(vectors), vectors.of, print).score([(known, row)])
    return cells


def test_answers_are_compared_without_marks_and_the_best_reference_counts() -> None:
    cells = cells_of(answered("**Betz** [1]"), answer="A. Betz.", alternatives=["Betz", "Albert Betz himself"])

    assert cells["ragas_string_similarity"] == scored(4 / 4)


def test_a_reference_without_any_word_is_compared_letter_by_letter() -> None:
    assert cells_of(answered("++++"), answer="++")["ragas_string_similarity"] == scored(2)


def test_a_metric_that_breaks_or_is_no_number_has_failed_alone() -> None:
    cells = cells_of(answered("Betz"), answer="Betz")

    assert cells["ragas_bleu_score"] == failed("RAGAS cannot compute it: ValueError: nothing to count.")
    assert cells["ragas_exact_match"] == failed("the score is nan")
    assert cells["ragas_rouge_score"] == scored(1)


def test_contexts_are_compared_with_any_text_that_supports_the_answer() -> None:
    row = answered("Betz", passages=[seen("one"), seen("two")])

    cells = cells_of(row, answer="Betz", reference_context="one")

    assert cells["ragas_context_recall"] == cells["ragas_context_precision"] == scored(2)


def test_texts_that_would_take_minutes_have_failed_at_once() -> None:
    cells = cells_of(answered("a" * 1_000_000), answer="b" * 1_000)

    assert {cells[name] for name in OF_TEXTS} == {
        failed("too long: 1,000,000,000 pairs of characters to compare, of at most 40,000,000")
    }


def test_a_declined_question_says_nothing_but_was_searched_for() -> None:
    cells = cells_of(declined(passages=[seen("one")]), answer="Betz", reference_context="one")

    assert {cells[name] for name in OF_TEXTS} == {scored(0)}
    assert cells["ragas_context_recall"] == scored(1)


@pytest.mark.parametrize(
    ("row", "known", "text_cell", "context_cell"),
    [
        (
            answered("Betz"),
            {"answer": None},
            not_applicable("the corpus does not answer the question"),
            not_applicable("the corpus does not answer the question"),
        ),
        (
            answered("Betz"),
            {},
            not_applicable("the case has no reference answer"),
            not_applicable("the case has no reference contexts"),
        ),
        (
            unreplied(),
            {"answer": "Betz", "reference_context": "one"},
            failed("no reply: the service took more than 5 s"),
            failed("no reply: the service took more than 5 s"),
        ),
        (
            declined(),
            {"answer": "Betz", "reference_context": "one"},
            scored(0),
            not_applicable("the service reports no passages"),
        ),
        (declined(fingerprint="f0"), {"answer": "Betz", "reference_context": "one"}, scored(0), scored(0)),
    ],
    ids=["no answer", "unknown answer", "no reply", "no passages told", "no passages found"],
)
def test_what_a_row_lacks_is_told(row: Row, known: dict[str, Any], text_cell: object, context_cell: object) -> None:
    cells = cells_of(row, **known)

    assert {cells[name] for name in OF_TEXTS} == {text_cell}
    assert {cells[name] for name in OF_CONTEXTS} == {context_cell}


def test_without_ragas_nothing_applies_and_it_is_told_once() -> None:
    def missing() -> NoReturn:
        raise ModuleNotFoundError("No module named 'ragas'")

    told: list[str] = []
    todo = [(case(str(n), answer="Betz"), answered("Betz", str(n))) for n in range(3)]

    lines = list(RagasOfflineScorer(missing, len, told.append).score(todo))

    assert [id_ for id_, _ in lines] == ["0", "1", "2"]
    assert {cell.not_applicable for _, cells in lines for cell in cells.values()} == {
        "RAGAS is not installed: pip install -e '.[eval]' -c constraints.txt"
    }
    assert told == [
        "RAGAS's metrics are left out, it cannot be loaded (No module named 'ragas'). "
        "Install it: pip install -e '.[eval]' -c constraints.txt"
    ]


def test_the_evaluation_works_without_the_libraries_of_an_evaluation() -> None:
    blocked = ("ragas", "langchain_core", "datasets", "rouge_score", "sacrebleu", "deepeval")
    program = f"""
import sys
sys.modules.update(dict.fromkeys({blocked!r}))  # None: importing it fails
from eval.scoring.build import offline_scorers
from settings import Settings
from tests.fakes.eval_rows import answered, case
todo = [(case(answer=None), answered("Betz."))]
for scorer in offline_scorers(Settings()):
    for _, cells in scorer.score(todo):
        print(scorer.family, len(cells))
"""
    run = subprocess.run([sys.executable, "-c", program], cwd=HOME, capture_output=True, text=True, check=False)

    assert run.stdout.split()[::2] == [
        *("retrieval", "answer", "bert_score", "nuggets", "citations", "abstention", "speed", "cost", "ragas_offline")
    ]
    assert run.stderr.startswith("RAGAS's metrics are left out, it cannot be loaded (")


def test_ragas_computes_what_it_is_known_for_and_calls_nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("ragas", reason="the extra eval is not installed")

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("RAGAS_DO_NOT_TRACK", "")

    row = answered(
        "Betz in 1919. [1]",
        passages=[seen("Something else that is not alike at all."), seen("Albert Betz did it in 1919!")],
    )
    known = case(answer="Betz in 1920.", reference_contexts=["Albert Betz did it in 1919.", "Zebras graze upon hills"])

    cells = cells_by_ragas(WordHashEmbedding, known, row)

    expected = {
        "ragas_context_recall": 1 / 2,  # of two contexts, one has a passage that is alike
        "ragas_context_precision": 1 / 2,  # the second passage is the first that is alike
        "ragas_string_similarity": 1 - 2 / 13,  # two of thirteen characters differ
        "ragas_rouge_score": 2 / 3,  # two words of three, on both sides
        "ragas_bleu_score": (3 / 4 * 1 / 3 * 1 / 4 * 1 / 4) ** (1 / 4),  # the full stop is a token
        "ragas_exact_match": 0,
        "ragas_semantic_similarity": round(np.dot(word_vector("Betz in 1919"), word_vector("Betz in 1920")), 4),
    }
    assert {name: cell.score for name, cell in cells.items()} == pytest.approx(expected, abs=1e-6)
    assert list(tmp_path.iterdir()) == []  # it names each user in a file there


def test_a_missing_model_fails_the_similarity_alone() -> None:
    pytest.importorskip("ragas", reason="the extra eval is not installed")

    def missing() -> WordHashEmbedding:
        raise ModelError("The embedding model is missing.", "Install it.")

    cells = cells_by_ragas(missing, case(answer="Betz"), answered("Betz"))

    assert cells["ragas_semantic_similarity"] == failed("The embedding model is missing.")
    assert cells["ragas_rouge_score"] == scored(1)
    assert len(cells) == len(COMPUTED)
