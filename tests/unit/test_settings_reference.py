"""`reference/settings.md` and `.env.example` show every setting as it is declared."""

from pathlib import Path

from settings import HOME, load_settings, variables
from settings_reference import example_file, reference_page

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / ".env.example"
PAGE = ROOT / "reference" / "settings.md"


def test_both_files_are_what_the_generator_writes() -> None:
    assert reference_page() == PAGE.read_text()
    assert example_file() == EXAMPLE.read_text()


def test_every_setting_has_its_row_with_default_and_meaning() -> None:
    rows = {line.split("`")[1]: line for line in PAGE.read_text().splitlines() if line.startswith("| `RAG_")}

    assert set(rows) == set(variables())
    assert all(rows[name].endswith(f"| {meaning} |") for name, (_, _, meaning) in variables().items())
    assert "| `8000` |" in rows["RAG_SERVE__PORT"]


def test_permitted_values_are_shown() -> None:
    page = PAGE.read_text()

    assert "| 0 to 65,535 |" in page
    assert "| > 0, ≤ 3,600 |" in page
    assert "| `hybrid`, `dense`, `lexical` |" in page


def test_the_example_uncommented_as_it_stands_changes_nothing(tmp_path: Path) -> None:
    uncommented = tmp_path / ".env"
    uncommented.write_text(EXAMPLE.read_text().replace("\n#RAG_", "\nRAG_"))

    assert "\nRAG_SERVE__PORT=8000\n" in uncommented.read_text()
    # Folders that a `.env` file names lie beside it, those of the defaults in the checkout.
    assert str(load_settings({}, uncommented)).replace(str(tmp_path), str(HOME)) == str(load_settings({}, None))
