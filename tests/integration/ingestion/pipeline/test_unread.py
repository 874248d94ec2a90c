"""What was not read of a file is said, kept with the file and shown beside its documents; a retry reads it again."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from ingestion.reading.files import SourceFile
from tests.fakes.library import Library
from tests.zoo.office import make_odf, make_xlsx, sheet_data

ODS_CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
ODS_ROW = f"<table:table-row>{ODS_CELL}</table:table-row>"


def partly_scanned() -> bytes:
    """Return a PDF whose pages are: text, a drawing without text, blank, two drawings."""
    buffer = BytesIO()
    canvas = Canvas(buffer)
    for text, drawn in (("The deposit is three rents.", False), ("", True), ("", False), ("", True), ("", True)):
        canvas.drawString(72, 700, text)
        if drawn:
            canvas.rect(72, 300, 200, 200, fill=1)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def open_document_sheets() -> bytes:
    shown, hidden = (
        f'<table:table table:name="{name}" table:style-name="{style}">{ODS_ROW.format(text)}</table:table>'
        for name, style, text in (("Open", "a", "Rents"), ("Closed", "b", "Salaries"))
    )
    styles = (
        '<style:style style:name="b" style:family="table"><style:table-properties table:display="false"/></style:style>'
    )
    return make_odf("spreadsheet", shown + hidden, styles=styles)


def archive() -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("letter.txt", "We thank you for your letter.")
        file.writestr("logo.xyz", "…")
    return buffer.getvalue()


def records() -> bytes:
    return "\n".join(['{"id": "r1", "text": "The first record."}', "{broken", ""]).encode()


SHEETS = {"Rents": sheet_data([["Flat", "EUR"], ["North", 700.0]]), "Salaries": sheet_data([["Name"], ["Doe"]])}
# name -> the file, the document that is shown, and what is said of it
FILES = {
    "rents.xlsx": (make_xlsx(SHEETS, hidden=["Salaries"]), "rents.xlsx", "Salaries"),
    "rents.ods": (open_document_sheets(), "rents.ods", "Closed"),
    "lease.pdf": (partly_scanned(), "lease.pdf", "2, 4-5"),
    "post.zip": (archive(), "post.zip/letter.txt", "logo.xyz"),
    "rows.jsonl": (records(), "r1", "Line 2"),
}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    library = Library(tmp_path)
    for name, (data, _, _) in FILES.items():
        (library.files / name).write_bytes(data)
    (library.files / "whole.txt").write_text("All of this file is read.\n")
    return library


@pytest.mark.fault("B15")
def test_what_was_not_read_of_a_file_stands_beside_its_documents(library: Library) -> None:
    library.ingest()
    again = library.ingest()

    corpus = library.corpus
    shown = {brief.doc_id: corpus.ledger.unread([brief.source]) for brief in corpus.catalogue.briefs(None, 100)}
    assert again.unchanged == len(shown) == len(FILES) + 1
    assert shown["whole.txt"] == {}
    for name, (_, doc_id, said) in FILES.items():
        assert said in json.dumps(shown[doc_id][name])
    assert {note.source for note in corpus.ledger.incomplete()} == FILES.keys()
    assert {note.source for note in corpus.ledger.failed()} == {"rows.jsonl"}
    library.close()


def test_a_retry_reads_what_was_not_read_in_full_again_and_nothing_else(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.ingest()
    read, names = library.reader.read, []

    def recorded(file: SourceFile) -> Any:
        names.append(file.doc_id)
        return read(file)

    monkeypatch.setattr(library.reader, "read", recorded)
    library.ingest(retry=True)

    assert sorted(names) == sorted(FILES)
    library.close()
