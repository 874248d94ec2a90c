"""With default settings the service needs no PyTorch: its image leaves PyTorch out."""

from pathlib import Path

import pytest

from tests.e2e.program import run

PROGRAM = '''
import sys
class Absent:
    """An import of these fails, as if they were not installed."""
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "transformers", "sentence_transformers", "nncf"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
from ingestion.__main__ import main as ingest
from query_engine.__main__ import main as ask
sys.exit(ingest([sys.argv[1]]) or ask(["When did the lamp go out?"]))
'''


@pytest.mark.promise("A43")
@pytest.mark.slow
def test_ingesting_and_answering_work_without_it(tmp_path: Path, model_cache: Path) -> None:
    document = tmp_path / "lamp.md"
    document.write_text(
        "# The lamp\n\nThe lamp went out at midnight, because the oil was used up.\n" + "Nobody saw it. " * 200
    )
    settings = {"RAG_INDEX__DIR": str(tmp_path / "index"), "RAG_EMBED__CACHE_DIR": str(model_cache)}

    answered = run(["-c", PROGRAM, str(document)], settings, tmp_path)

    assert answered.returncode == 0, answered.stderr
    assert "went out at midnight" in answered.stdout
