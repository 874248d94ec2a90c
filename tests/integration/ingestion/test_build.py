"""One ingestion run from settings: what it leaves behind when it cannot begin."""

from pathlib import Path

import pytest

from errors import UnreadableError
from ingestion.build import ingest
from settings import IndexSettings, Settings


@pytest.mark.parametrize("rebuild", [False, True])
def test_a_path_that_does_not_exist_makes_no_corpus(tmp_path: Path, rebuild: bool) -> None:
    settings = Settings(index=IndexSettings(dir=tmp_path / "index"))

    with pytest.raises(UnreadableError, match="No such file"):
        ingest(tmp_path / "misspelt", settings, corpus="papers", rebuild=rebuild)

    assert not (tmp_path / "index" / "papers").exists()
