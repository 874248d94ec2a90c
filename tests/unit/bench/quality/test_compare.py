"""Two measurements of retrieval are compared metric by metric, in questions."""

import json
from pathlib import Path
from typing import Any

import pytest

from bench.quality.compare import Cell, NotComparableError, cells_of, changed_settings, read_figures, table


def figures(precision: str = "fp32", **means: tuple[float, int]) -> dict[str, Any]:
    """Return what a retrieval.json holds."""
    ours = {name.replace("_", "@"): {"value": value, "n": n} for name, (value, n) in means.items()}
    return {
        "settings": {"embed": {"model": "minilm", "precision": precision}},
        "sets": {"wind": {"means": {"stock": {"mrr": {"value": 0.1, "n": 9}}, "ours": ours}}},
    }


def test_every_shared_metric_is_paired_in_order_and_the_stock_recipe_is_left_out() -> None:
    before = figures(doc_10=(0.5, 20), doc_3=(0.5, 20), mrr=(0.25, 20))
    after = figures(doc_10=(0.4, 20), doc_3=(0.6, 20), extra=(1.0, 1))

    cells = cells_of(before, after)

    assert cells == [Cell("wind", "ours", "doc@3", 20, 0.5, 0.6), Cell("wind", "ours", "doc@10", 20, 0.5, 0.4)]
    assert [round(cell.questions, 6) for cell in cells] == [2.0, -2.0]


def test_the_table_names_the_largest_loss_in_questions_and_the_mean_over_all() -> None:
    cells = [Cell("wind", "ours", "doc@1", 50, 0.5, 0.47), Cell("sun", "ours", "mrr", 10, 0.6, 0.65)]

    assert table(cells).splitlines() == [
        "| set | system | metric | n | before | after | diff | questions |",
        "|---|---|---|---:|---:|---:|---:|---:|",
        "| wind | ours | doc@1 | 50 | 0.5000 | 0.4700 | -0.0300 | -1.50 |",
        "| sun | ours | mrr | 10 | 0.6000 | 0.6500 | +0.0500 | +0.50 |",
        "| **all** | | **mean** | 2 metrics | 0.5500 | 0.5600 | +0.0100 |  |",
        "",
        "Largest loss: 1.50 questions (wind, ours, doc@1). Mean over all metrics: +0.0100.",
    ]


def test_no_loss_is_said_to_be_none() -> None:
    assert "No metric lost anything." in table([Cell("wind", "ours", "mrr", 5, 0.5, 0.5)])


def test_settings_that_differ_are_named() -> None:
    assert changed_settings(figures("fp32"), figures("int8")) == ["embed.precision: fp32 -> int8"]


def test_other_numbers_of_questions_are_refused() -> None:
    with pytest.raises(NotComparableError, match="wind, mrr: 20 questions were asked before, 10 after"):
        cells_of(figures(mrr=(0.5, 20)), figures(mrr=(0.5, 10)))


def test_files_that_share_nothing_are_refused() -> None:
    with pytest.raises(NotComparableError, match="share no data set and system"):
        cells_of(figures(), figures())


@pytest.mark.parametrize("content", ["", "[]", '{"sets": {}}', json.dumps({"sets": {"wind": [1]}})])
def test_a_file_without_figures_of_retrieval_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "retrieval.json"
    path.write_text(content)

    with pytest.raises(NotComparableError, match="holds no figures of retrieval"):
        read_figures(path)
