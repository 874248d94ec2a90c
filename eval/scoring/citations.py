"""Score the citations: does each quote stand where it says, and has each sentence a quote that supports it?

Flow: `build.py` -> **here** -> `stage.py`. Whether a quote supports a sentence is judged by
`query_engine/grounding.py`, as it is when a generated answer is checked before it is shown.
"""

from eval.cells import Metric

FAMILY = "citations"
METRICS = (
    Metric("citation_precision", FAMILY, "higher", "Share of quotes that stand at their place in a passage, 0 to 1."),
    Metric("citation_recall", FAMILY, "higher", "Share of sentences with a mark whose quote supports them, 0 to 1."),
)
