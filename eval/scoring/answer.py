"""Score what is said against the reference answer: by words, by runs of words, in meaning.

Flow: `build.py` -> **here** -> `stage.py`. The arithmetic is `eval/metrics.py`'s and `eval/likeness.py`'s, the same
for the measurements of `bench/`. Where a case knows several right answers, the one that fits best counts. A declined
question has an answer that was not given: it scores 0.
"""

from eval.cells import Metric
from eval.metrics import SHORT_ANSWER_WORDS

FAMILY = "answer"
METRICS = (
    Metric("word_recall", FAMILY, "higher", "Share of the reference's content words that are said, 0 to 1."),
    Metric(
        "contains", FAMILY, "higher", f"1 if the reference of at most {SHORT_ANSWER_WORDS} words stands in it, else 0."
    ),
    Metric("exact_match", FAMILY, "higher", "1 if nothing but the reference is said, else 0; articles do not count."),
    Metric("token_f1", FAMILY, "higher", "F1 of the words said and those of the reference, as SQuAD counts, 0 to 1."),
    Metric("rouge_l", FAMILY, "higher", "F1 of the longest run of stems that both share, in order, 0 to 1."),
    Metric("word_matching", FAMILY, "higher", "F1 of content words matched greedily by their vectors, 0 to 1."),
    Metric("similarity", FAMILY, "higher", "Cosine of the vectors of answer and reference, -1 to 1."),
    Metric("crag_score", FAMILY, "higher", "1 if a right answer stands in it, 0 for not knowing, -1 for a wrong one."),
)
