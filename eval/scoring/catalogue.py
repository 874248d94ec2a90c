"""Every metric there is, by name.

Flow: the scoring modules' `METRICS` -> **here** -> `comparing/`, `reporting/` and the tables. Imports no model and no
library of an evaluation, so that two runs can be compared where nothing of that is installed.
"""

from collections.abc import Mapping
from types import MappingProxyType

from eval.cells import Metric
from eval.scoring.judged import deepeval_metrics
from eval.scoring.judged import ragas_metrics as ragas_judged
from eval.scoring.offline import abstention, answer, bert_score, citations, retrieval, speed
from eval.scoring.offline import ragas_metrics as ragas_offline

_MODULES = (retrieval, answer, bert_score, citations, abstention, speed, ragas_offline, ragas_judged, deepeval_metrics)

METRICS: Mapping[str, Metric] = MappingProxyType(
    {metric.name: metric for module in _MODULES for metric in module.METRICS}
)
FAMILIES: tuple[str, ...] = tuple(dict.fromkeys(metric.family for metric in METRICS.values()))
