"""The presets, each applied as `cp presets/NAME.env .env`. Two of them run in `test_seed_examples.py`, one here."""

from pathlib import Path

import httpx
import pytest

from settings import load_settings
from tests.e2e.conftest import MAIN, WIND
from tests.e2e.program import REPOSITORY, Program, preset
from tests.servers.scripted_llm import Script, ScriptedLLM

PRESETS = sorted((REPOSITORY / "presets").glob("*.env"))


@pytest.mark.parametrize("file", PRESETS, ids=lambda file: file.stem)
def test_every_line_of_a_preset_is_a_setting_also_those_that_its_user_may_switch_on(file: Path, tmp_path: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    optional = [line.removeprefix("#") for line in lines if line.startswith("#RAG_")]
    whole = tmp_path / ".env"
    whole.write_text("\n".join([*lines, *(f"{line}filled-in" if line.endswith("=") else line for line in optional)]))

    assert load_settings({}, file) != load_settings({}, None)
    assert (load_settings({}, whole) != load_settings({}, file)) == bool(optional)


@pytest.mark.promise("E10")
@pytest.mark.slow
def test_bedrocks_recipe_ingests_answers_and_falls_back_to_the_smaller_model(folder: Path, model_cache: Path) -> None:
    home = preset("bedrock", folder)
    (home / "data" / "corpus_raw").mkdir(parents=True)
    (home / "data" / "corpus_raw" / "wind.md").write_text(WIND * 3, encoding="utf-8")
    with ScriptedLLM(
        Script(status=400), Script(text="Albert Betz published the limit in 1919 [1]."), Script(text="I don't know.")
    ) as mistral:
        places = {"RAG_INDEX__DIR": "index", "RAG_EMBED__CACHE_DIR": str(model_cache), "RAG_SERVE__PORT": "0"}
        key = {"RAG_LLM__BASE_URL": mistral.base_url, "RAG_LLM__API_KEY": "mistral-key"}
        with (
            Program([MAIN], {**places, **key}, home) as service,
            httpx.Client(base_url=service.url, timeout=60) as http,
        ):
            job = http.post("/ingest", json={"path": "data/corpus_raw", "wait": True})
            question = {"question": "Who published the Betz limit?", "top_k": 4, "include_context": True}
            reply = http.post("/query", json=question).json()
            declined = http.post("/query", json={"question": "Which colour has the zebra mussel?"}).json()

    assert job.status_code == 200, job.text
    assert reply["answer"] == "Albert Betz published the limit in 1919 [1]."
    assert 0 < len(reply["retrieved"]) <= 4
    assert all(set(one["scores"]) >= {"dense", "lexical"} for one in reply["retrieved"])
    assert [request["model"] for request in mistral.requests[:2]] == ["mistral-large-latest", "mistral-small-latest"]
    assert set(mistral.keys) == {"bearer mistral-key"}
    assert (declined["answer"], declined["citations"]) == (None, [])
