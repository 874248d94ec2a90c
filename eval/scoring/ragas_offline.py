"""What RAGAS measures without a language model: the names of its metrics.

Flow: `build.py` -> **here** -> `ragas_metrics.py`, which imports ragas -> `stage.py`.
"""

from eval.cells import Metric

FAMILY = "ragas_offline"
METRICS = (
    Metric("ragas_context_recall", FAMILY, "higher", "Share of the reference contexts that a passage is like, 0 to 1."),
    Metric(
        "ragas_context_precision",
        FAMILY,
        "higher",
        "Average precision of the passages that are like a reference context, 0 to 1.",
    ),
    Metric("ragas_string_similarity", FAMILY, "higher", "1 less the normalised edit distance from the reference."),
    Metric("ragas_rouge_score", FAMILY, "higher", "ROUGE-L F1 with the reference as RAGAS computes it, 0 to 1."),
    Metric("ragas_bleu_score", FAMILY, "higher", "BLEU with the reference as RAGAS computes it, 0 to 1."),
    Metric("ragas_exact_match", FAMILY, "higher", "1 if the answer is the reference, letter for letter, else 0."),
    Metric("ragas_semantic_similarity", FAMILY, "higher", "Cosine with the reference as RAGAS computes it, -1 to 1."),
)
