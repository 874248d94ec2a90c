"""Archives and mails from files to stores: what lies in them is found, and goes when it is taken out of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from errors import PageUnavailableError
from ingestion.originals import original_of
from ingestion.reading.reader import Reader
from ingestion.uploads import Uploads
from settings import IndexSettings, Settings
from tests.fakes.library import Library
from tests.fakes.pdfs import make_pdf
from tests.fakes.words import leaves_with
from tests.zoo.archives import make_mail, make_mbox, make_zip

WIND, MAP, PLAN = (
    b"# Wind\n\nTurbines turn wind into power.",
    make_pdf("The north quay has lanterns."),
    b"# Plan\n\nDredge the basin.",
)


@pytest.fixture
def library(tmp_path: Path, reader: Reader) -> Iterator[Library]:
    library = Library(tmp_path, reader)
    write(library, "box.zip", make_zip({"notes/wind.md": WIND, "old.txt": b"Dams hold water."}))
    write(library, "mail.eml", make_mail("See below.", attachments={"map.pdf": MAP, "plan.md": PLAN}))
    yield library
    library.close()


def write(library: Library, name: str, data: bytes) -> None:
    (library.files / name).write_bytes(data)


def found(library: Library, word: str) -> int:
    return len(leaves_with(library.corpus.lexical_index, word, 5))


def test_what_lies_in_archives_and_mails_is_found(library: Library) -> None:
    summary = library.ingest()

    assert (summary.new, summary.failed) == (5, [])
    assert library.doc_ids() == [
        "box.zip/notes/wind.md",
        "box.zip/old.txt",
        "mail.eml",
        "mail.eml/map.pdf",
        "mail.eml/plan.md",
    ]
    assert [found(library, word) for word in ("turbines", "lanterns", "dredge")] == [1, 1, 1]
    assert library.ingest().unchanged == 5


def test_what_is_taken_out_vanishes(library: Library) -> None:
    library.ingest()
    write(library, "box.zip", make_zip({"notes/wind.md": WIND}))
    write(library, "mail.eml", make_mail("See below.", attachments={"plan.md": b"# Plan\n\nLeave the basin."}))

    summary = library.ingest()

    assert (summary.removed, summary.changed, summary.unchanged) == (2, 1, 2)
    assert [found(library, word) for word in ("dams", "lanterns", "dredge")] == [0, 0, 0]


def test_a_member_that_can_no_longer_be_read_stays_and_others_vanish(library: Library) -> None:
    library.ingest()
    write(library, "mail.eml", make_mail("See below.", attachments={"map.pdf": b"%PDF-1.4 damaged"}))

    summary = library.ingest()

    assert len(summary.failed) == 1
    assert (found(library, "lanterns"), found(library, "dredge")) == (1, 0)


def test_a_file_that_is_gone_takes_all_with_it(library: Library) -> None:
    library.ingest()
    (library.files / "mail.eml").unlink()

    library.ingest(prune=True)

    assert library.doc_ids() == ["box.zip/notes/wind.md", "box.zip/old.txt"]


def test_documents_know_their_file_and_the_mail_that_they_were_attached_to(library: Library) -> None:
    library.ingest("left")

    plan = library.corpus.documents.get("left/mail.eml/plan.md")

    assert plan is not None
    assert plan.source == "left/mail.eml"
    assert plan.metadata["attached_to"] == "left/mail.eml"
    assert list(library.corpus.documents.versions("left/box.zip")) == [
        "left/box.zip/notes/wind.md",
        "left/box.zip/old.txt",
    ]


def test_a_mailbox_that_grows_adds_its_new_mails_only(library: Library) -> None:
    mails = [
        make_mail(f"Word{number} is said.", attachments={"a.txt": b"Attached %d." % number}) for number in range(3)
    ]
    write(library, "box.mbox", make_mbox(*mails[:2]))
    library.ingest()
    write(library, "box.mbox", make_mbox(*mails))

    summary = library.ingest()

    assert (summary.new, summary.changed, summary.removed) == (2, 0, 0)
    assert "box.mbox#000003/a.txt" in library.doc_ids()


def test_pages_of_an_attached_pdf_are_not_drawn_from_the_mail(library: Library, tmp_path: Path) -> None:
    library.ingest()
    attached = library.corpus.documents.get("mail.eml/map.pdf")

    assert attached is not None
    with pytest.raises(PageUnavailableError):
        original_of(library.corpus, attached, Uploads(Settings(index=IndexSettings(dir=tmp_path))))
