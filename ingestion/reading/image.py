"""Read a picture of text: a photographed or scanned page, or the pages of a TIFF.

Flow: file bytes -> **here** -> `ocr.py` -> `Document` with `pages`. Runs inside the child process only.
"""

import io
import warnings
from collections.abc import Iterator

from PIL import Image, ImageOps, ImageSequence, UnidentifiedImageError

from errors import UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from ingestion.reading.ocr import PageText, ocr_metadata, recognize
from ingestion.reading.pdf import join_pages
from ingestion.reading.pdf_lines import drop_running_lines, join_broken_words
from ingestion.reading.text import clean, title_from_name

MAX_PIXELS = 100_000_000
"""Of one page: an A3 page at 600 dpi has 70 million."""


def read_image(data: bytes, doc_id: str) -> Iterator[Document | LeftOut]:
    """Yield the document; a picture without words is left out, since folders are full of them.

    Raises:
        UnreadableError: no picture, a damaged one, or one of too many pixels.
    """
    found = list(_pages(data))
    pages = join_broken_words([page.text for page in found])
    text, starts = join_pages(drop_running_lines([clean(page) for page in pages]))
    if text:
        metadata = ocr_metadata(dict(enumerate(found)))
        yield Document(doc_id, title_from_name(doc_id), text, metadata=metadata, pages=starts, source=doc_id)
    else:
        yield LeftOut(doc_id, "The picture shows no words.")


def _pages(data: bytes) -> Iterator[PageText]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is ours
            with Image.open(io.BytesIO(data)) as picture:
                for frame in ImageSequence.Iterator(picture):
                    if frame.width * frame.height > MAX_PIXELS:
                        raise _too_large()
                    yield recognize(_on_white(ImageOps.exif_transpose(frame)))
    except Image.DecompressionBombError as error:
        raise _too_large() from error
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableError(
            "The picture is damaged, or the file is not a picture.", "Repair it or export it again."
        ) from error


def _too_large() -> UnreadableError:
    return UnreadableError(f"The picture has more than {MAX_PIXELS // 1_000_000} million pixels.", "Make it smaller.")


def _on_white(frame: Image.Image) -> Image.Image:
    """Return a copy without transparency, which would be black otherwise, as letters often are."""
    if not frame.has_transparency_data:
        return frame.convert("RGB")
    ground = Image.new("RGBA", frame.size, "white")
    ground.alpha_composite(frame.convert("RGBA"))
    return ground.convert("RGB")
