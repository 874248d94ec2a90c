"""Tell which pages of a document were read by OCR, so that readers can expect errors.

Flow: `ocr_pages` and `ocr_confidence` in a document's metadata (`ingestion/reading/ocr.py`) -> **here** ->
`GET /documents/{doc_id}`. Pure.
"""

import re
from typing import Any

from index.documents.store import Metadata

_PAGES = re.compile(r"\d{1,7}(?:-\d{1,7})?(?:, \d{1,7}(?:-\d{1,7})?)*")


def ocr_of(metadata: Metadata, pages: int) -> dict[str, Any] | None:
    """Return `pages`, from 1, and the mean `confidence` in their letters, 0 to 1; None if OCR read none.

    Args:
        metadata: of the document, perhaps written by strangers.
        pages: how many the document has; others are left out.
    """
    told, confidence = metadata.get("ocr_pages"), metadata.get("ocr_confidence")
    if not isinstance(told, str) or not _PAGES.fullmatch(told):
        return None
    runs = [[int(number) for number in run.split("-")] for run in told.split(", ")]
    found = [page for run in runs for page in range(run[0], min(run[-1], pages) + 1) if page > 0]
    is_share = isinstance(confidence, int | float) and 0 <= confidence <= 1
    return {"pages": found, "confidence": confidence if is_share else None} if found else None
