"""How much of a folder was read, in words and as a share."""

from ingestion.console.coverage import coverage, skipped_share
from ingestion.schema import Summary


def read(files: int, **skipped: int) -> Summary:
    types = {f".{name}": count for name, count in skipped.items()}
    return Summary("books", files=files + sum(skipped.values()), files_read=files, skipped_types=types)


def test_the_most_frequent_types_stand_first_and_the_others_are_counted() -> None:
    types = {f"t{number}": 1 for number in range(7)}

    said = coverage(read(2, png=20, rst=61, **types, aa=2)) or ""

    assert said.startswith(
        "2 of 92 files read; 90 have a type that is not read: .rst (61), .png (20), .aa (2), .t0 (1)"
    )
    assert ", .t4 (1), 2 more types (2)" in said


def test_nothing_is_said_where_every_type_is_read() -> None:
    assert coverage(read(7)) is None


def test_a_missing_suffix_has_a_name() -> None:
    assert "no suffix (3)" in (coverage(Summary("books", files=3, skipped_types={"": 3})) or "")


def test_the_extra_that_reads_pictures_is_named() -> None:
    assert "`ocr` with RAG_INGEST__OCR=true reads .jpg, .png" in (coverage(read(1, png=1, odd=1, jpg=1)) or "")
    assert "ocr" not in (coverage(read(1, odd=1)) or "")


def test_pictures_beside_documents_are_no_skipped_documents() -> None:
    assert skipped_share(read(50, png=60, woff2=4)) == 0
    assert skipped_share(read(2, rst=6, png=600)) == 0.75


def test_a_folder_of_nothing_else_was_not_read() -> None:
    assert skipped_share(read(0, png=60)) == 1
    assert skipped_share(read(0, rst=1)) == 1
    assert skipped_share(read(0)) == 0


def test_runs_into_one_corpus_are_added() -> None:
    total = read(2, rst=1)

    total.add(read(3, rst=2, png=1))

    assert (total.files, total.files_read, total.skipped_types) == (9, 5, {".rst": 3, ".png": 1})
