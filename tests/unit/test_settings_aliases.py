"""Variables of mosaicRAG that have a meaning here are taken from the environment and from `.env`."""

from pathlib import Path

import pytest

from errors import SettingsError
from settings import load_settings


def test_an_alias_is_read_and_the_own_name_wins(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text('APP_TITLE=Library\nAPP_DEFAULT_PIPELINE=\'{"1": {"id": "corpus_datasource"}}\'\nREDIS_HOST=none\n')

    settings = load_settings({"RAG_PIPELINES__UNKNOWN_CHAT_STATUS": "404"}, file)

    assert settings.serve.title == "Library"
    assert settings.pipelines.default == {"1": {"id": "corpus_datasource"}}
    assert settings.pipelines.unknown_chat_status == 404
    assert load_settings({"APP_TITLE": "Shelf"}, file).serve.title == "Shelf"
    assert load_settings({"RAG_SERVE__TITLE": "Own"}, file).serve.title == "Own"


@pytest.mark.parametrize("given", ["{", "[]"])
def test_a_default_pipeline_that_is_no_object_is_refused_by_its_name(given: str) -> None:
    with pytest.raises(SettingsError, match="RAG_PIPELINES__DEFAULT is not valid"):
        load_settings({"APP_DEFAULT_PIPELINE": given}, None)
