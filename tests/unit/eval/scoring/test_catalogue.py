"""Every score's meaning can be looked up."""

import subprocess
import sys
from pathlib import Path

from eval.scoring.catalogue import METRICS

HOME = Path(__file__).parents[4]
DOCUMENT = HOME / "docs" / "evaluation.md"


def test_every_metric_has_a_definition_and_a_unique_name() -> None:
    families = {metric.family for metric in METRICS.values()}
    assert {"retrieval", "answer", "citations", "abstention", "speed", "ragas_offline"} <= families
    assert all(name == metric.name and metric.about.endswith(".") for name, metric in METRICS.items())


def test_every_metric_is_in_the_documentation() -> None:
    text = DOCUMENT.read_text()
    budgeted = {name: f"{name.partition('@')[0]}@N" if name.endswith("000") else name for name in METRICS}

    assert [name for name, shown in budgeted.items() if f"`{shown}`" not in text] == []


def test_reading_what_metrics_are_loads_no_model_library() -> None:
    probe = "import sys, eval.scoring.catalogue; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", probe], cwd=HOME, capture_output=True, text=True, check=True)

    assert not {"numpy", "llama_index", "openvino", "ragas", "langchain_core"} & set(run.stdout.split())
