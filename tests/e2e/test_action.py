"""The action for pull requests: its script passes the sample as it is, and fails where answers are lost."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from eval.comparing.baseline import SAMPLE
from tests.e2e.program import REPOSITORY, environment

ACTION = REPOSITORY / "deploy/action"
STEPS = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
LIMIT_S = 900


def gate(folder: Path, corpus: Path) -> tuple[int, dict[str, str]]:
    """Run the script as the action does; return its exit code, and why each metric failed that did."""
    out = folder / "out"
    (folder / ".env").touch()
    given = {"CASES": "data/questions.jsonl", "BASELINE": str(SAMPLE)}
    paths = {name: str(REPOSITORY / path) for name, path in given.items()}
    done = subprocess.run(
        [ACTION / "run.sh"],
        env=environment(PYTHON=sys.executable, OUT=str(out), CORPUS=str(corpus), **paths),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (out / "gate.xml").exists(), done.stderr
    assert (out / "compare.md").read_text(encoding="utf-8") in done.stdout
    tests = ElementTree.parse(out / "gate.xml").getroot().iter("testcase")
    failures = {one.get("name", ""): one.find("failure") for one in tests}
    return done.returncode, {name: str(one.get("message")) for name, one in failures.items() if one is not None}


@pytest.mark.slow
@pytest.mark.promise("E26")
def test_the_sample_passes_its_own_baseline(tmp_path: Path) -> None:
    assert gate(tmp_path, REPOSITORY / "data/corpus") == (0, {})


@pytest.mark.slow
@pytest.mark.promise("E26")
def test_a_change_that_loses_documents_fails(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    shutil.copytree(REPOSITORY / "data/corpus/solar", corpus)

    code, failed = gate(tmp_path, corpus)

    assert code == 1
    assert failed["word_recall"].startswith("worse by")


def test_the_action_gives_the_script_what_it_reads() -> None:
    given = STEPS["runs"]["steps"][-1]["env"]
    script = (ACTION / "run.sh").read_text(encoding="utf-8")

    assert {value for value in given.values() if "inputs." in value} == {
        f"${{{{ inputs.{name} }}}}" for name in STEPS["inputs"]
    }
    assert all(f"${name}" in script or f"${{{name}:-" in script for name in given)
    assert not any("${{" in step.get("run", "") for step in STEPS["runs"]["steps"])
    assert os.access(ACTION / "run.sh", os.X_OK)
