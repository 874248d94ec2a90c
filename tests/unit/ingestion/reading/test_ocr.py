"""Reading pictures of text: the order of lines without a model, and whole files with the real one."""

import io
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from PIL import Image, ImageDraw

from errors import SettingsError, UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.reading import ocr
from ingestion.reading.files import SourceFile
from ingestion.reading.image import read_image
from ingestion.reading.ocr import Line, PageText, ocr_metadata, recognize, text_of
from ingestion.reading.pdf import read_pdf
from ingestion.reading.pdf_lines import BROKEN_HYPHEN
from ingestion.reading.reader import Reader
from settings import IngestSettings
from tests.fakes.pdfs import make_pdf
from tests.fakes.readings import read_all, refusals

HEIGHT = 20


def line(left: float, top: float, text: str, width: float = 300) -> Line:
    return Line(left, top, left + width, top + HEIGHT, text, 0.9)


def prose(name: str, left: float, count: int = 4, top: float = 100) -> list[Line]:
    return [line(left, top + 25 * number, f"{name} {number} of some more words") for number in range(count)]


def test_lines_come_from_top_to_bottom_with_a_blank_line_at_a_gap() -> None:
    assert text_of([line(0, 80, "c"), line(0, 25, "b"), line(0, 0, "a")]) == "a\nb\n\nc"


def test_pieces_side_by_side_are_cells_of_a_row_even_if_the_page_slants() -> None:
    row = [line(700, 8, "3"), line(0, 0, "Sales"), line(350, 4, "12")]

    assert text_of([*row, line(0, 25, "Costs"), line(350, 29, "9"), line(700, 33, "1")]) == "Sales\t12\t3\nCosts\t9\t1"


def test_columns_of_prose_are_read_one_after_the_other_below_their_title() -> None:
    lines = [line(0, 20, "One title over both columns", width=700), *prose("right", 400), *prose("left", 0)]

    words = [row.split()[0] for row in text_of(lines).split("\n") if row]

    assert words == ["One", *["left"] * 4, *["right"] * 4]


def test_columns_of_numbers_stay_rows() -> None:
    lines = [line(left, 25 * row, f"{left}", width=60) for left in (0, 200) for row in range(5)]

    assert text_of(lines).split("\n") == ["0\t200"] * 5


def test_a_word_that_is_broken_at_a_line_s_end_is_marked() -> None:
    assert text_of([line(0, 0, "a pipe-"), line(0, 22, "line of 3-"), line(0, 44, "5")]) == (
        f"a pipe{BROKEN_HYPHEN}line of 3-\n5"
    )


def test_metadata_name_the_pages_and_weigh_the_confidence_by_length() -> None:
    found = {0: PageText("long text", 0.9), 1: PageText("x" * 9, 0.7), 2: PageText("", 0), 6: PageText("x" * 18, 1)}

    assert ocr_metadata(found) == {"ocr_pages": "1-2, 7", "ocr_confidence": 0.9}
    assert ocr_metadata({0: PageText("", 0)}) == {}


def test_without_its_extra_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.reading.reader.find_spec", lambda _: None)

    with pytest.raises(SettingsError, match="ocr"):
        Reader(IngestSettings(ocr=True))
    Reader(IngestSettings()).close()


# --- with the models ---


@pytest.fixture
def _no_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The models come with the package: whoever asks for them elsewhere fails."""

    def refuse(*_: Any) -> None:
        raise AssertionError("something is downloaded")

    ocr._engine.cache_clear()
    monkeypatch.setattr(socket.socket, "connect", refuse)
    yield
    ocr._engine.cache_clear()


def drawn(data: bytes, page: int = 0) -> Image.Image:
    """Return a page as a scanner does: a picture, a little slanted."""
    with pypdfium2.PdfDocument(data) as document:
        picture: Image.Image = document[page].render(scale=1.5).to_pil().convert("L")
    upper = picture.crop((0, 0, picture.width, picture.height // 4))
    return upper.rotate(1, fillcolor=255, resample=Image.Resampling.BICUBIC)


def saved(picture: Image.Image, form: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, form, **options)
    return buffer.getvalue()


SCAN = drawn(make_pdf("Heat pumps move heat from\nthe cold to the warm side."))


@pytest.mark.usefixtures("_no_network")
def test_a_scanned_pdf_is_read_and_says_how_surely() -> None:
    document = read_pdf(
        saved(SCAN, "PDF", save_all=True, append_images=[Image.new("L", SCAN.size, 255)]), "a.pdf", ocr=True
    )

    assert document.text == "Heat pumps move heat from\nthe cold to the warm side."
    assert len(document.pages) == 2
    assert document.metadata["ocr_pages"] == "1"
    assert float(str(document.metadata["ocr_confidence"])) > 0.9


def test_pages_with_text_are_read_as_ever_beside_scanned_ones() -> None:
    mixed = pypdfium2.PdfDocument.new()
    with pypdfium2.PdfDocument(make_pdf("Typed text.")) as typed, pypdfium2.PdfDocument(saved(SCAN, "PDF")) as scanned:
        mixed.import_pages(typed)
        mixed.import_pages(scanned)
    buffer = io.BytesIO()
    mixed.save(buffer)
    mixed.close()

    document = read_pdf(buffer.getvalue(), "a.pdf", ocr=True)

    assert document.text.startswith("Typed text.\n\nHeat pumps")
    assert document.metadata["ocr_pages"] == "2"
    assert read_pdf(buffer.getvalue(), "a.pdf").text == "Typed text."


def test_a_scan_of_nothing_is_refused() -> None:
    with pytest.raises(UnreadableError, match="No words"):
        read_pdf(saved(Image.new("L", (400, 400), 255), "PDF"), "a.pdf", ocr=True)


def test_a_picture_is_read_upright_and_on_white() -> None:
    sideways = SCAN.rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # shown by turning it by 90 degrees clockwise
    clear = Image.new("RGBA", SCAN.size, (0, 0, 0, 0))
    ImageDraw.Draw(clear).bitmap((0, 0), Image.eval(SCAN, lambda value: 255 - value), fill=(0, 0, 0, 255))

    for data in (saved(sideways, "JPEG", exif=exif, quality=95), saved(clear, "PNG")):
        (document,) = read_image(data, "photo-of-a_page.jpg")
        assert isinstance(document, Document)
        assert "Heat pumps move heat from" in document.text


def test_each_frame_of_a_tiff_is_a_page() -> None:
    (document,) = read_image(saved(SCAN, "TIFF", save_all=True, append_images=[SCAN]), "a.tiff")

    assert isinstance(document, Document)
    assert document.text.count("Heat pumps") == len(document.pages) == 2
    assert document.metadata["ocr_pages"] == "1-2"


def test_a_picture_without_words_is_left_out() -> None:
    assert isinstance(next(read_image(saved(Image.new("RGB", (64, 64), "red"), "PNG"), "logo.png")), LeftOut)


@pytest.mark.parametrize(
    "data", [b"", b"\x89PNG\r\n\x1a\nbroken", saved(SCAN, "PNG")[:2000]], ids=["empty", "text", "cut"]
)
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(UnreadableError):
        list(read_image(data, "a.png"))


def test_a_picture_of_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(UnreadableError, match="pixels"):
        list(read_image(saved(Image.new("1", (20_000, 20_000)), "PNG"), "a.png"))


def test_the_limit_of_memory_is_told_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def engine(_: Any) -> None:
        raise RuntimeError("Non-zero status code returned while running Conv node. std::bad_alloc")

    monkeypatch.setattr(ocr, "_engine", lambda: engine)

    with pytest.raises(MemoryError):
        recognize(SCAN.copy())


def test_a_process_of_its_own_reads_pictures_beside_the_one_for_text(tmp_path: Path) -> None:
    (tmp_path / "scan.png").write_bytes(saved(SCAN, "PNG"))
    (tmp_path / "notes.md").write_text("Plain notes.")

    with Reader(IngestSettings(ocr=True, parse_memory_mb=512)) as reader:
        found = [next(reader.read(SourceFile(tmp_path / name, name, 1))) for name in ("notes.md", "scan.png")]

    assert [item.content_type for item in found if isinstance(item, Document)] == ["markdown", "image"]


def test_a_picture_is_refused_with_the_remedy_where_ocr_is_off(tmp_path: Path) -> None:
    assert "RAG_INGEST__OCR=true" in str(*refusals(read_all(tmp_path, "scan.txt", saved(SCAN, "PNG"))))


def test_a_tiny_picture_holds_no_words() -> None:
    assert recognize(Image.new("RGB", (1, 1))) == PageText("", 0)
