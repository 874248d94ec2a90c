"""Rows of the evaluation, as short as a test needs them."""

from collections.abc import Sequence

from eval.rows import Quote, Row


def answered(text: str | None, quotes: Sequence[Quote] = (), warnings: Sequence[str] = ()) -> Row:
    """Return the row of an answer of our engine; None declines."""
    return Row(
        id="1",
        outcome="declined" if text is None else "answered",
        answer=text,
        citations=tuple(quotes),
        warnings=tuple(warnings),
        fingerprint="f",
    )


def quote(doc_id: str, start: int | None, end: int | None, text: str) -> Quote:
    """Return a citation."""
    return Quote(number=1, doc_id=doc_id, start=start, end=end, quote=text)
