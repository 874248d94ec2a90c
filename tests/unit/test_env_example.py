"""`.env.example` shows every setting with its default.

Written by `PYTHONPATH=. python tests/unit/test_env_example.py > .env.example`.
"""

import sys
from pathlib import Path

from settings import HOME, load_settings, variables

EXAMPLE = Path(__file__).parents[2] / ".env.example"
HEAD = "# Copy this file to .env and uncomment what you change. Every variable stands here with its default.\n"


def rendered() -> str:
    """Return what the file should say."""
    entries = []
    for name, (_, default, description) in variables().items():
        value = "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
        entries.append(f"\n# {description}\n#{name}={value}\n")
    return HEAD + "".join(entries)


def test_it_lists_every_setting_with_its_default_and_meaning() -> None:
    assert EXAMPLE.read_text() == rendered()


def test_uncommented_as_it_stands_it_changes_nothing(tmp_path: Path) -> None:
    uncommented = tmp_path / ".env"
    uncommented.write_text(EXAMPLE.read_text().replace("\n#RAG_", "\nRAG_"))

    assert "\nRAG_SERVE__PORT=8000\n" in uncommented.read_text()
    # Folders that a `.env` file names lie beside it, those of the defaults in the checkout.
    assert str(load_settings({}, uncommented)).replace(str(tmp_path), str(HOME)) == str(load_settings({}, None))


if __name__ == "__main__":
    sys.stdout.write(rendered())
