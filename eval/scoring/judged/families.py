"""All families of our own judged metrics, by name: what `--family` offers beside RAGAS's."""

from collections.abc import Mapping

from eval.scoring.judged import argue, key_points, nuggets, relevance, report_quality, support
from eval.scoring.judged.family import Family

OWN: Mapping[str, Family] = {
    module.FAMILY.name: module.FAMILY for module in (nuggets, key_points, support, argue, relevance, report_quality)
}
