"""Which pages OCR read, out of metadata that may be anybody's."""

from typing import Any

import pytest

from api.schemas.replies.corpora import OcrNote
from ingestion.reading.ocr import PageText, ocr_metadata


def test_pages_and_confidence_are_those_that_the_reader_noted() -> None:
    read = {number: PageText("words", 0.9) for number in (0, 1, 2, 6)}

    assert OcrNote.build(ocr_metadata(read), 8) == OcrNote(pages=[1, 2, 3, 7], confidence=0.9)


@pytest.mark.parametrize(
    "metadata",
    [{}, {"ocr_pages": 3}, {"ocr_pages": "all"}, {"ocr_pages": "0"}, {"ocr_pages": "9"}, {"ocr_pages": "1-"}],
)
def test_without_such_pages_nothing_is_said(metadata: dict[str, Any]) -> None:
    assert OcrNote.build(metadata, 8) is None


def test_strangers_cannot_name_millions_of_pages() -> None:
    claimed = {"ocr_pages": "1-9999999", "ocr_confidence": 7}

    assert OcrNote.build(claimed, 2) == OcrNote(pages=[1, 2], confidence=None)
