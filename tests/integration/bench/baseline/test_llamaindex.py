"""The stock recipe runs as it comes, and its index is built once."""

from contextlib import closing
from pathlib import Path

import pytest

from bench.baseline.llamaindex import StockPassage, StockRecipe
from index.documents.store import Document
from index.embedding.model import load_embedding_model

pytestmark = pytest.mark.slow

WIND = Document("wind/rotor.txt", "Rotor", "Wind turns the rotor of a turbine, and the rotor turns a generator.")
SUN = Document("sun.txt", "Sun", "Photovoltaic cells turn sunlight into direct current without moving parts.")


def asked(documents: list[Document], folder: Path, question: str) -> tuple[bool, list[StockPassage]]:
    """Open the recipe, ask, close; return whether the index was built, and the passages."""
    with closing(StockRecipe(documents, folder, load_embedding_model("minilm").folder)) as recipe:
        return recipe.built, recipe.retrieve(question)


def test_the_index_is_built_once_and_again_when_the_documents_change(tmp_path: Path) -> None:
    question, sun, wind = (
        "What do solar cells do?",
        StockPassage("sun.txt", SUN.text),
        StockPassage("wind/rotor.txt", WIND.text),
    )

    assert asked([WIND, SUN], tmp_path / "stock", question) == (True, [sun, wind])
    assert asked([SUN, WIND], tmp_path / "stock", question) == (False, [sun, wind])
    assert asked([WIND], tmp_path / "stock", question) == (True, [wind])


def test_a_half_built_index_is_thrown_away(tmp_path: Path) -> None:
    folder = tmp_path / "stock"
    folder.mkdir()
    (folder / "docstore.json").write_text("{")

    assert asked([WIND], folder, "What turns the rotor?") == (True, [StockPassage("wind/rotor.txt", WIND.text)])
