"""Pages of real PDF files, drawn in the child process, and where spans stand on them."""

import hashlib
import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from errors import PageUnavailableError, RagError
from ingestion.reading import page_renderer
from ingestion.reading.page_renderer import Original, PageRenderer, PageSpan
from ingestion.reading.pdf import read_pdf
from settings import IngestSettings
from tests.failing import failing
from tests.fakes.pdfs import make_pdf

LIMITS = IngestSettings(parse_memory_mb=1024)
A4 = (595, 842)


@pytest.fixture(scope="module")
def renderer() -> Iterator[PageRenderer]:
    made = PageRenderer(LIMITS)
    yield made
    made.close()


def kept(folder: Path, data: bytes, pages: int, name: str = "a.pdf") -> Original:
    path = folder / name
    path.write_bytes(data)
    return Original(str(path.resolve()), hashlib.sha256(data).hexdigest()[:32], "", pages)


def drawn(draw: Callable[[Canvas], None], size: tuple[float, float] = A4) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=size)
    draw(canvas)
    canvas.save()
    return buffer.getvalue()


def marked(renderer: PageRenderer, folder: Path, data: bytes, quote: str) -> list[list[float]]:
    """Return the rectangles of a quote on the first page, as right and lower edges instead of sizes."""
    text = read_pdf(data, "a.pdf").text
    start = text.index(quote)
    (mark,) = renderer.marks(kept(folder, data, 1), [PageSpan(0, text, start, start + len(quote))])
    assert mark["complete"]
    return [[left, top, left + width, top + height] for left, top, width, height in mark["rects"]]


def ink(image: bytes) -> tuple[float, float, float, float]:
    """Return the edges of what is not white, as shares of the page."""
    page = Image.open(io.BytesIO(image)).convert("L")
    box = page.point(lambda value: 255 if value < 128 else 0).getbbox()
    assert box is not None
    return box[0] / page.width, box[1] / page.height, box[2] / page.width, box[3] / page.height


def turned(canvas: Canvas) -> None:
    canvas.setPageRotation(90)  # which makes the page as wide as it was high
    canvas.drawString(100, 500, "turbine")


def cropped(canvas: Canvas) -> None:
    canvas.setCropBox((50, 400, 450, 800))
    canvas.drawString(100, 700, "turbine")


def upwards(canvas: Canvas) -> None:
    canvas.rotate(90)
    canvas.drawString(100, -300, "turbine")


@pytest.mark.parametrize("draw", [lambda canvas: canvas.drawString(100, 700, "turbine"), turned, cropped, upwards])
def test_the_rectangle_stands_where_the_word_is_drawn(
    draw: Callable[[Canvas], None], renderer: PageRenderer, tmp_path: Path
) -> None:
    data = drawn(draw)

    (rect,) = marked(renderer, tmp_path, data, "turbine")
    seen = ink(renderer.image(kept(tmp_path, data, 1), 0, 1600))

    assert rect[0] - 0.005 < seen[0]
    assert rect[1] - 0.005 < seen[1]
    assert rect[2] + 0.005 > seen[2]
    assert rect[3] + 0.005 > seen[3]
    # No larger than the word by more than its type's height.
    assert (rect[2] - rect[0]) - (seen[2] - seen[0]) < 0.03
    assert (rect[3] - rect[1]) - (seen[3] - seen[1]) < 0.03


def test_lines_of_two_columns_are_marked_in_their_column(renderer: PageRenderer, tmp_path: Path) -> None:
    def columns(canvas: Canvas) -> None:
        for column, x in (("left", 60), ("right", 330)):
            for line in range(5):
                canvas.drawString(x, 700 - 16 * line, f"The {column} column has line {line} here")

    rects = marked(renderer, tmp_path, drawn(columns), "right column has line 1 here\nThe right column has line 2")

    assert len(rects) == 2
    assert all(left > 0.5 and right < 1 for left, _, right, _ in rects)
    assert rects[0][3] <= rects[1][1] + 0.005


def test_a_word_that_is_broken_at_the_end_of_a_line_is_marked_in_both(renderer: PageRenderer, tmp_path: Path) -> None:
    data = make_pdf("They use a repre-\nsentation of heat.")

    first, second = marked(renderer, tmp_path, data, "representation")

    assert first[3] <= second[1] + 0.005
    assert second[0] < first[0]


def test_a_line_with_a_superscript_is_marked(renderer: PageRenderer, tmp_path: Path) -> None:
    def raised(canvas: Canvas) -> None:
        for text, x, y, points in (("The 3", 72, 700, 12), ("n", 102.7, 705, 8), (" Committee met", 107.2, 700, 12)):
            canvas.setFont("Helvetica", points)
            canvas.drawString(x, y, text)

    (rect,) = marked(renderer, tmp_path, drawn(raised), "The 3n Committee met")

    assert rect[2] > 0.3


def test_figures_of_a_row_are_marked_one_by_one(renderer: PageRenderer, tmp_path: Path) -> None:
    def row(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Revenue")
        canvas.drawString(300, 700, "42,879")
        canvas.drawString(500, 700, "42,151")

    assert len(marked(renderer, tmp_path, drawn(row), "Revenue\t42,879\t42,151")) == 3


def test_the_last_of_500_pages_is_drawn_and_marked(renderer: PageRenderer, tmp_path: Path) -> None:
    original = kept(tmp_path, make_pdf(*(f"Page number {n}" for n in range(500))), 500)

    (mark,) = renderer.marks(original, [PageSpan(499, "Page number 499", 0, 15)])

    assert mark["complete"]
    assert len(mark["rects"]) == 1
    assert Image.open(io.BytesIO(renderer.image(original, 499, 800))).width == 800


def test_what_the_fields_of_a_form_hold_is_drawn(renderer: PageRenderer, tmp_path: Path) -> None:
    def form(canvas: Canvas) -> None:
        canvas.acroForm.textfield(
            value="Ilse", name="a", x=300, y=600, width=80, height=30, borderWidth=0, fillColor=None
        )
        canvas.showPage()

    left, top, right, bottom = ink(renderer.image(kept(tmp_path, drawn(form), 1), 0, 1200))

    assert left > 0.5
    assert right < 0.65
    assert top > 0.2
    assert bottom < 0.3


def test_a_page_without_text_is_drawn_and_nothing_is_marked(renderer: PageRenderer, tmp_path: Path) -> None:
    original = kept(tmp_path, make_pdf("Words", ""), 2)

    assert renderer.image(original, 1, 800)
    assert renderer.marks(original, [PageSpan(1, "Words", 0, 5)])[0]["rects"] == []


def test_a_page_of_any_shape_has_a_bounded_number_of_pixels(renderer: PageRenderer, tmp_path: Path) -> None:
    data = drawn(lambda canvas: canvas.drawString(5, 9000, "long"), (100, 14_000))

    image = Image.open(io.BytesIO(renderer.image(kept(tmp_path, data, 1), 0, 2400)))

    assert image.width * image.height <= 10_100_000


def test_a_file_that_changed_is_gone_or_is_a_link_is_refused_and_its_return_noticed(
    renderer: PageRenderer, tmp_path: Path
) -> None:
    data = make_pdf("Words")
    original = kept(tmp_path, data, 1)
    path = Path(original.path)
    assert renderer.image(original, 0, 800)

    for change, fact in (
        (lambda: path.write_bytes(make_pdf("Other")), "has changed"),
        (lambda: path.rename(tmp_path / "elsewhere.pdf"), "cannot be opened"),
        (lambda: path.symlink_to(tmp_path / "elsewhere.pdf"), "symbolic link"),
    ):
        change()
        with pytest.raises(PageUnavailableError, match=fact):
            renderer.image(original, 0, 1200)
    path.unlink()
    path.write_bytes(data)
    assert renderer.image(original, 0, 1200)


@pytest.mark.parametrize(
    ("data", "pages", "fact"),
    [
        (make_pdf("Secret", password="x"), 1, "cannot be opened as a PDF"),
        (b"no PDF at all", 1, "cannot be opened as a PDF"),
        (make_pdf("One", "Two"), 1, "another number of pages"),
    ],
)
def test_a_file_that_cannot_be_what_was_read_is_refused(
    data: bytes, pages: int, fact: str, renderer: PageRenderer, tmp_path: Path
) -> None:
    with pytest.raises(PageUnavailableError, match=fact):
        renderer.marks(kept(tmp_path, data, pages), [])


def test_what_was_hashed_with_the_file_counts(renderer: PageRenderer, tmp_path: Path) -> None:
    data, salt = make_pdf("Words"), '{"topic": "x"}'
    original = kept(tmp_path, data, 1)

    assert (
        renderer.marks(Original(original.path, hashlib.sha256(data + salt.encode()).hexdigest()[:32], salt, 1), [])
        == []
    )
    with pytest.raises(PageUnavailableError, match="has changed"):
        renderer.marks(Original(original.path, original.digest, salt, 1), [])


def test_a_page_that_kills_the_child_is_not_drawn_again(tmp_path: Path) -> None:
    renderer = PageRenderer(LIMITS, task="tests.fakes.drawing:crashing")
    original = kept(tmp_path, b"", 1)

    for _ in range(2):
        with pytest.raises(PageUnavailableError, match="SIGKILL"):
            renderer.image(original, 0, 800)
    renderer.close()

    assert Path(original.path).read_text() == "asked\n"


def test_images_are_kept_up_to_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_renderer, "CACHE_BYTES", 30_000)
    renderer = PageRenderer(LIMITS)
    original = kept(tmp_path, make_pdf(*(f"Page {n}" for n in range(8))), 8)

    images = [renderer.image(original, page, 800) for page in range(8)]
    renderer.close()

    assert sum(map(len, images)) > 30_000
    assert 0 < renderer._images.currsize <= 30_000


def test_beyond_a_number_of_waiting_pages_further_ones_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_renderer, "WAITING", 1)
    renderer = PageRenderer(LIMITS)
    original = Original("/nowhere/a.pdf", "0", "", 1)
    refusals: list[Exception] = []

    def ask() -> None:
        try:
            renderer.image(original, 0, 800)
        except RagError as error:
            refusals.append(error)

    with renderer._one_at_a_time("", "0"):
        asking = threading.Thread(target=ask)
        asking.start()
        asking.join()
    renderer.close()

    assert len(refusals) == 1


def test_an_idle_child_is_ended_and_another_one_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page_renderer, "IDLE_S", 0.0)
    renderer = PageRenderer(LIMITS)
    original = kept(tmp_path, make_pdf("Words"), 1)

    assert renderer.marks(original, []) == []
    assert renderer._idle is not None
    renderer._idle.join()
    assert renderer._sandbox._process is None
    assert renderer.marks(original, []) == []
    renderer.close()


def test_a_document_whose_pages_end_the_child_is_given_up(tmp_path: Path) -> None:
    renderer = PageRenderer(LIMITS, task="tests.fakes.drawing:crashing_over_some")
    bad, good = kept(tmp_path, b"", 9, "bad.pdf"), kept(tmp_path, b"1", 9, "good.pdf")

    for page in range(9):
        with pytest.raises(PageUnavailableError):
            renderer.image(bad, page, 800)
    assert renderer.image(good, 0, 800) == b"image"
    renderer.close()

    assert Path(bad.path).read_text() == "0\n1\n"


@pytest.mark.parametrize("of_one", ["client", "document"])
def test_half_of_the_line_is_kept_for_others(of_one: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_renderer, "WAITING_OF_ONE", 3)
    line = page_renderer._Line()
    served: list[tuple[str, str]] = []
    places = [("same", str(n)) if of_one == "client" else (str(n), "same") for n in range(4)]

    with line.turn(*places[0]):
        waiting = [waiting_in(line, place, served) for place in (*places[1:3], ("other", "other"))]
        with failing("too_many_pages"), line.turn(*places[3]):
            pass
    for thread in waiting:
        thread.join()

    assert ("other", "other") in served


def test_clients_take_turns() -> None:
    line = page_renderer._Line()
    served: list[tuple[str, str]] = []

    with line.turn("many", "0"):
        waiting = [waiting_in(line, ("many", str(n)), served) for n in range(1, 4)]
        waiting += [waiting_in(line, ("one", "x"), served), waiting_in(line, ("other", "x"), served)]
    for thread in waiting:
        thread.join()

    assert served == [("one", "x"), ("other", "x"), ("many", "1"), ("many", "2"), ("many", "3")]


def waiting_in(line: "page_renderer._Line", place: tuple[str, str], served: list[tuple[str, str]]) -> threading.Thread:
    """Have a thread wait in line, and note when its turn comes."""

    def draw() -> None:
        with line.turn(*place):
            served.append(place)

    thread = threading.Thread(target=draw)
    before = len(line._waiting)
    thread.start()
    while len(line._waiting) == before:
        thread.join(0.001)
    return thread
