"""What importing the service loads: a start must stay quick, and evaluation out of it."""

import json
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[2]
# Only what was actually executed counts, so this needs an interpreter of its own.
PROBE = "import json, sys, main; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def test_the_service_loads_no_evaluation_library_and_no_pytorch() -> None:
    run = subprocess.run([sys.executable, "-c", PROBE], cwd=HOME, capture_output=True, text=True, check=True)
    loaded = set(json.loads(run.stdout))

    assert {"api", "query_engine", "index", "llama_index", "fastapi"} <= loaded
    assert not loaded & {"ragas", "langchain", "langchain_core", "langchain_community", "datasets", "deepeval"}
    assert not loaded & {"torch", "transformers", "sentence_transformers"}
