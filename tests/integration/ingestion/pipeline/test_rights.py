"""Who may see a document is read from beside it, and again once that changes."""

import pytest

from errors import UnreadableError
from tests.fakes.library import Library

SIDECAR = "a.md.meta.json"


def allowed(library: Library) -> object:
    document = library.corpus.documents.get("a.md")
    assert document is not None
    return document.metadata.get("allow")


def test_a_sidecar_is_no_document_and_names_the_groups_of_its_file(library: Library) -> None:
    (library.files / "a.md").write_text("---\nallow: everyone\n---\nWind.")
    (library.files / SIDECAR).write_text('{"allow": "staff, board", "year": 1919}')

    library.ingest()

    assert library.doc_ids() == ["a.md"]
    assert allowed(library) == ["staff", "board"]


@pytest.mark.parametrize("named", ["a.md", SIDECAR])
def test_a_sidecar_that_changes_or_goes_has_its_file_read_again(library: Library, named: str) -> None:
    (library.files / "a.md").write_text("Wind.")
    library.ingest()
    seen = [allowed(library)]

    (library.files / SIDECAR).write_text('{"allow": ["staff"]}')
    library.ingest(only=(named,))
    seen.append(allowed(library))
    assert library.ingest().unchanged == 1
    (library.files / SIDECAR).unlink()
    library.ingest(only=(named,))
    seen.append(allowed(library))

    assert seen == [None, ["staff"], None]


@pytest.mark.parametrize(
    "broken", ["{", "[]", '{"allow": []}', '{"allow": 7}', '{"allow": [["staff"]]}', "x" * 200_000]
)
def test_a_file_whose_groups_are_not_known_is_not_shown_to_everybody(library: Library, broken: str) -> None:
    (library.files / "a.md").write_text("Wind.")
    (library.files / SIDECAR).write_text(broken)

    assert [one["source"] for one in library.ingest().failed] == ["a.md"]
    assert library.doc_ids() == []


@pytest.mark.parametrize("line", ["allow: []", "Allow: [1]", "ALLOW: true"])
def test_nor_is_one_whose_front_matter_is_broken(library: Library, line: str) -> None:
    (library.files / "a.md").write_text(f"---\n{line}\n---\nWind.")

    assert [one["source"] for one in library.ingest().failed] == ["a.md"]


def test_a_run_names_the_groups_of_all_its_documents(library: Library) -> None:
    (library.files / "a.md").write_text("---\nAllow: board\n---\nWind.")
    library.ingest(metadata={"allow": "staff"})

    assert allowed(library) == ["staff"]
    with pytest.raises(UnreadableError, match="allow"):
        library.ingest(metadata={"allow": True})
