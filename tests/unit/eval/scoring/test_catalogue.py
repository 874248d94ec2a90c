"""Whoever reads a score can look up what it is."""

from pathlib import Path

from eval.scoring.catalogue import FAMILIES, METRICS

DOCUMENT = Path(__file__).parents[4] / "docs" / "evaluation.md"


def test_every_metric_says_what_it_is_and_has_a_name_of_its_own() -> None:
    assert {"retrieval", "answer", "citations", "abstention", "speed", "ragas_offline"} <= set(FAMILIES)
    assert all(name == metric.name and metric.about.endswith(".") for name, metric in METRICS.items())


def test_every_metric_is_in_the_documentation() -> None:
    text = DOCUMENT.read_text()
    budgeted = {name: f"{name.partition('@')[0]}@N" if name.endswith("000") else name for name in METRICS}

    assert [name for name, shown in budgeted.items() if f"`{shown}`" not in text] == []
