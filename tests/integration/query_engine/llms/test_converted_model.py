"""A model that `optimum-cli` converted, as docs/training.md advises, is served by OpenVINO."""

import os
import subprocess
from pathlib import Path

import pytest

from query_engine.llms.openvino import load_openvino
from settings import LLMSettings
from tests.fakes.language_models import make_language_model

OPTIMUM = Path(__file__).parents[4] / ".venv-optimum/bin/optimum-cli"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OPTIMUM.exists(), reason="there is no .venv-optimum: `make test-slow` makes it"),
]


def test_a_converted_model_answers(tmp_path: Path) -> None:
    made, model = tmp_path / "made", make_language_model(tmp_path / "tiny")
    options = ["--task", "text-generation-with-past", "--weight-format", "int8"]
    subprocess.run(
        [OPTIMUM, "export", "openvino", "--model", model, *options, made],
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
        check=True,
        capture_output=True,
        timeout=300,
    )
    loaded = load_openvino(LLMSettings(provider="openvino", model=str(made), max_new_tokens=16), tmp_path)
    assert isinstance(loaded.llm.complete("When?").text, str)
