"""The same text under several ids: kept under each, embedded once, found and shown once."""

import json

import pytest

from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.schema.passage import Passage
from settings import AnswerSettings, RetrievalSettings, Settings
from tests.fakes.filters import one
from tests.fakes.library import Library
from tests.fakes.reading import a_leaf_reader

QUESTION = "Who published the rotor limit of turbines?"
TEXT = "Albert Betz published the rotor limit of turbines.\n\n" + "\n\n".join(
    f"Paragraph {number} on the limit of rotors says {' '.join(f'word{number}x{place}' for place in range(40))}."
    for number in range(8)
)
OTHER = "Sails are cut from cloth. The rotor is not a sail."


def write(library: Library, name: str, text: str = TEXT, title: str = "# Rotors\n\n") -> None:
    (library.files / name).parent.mkdir(exist_ok=True)
    (library.files / name).write_text(title + text)


def engine(library: Library) -> Engine:
    corpus, embedder = library.corpus, library.embedder
    settings = Settings(answer=AnswerSettings(min_confidence=0, low_confidence=0))
    reader = a_leaf_reader(corpus)
    return Engine(corpus, embedder, reader, (), settings=settings)


def passages(library: Library, filters: dict[str, object] | None = None, **options: object) -> list[Passage]:
    found = engine(library).retrieve(Inquiry(QUESTION, filters), RetrievalSettings.model_validate(options)).passages
    return list(found)


def shown(library: Library, filters: dict[str, object] | None = None, **options: object) -> set[str]:
    found = passages(library, filters, **options)
    assert len({passage.text for passage in found}) == len(found)
    return {passage.doc_id for passage in found}


@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
@pytest.mark.parametrize("dense_share", [None, 0.6])
def test_a_copy_is_kept_and_named_embedded_once_and_shown_once(
    library: Library, mode: str, dense_share: float | None
) -> None:
    for name in ("a.md", "copies/b.md", "c.md"):
        write(library, name)
    write(library, "sails.md", OTHER)

    summary = library.ingest()

    assert library.doc_ids() == ["a.md", "c.md", "copies/b.md", "sails.md"]
    assert {entry["doc_id"]: entry["duplicate_of"] for entry in summary.duplicates} == {
        "c.md": "a.md",
        "copies/b.md": "a.md",
    }
    assert summary.embedded == len(library.corpus.documents.get("a.md").tree.leaves) + 1  # type: ignore[union-attr]
    assert shown(library, mode=mode, dense_share=dense_share) == {"a.md", "sails.md"}


def test_a_copy_that_comes_later_is_not_embedded_again(library: Library) -> None:
    write(library, "a.md")
    library.ingest()
    write(library, "b.md")

    summary = library.ingest()

    assert (summary.new, summary.embedded, library.embedder.texts_embedded) == (1, 0, 0)
    assert summary.duplicates == [{"doc_id": "b.md", "duplicate_of": "a.md"}]
    assert library.ingest().duplicates == []


@pytest.mark.parametrize("later", [True, False])
def test_plain_text_that_is_titled_by_its_file_is_embedded_once_too(library: Library, later: bool) -> None:
    write(library, "a.txt", title="")
    if later:
        library.ingest()
    write(library, "b.txt", title="")

    library.ingest()

    leaves = len(library.corpus.documents.get("a.txt").tree.leaves)  # type: ignore[union-attr]
    assert library.embedder.texts_embedded == (0 if later else leaves)
    assert len(shown(library)) == 1


def test_a_dry_run_names_the_copies(library: Library) -> None:
    write(library, "a.md")
    write(library, "b.md")

    assert library.ingest(dry_run=True).duplicates == [{"doc_id": "b.md", "duplicate_of": "a.md"}]


@pytest.mark.parametrize("removed", ["a.md", "b.md"])
def test_the_copy_that_remains_is_found(library: Library, removed: str) -> None:
    write(library, "a.md")
    write(library, "b.md")
    library.ingest()

    library.corpus.delete([removed])

    assert shown(library) == {"a.md", "b.md"} - {removed}


def test_the_copy_that_remains_is_found_after_its_original_has_changed(library: Library) -> None:
    write(library, "a.md")
    write(library, "b.md")
    library.ingest()
    write(library, "a.md", OTHER)
    library.ingest()

    assert shown(library) == {"a.md", "b.md"}


def test_a_filter_that_allows_only_the_copy_finds_it(library: Library) -> None:
    write(library, "a.md")
    write(library, "b.md")
    library.ingest()

    assert shown(library, one("doc_id", "==", "b.md")) == {"b.md"}


def test_records_with_one_text_are_found_once_and_by_their_own_titles(library: Library) -> None:
    records = [{"id": f"r{number}", "title": f"Turbine {word}", "text": TEXT} for number, word in enumerate("xyz")]
    records.append({"id": "r3", "title": "Turbine x", "text": TEXT})
    (library.files / "rows.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))

    summary = library.ingest()

    assert [entry["doc_id"] for entry in summary.duplicates] == ["r1", "r2", "r3"]
    assert {entry["duplicate_of"] for entry in summary.duplicates} == {"r0"}
    assert library.doc_ids() == ["r0", "r1", "r2", "r3"]
    assert "r3" not in shown(library), "the record of the same title and text stands for it"


def test_a_record_that_got_another_id_is_no_copy_of_itself(library: Library) -> None:
    (library.files / "rows.jsonl").write_text(json.dumps({"id": "before", "text": TEXT}))
    library.ingest()
    (library.files / "rows.jsonl").write_text(json.dumps({"id": "after", "text": TEXT}))

    summary = library.ingest()

    assert (summary.embedded, summary.duplicates, library.doc_ids()) == (0, [], ["after"])


@pytest.mark.fault("E14")
def test_many_copies_do_not_crowd_out_other_documents(library: Library) -> None:
    for number in range(30):
        write(library, f"copy{number}.md")
    write(library, "sails.md", OTHER)
    library.ingest()

    assert "sails.md" in shown(library, candidates_k=12)


def test_a_paragraph_of_two_documents_is_shown_once(library: Library) -> None:
    shared = " ".join(["Albert Betz published the rotor limit of turbines in a paper of three pages."] * 4)
    for name, word in (("a.md", "sails"), ("b.md", "mills")):
        rest = " ".join(f"{word}{place}" for place in range(50))
        write(library, name, f"{shared}\n\n{rest}.", title="")
    library.ingest()

    assert sum("three pages" in passage.text for passage in passages(library, merge=False)) == 1


async def test_an_answer_cites_a_copy_once(library: Library) -> None:
    write(library, "a.md")
    write(library, "b.md")
    library.ingest()

    *_, done = [event async for event in engine(library).stream(Inquiry(QUESTION))]

    places = [(citation.doc_id, citation.quote) for citation in done.citations]  # type: ignore[union-attr]
    assert {doc_id for doc_id, _ in places} == {"a.md"}
    assert len({quote for _, quote in places}) == len(places)
