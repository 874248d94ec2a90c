"""The dashboard and the alerts ask for what `/metrics` tells, and for all of it."""

import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

import errors
from api.errors import STATUS as STATUS_OF_CODE
from api.telemetry.metrics import Metrics
from query_engine.runtime.watching import ModelCall
from tests.fakes.engines import a_done

HOME = Path(__file__).parents[2]
# What Prometheus adds to every sample, and the one metric that it makes itself.
SCRAPED = {"job", "instance"}
OF_PROMETHEUS = {"up": SCRAPED}
STATUS: dict[str, Any] = {
    "embedding": "minilm",
    "synthesizer": "extractive",
    "corpora": {"default": {"documents": 3, "leaves": 12, "generation": 1}},
    "refused": {},
    "llm_ready": True,
}


def exposed() -> dict[str, set[str]]:
    """Return the labels of every sample that a service can tell."""
    metrics = Metrics()
    metrics.request("GET", "/health", 200, 0.1, "not_found")
    metrics.answer(a_done())
    metrics.stage("write", 0.1)
    metrics.model_call(ModelCall("openai", "tiny", input_tokens=1, output_tokens=1), 0.1, "ok")
    ingested = {"stopped": False, "dry_run": False, "new": 1, "changed": 0, "docs_failed": 0, "leaves": 1}
    metrics.ingestion(lambda: ingested)
    text = metrics.exposition(STATUS, "")[0].decode()
    return {
        sample.name: set(sample.labels) for family in text_string_to_metric_families(text) for sample in family.samples
    } | OF_PROMETHEUS


EXPOSED = exposed()
BOARD = json.loads((HOME / "deploy" / "grafana.json").read_text())
RULES = [
    rule for group in yaml.safe_load((HOME / "deploy" / "alerts.yaml").read_text())["groups"] for rule in group["rules"]
]
PANELS = [panel for panel in BOARD["panels"] if panel["type"] != "row"]
QUERIES = {f"{panel['title']} {target['refId']}": target for panel in PANELS for target in panel["targets"]}
EXPRESSIONS = {name: target["expr"] for name, target in QUERIES.items()} | {
    rule["alert"]: rule["expr"] for rule in RULES
}


def names_in(expression: str) -> list[str]:
    return re.findall(r"\b(?:treeline|process)_\w+|\bup\b", expression)


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_query_names_what_is_told(expression: str) -> None:
    names = names_in(expression)

    assert names
    assert set(names) <= EXPOSED.keys()
    known = set.union(*(EXPOSED[name] for name in names)) | SCRAPED
    for name, selectors in re.findall(r"(\w+)\{([^}]*)\}", expression):
        assert set(re.findall(r"(\w+)\s*(?:=~|!=|=)", selectors)) <= EXPOSED[name] | SCRAPED
    for grouped in re.findall(r"by \(([^)]*)\)", expression):
        assert set(grouped.replace(" ", "").split(",")) <= known


@pytest.mark.parametrize("target", QUERIES.values(), ids=QUERIES)
def test_a_legend_names_labels_that_the_query_keeps(target: dict[str, str]) -> None:
    named = set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    kept = {name for grouped in re.findall(r"by \(([^)]*)\)", target["expr"]) for name in re.split(r",\s*", grouped)}

    assert named <= (kept or SCRAPED)


def test_every_metric_is_shown() -> None:
    shown = {name for expression in EXPRESSIONS.values() for name in names_in(expression)}
    stems = {re.sub(r"_(bucket|count|sum)$", "", name) for name in EXPOSED if name.startswith("treeline_")}

    assert stems - {re.sub(r"_(bucket|count|sum)$", "", name) for name in shown} == set()


def test_codes_in_the_alerts_are_codes_of_errors() -> None:
    codes = set(STATUS_OF_CODE)
    codes |= {cls.code for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, errors.RagError)}
    named = [
        code for rule in RULES for found in re.findall(r'code=~?"([^"]+)"', rule["expr"]) for code in found.split("|")
    ]

    assert named
    assert set(named) <= codes


def test_the_guide_explains_every_alert() -> None:
    guide = (HOME / "docs" / "operations.md").read_text()

    assert [rule["alert"] for rule in RULES if f"`{rule['alert']}`" not in guide] == []
    assert all({"expr", "labels", "annotations"} <= rule.keys() for rule in RULES)


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in BOARD["panels"]}) == len(BOARD["panels"])
