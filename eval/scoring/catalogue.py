"""Every metric there is, by name.

Flow: the scoring modules' `METRICS` -> **here** -> `comparing/`, `reporting/` and the tables. Imports no model and no
library of an evaluation, so that two runs can be compared where nothing of that is installed.
"""

from collections.abc import Mapping
from types import MappingProxyType

from eval.cells import Metric
from eval.scoring.judged import deepeval_metrics as deepeval
from eval.scoring.judged import ragas_metrics as ragas_judged
from eval.scoring.judged.families import OWN
from eval.scoring.offline import abstention, answer, bert_score, citations, cost, nuggets, retrieval, speed
from eval.scoring.offline import ragas_metrics as ragas_offline

_COMPUTED = (retrieval, answer, bert_score, nuggets, citations, abstention, speed, cost, ragas_offline)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {
        metric.name: metric
        for metrics in (
            *(module.METRICS for module in _COMPUTED),
            *(family.metrics for family in OWN.values()),
            ragas_judged.METRICS,
            deepeval.METRICS,
        )
        for metric in metrics
    }
)
FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(metric.family for metric in METRICS.values()))
