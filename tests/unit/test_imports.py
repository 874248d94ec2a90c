"""What importing the service loads: a start must stay quick, and evaluation out of it."""

import json
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[2]
# Only what was actually executed counts, so this needs a separate interpreter.
PROBE = "import json, sys, {}; print(json.dumps(sorted(sys.modules)))"
WITHOUT = """
import importlib, pkgutil, sys
sys.modules.update(dict.fromkeys(["ragas", "langchain", "langchain_core", "langchain_community", "datasets"]))
import eval
needs_it = {
    "eval.scoring.ragas_calls",
    "eval.scoring.judged.deepeval_worker",
    "eval.__main__",
}
for module in pkgutil.walk_packages(eval.__path__, "eval."):
    if module.name not in needs_it:
        importlib.import_module(module.name)
"""


def loaded_by(module: str) -> set[str]:
    """Return the names of all modules that a Python has loaded after importing one."""
    command = [sys.executable, "-c", PROBE.format(module)]
    run = subprocess.run(command, cwd=HOME, capture_output=True, text=True, check=True)
    return set(json.loads(run.stdout))


def test_what_can_be_refused_at_once_is_refused_before_the_libraries_are_loaded() -> None:
    assert not loaded_by("main") & {"llama_index", "chromadb", "fastapi", "sqlalchemy", "openvino", "tantivy"}


def test_the_service_loads_no_evaluation_library_and_no_pytorch() -> None:
    loaded = loaded_by("api.serve")

    assert {"api", "query_engine", "index", "llama_index", "fastapi"} <= loaded
    assert not loaded & {"ragas", "langchain", "langchain_core", "langchain_community", "datasets", "deepeval"}
    assert not loaded & {"torch", "transformers", "sentence_transformers"}
    # Half a second; `/mcp` loads it with the first request.
    assert not loaded & {"mcp", "mcp_types", "httpx2"}
    # Only where traces are sent. The SDK is Chroma's as well.
    assert not loaded & {"api.telemetry.tracing", "opentelemetry.exporter.otlp.proto.http"}
    # Loaded with the first text whose language is named, and for the command line's tables.
    assert not loaded & {"py3langid", "pyarrow.parquet"}
    # What `llama-index` bundles is installed, and not loaded.
    assert not loaded & {"openai", "llama_index.embeddings.openai", "llama_index.llms.openai", "treeline"}


def test_the_evaluation_loads_without_its_libraries() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT], cwd=HOME, capture_output=True, text=True, check=False)

    assert run.returncode == 0, run.stderr
