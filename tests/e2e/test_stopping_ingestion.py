"""Signals in the middle of an ingestion: it ends soon and in order, and the same command goes on."""

import json
import signal
from pathlib import Path

import pytest

from tests.e2e.program import START_TIMEOUT_S, Process, run

pytestmark = pytest.mark.slow

FILES = 60
STOP_S = 30

WAITING = """
import signal, sys
from ingestion.console.signals import StopSignals
with StopSignals():
    print("ready", file=sys.stderr)
    while True:
        signal.pause()
"""
KNOWN = """
import json, sys
from ingestion.__main__ import main
code = main(sys.argv[1:])
heavy = {"chromadb", "llama_index", "tantivy", "openvino", "torch"} & {name.partition(".")[0] for name in sys.modules}
print(json.dumps(sorted(heavy)), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of many small passages: several batches' work, which takes seconds and not longer."""
    folder = tmp_path_factory.mktemp("library")
    for number in range(FILES):
        lines = (f"Shelf {number} holds book {book}, which has {book * number} pages." for book in range(70))
        (folder / f"{number:02}.txt").write_text("\n\n".join(lines))
    return folder


@pytest.fixture
def small_leaves(tmp_path: Path, model_cache: Path) -> dict[str, str]:
    """Return settings for a separate corpus with short leaves."""
    chunks = {"RAG_CHUNK__ROOT_TOKENS": "400", "RAG_CHUNK__MIDDLE_TOKENS": "160", "RAG_CHUNK__LEAF_TOKENS": "52"}
    return {**chunks, "RAG_INDEX__DIR": str(tmp_path / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache)}


def stopped(library: Path, variables: dict[str, str], folder: Path, number: signal.Signals) -> tuple[int, int]:
    """Stop an ingestion after its first batch; return its exit code and how many documents it brought in."""
    with Process(["-m", "ingestion", str(library), "--json"], variables, folder) as process:
        process.wait_for('"outcome": "new"', START_TIMEOUT_S)
        process.signal(number)
        done = json.loads(process.wait_for('.*"event": "done".*', STOP_S)[0])
        assert done["stopped"]
        assert "Traceback" not in process.log
        return process.exit_code(), done["new"]


@pytest.mark.fault("A13")
def test_ctrl_c_stops_and_the_same_command_goes_on(library: Path, small_leaves: dict[str, str], tmp_path: Path) -> None:
    code, new = stopped(library, small_leaves, tmp_path, signal.SIGINT)

    assert code == 130
    assert 0 < new < FILES

    again = run(["-m", "ingestion", str(library)], small_leaves, tmp_path)
    summary = json.loads(again.stdout)
    assert again.returncode == 0
    assert (summary["unchanged"], summary["new"], summary["stopped"]) == (new, FILES - new, False)

    known = run(["-c", KNOWN, str(library)], small_leaves, tmp_path)
    assert json.loads(known.stdout)["unchanged"] == FILES
    assert known.stderr.splitlines()[-1] == "[]", "what finds nothing new must not wait for large libraries"


@pytest.mark.fault("A13")
def test_sigterm_stops_as_well(library: Path, small_leaves: dict[str, str], tmp_path: Path) -> None:
    code, new = stopped(library, small_leaves, tmp_path, signal.SIGTERM)

    assert code == 143
    assert 0 < new < FILES


@pytest.mark.fault("A13")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, number: signal.Signals) -> None:
    with Process(["-c", WAITING], {}, tmp_path) as process:
        process.wait_for("ready")
        process.signal(number)
        process.wait_for("Once more stops at once")
        process.signal(number)

        assert process.exit_code() == -number
