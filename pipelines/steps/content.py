"""Take the main content out of pages: without menus, banners and footers.

Flow: a column of HTML, or of text with all its menus -> **here** -> the content. HTML is parsed by the project's reader
(`ingestion/reading/`, trafilatura) in a child process with limits of time and memory, as every stranger's page is.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Literal

from errors import UnreadableError
from ingestion.reading.pages import Page, read_page
from ingestion.reading.reader import LINES_PARSER, PARSER, Reader
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, parameter
from pipelines.state import PipelineState
from pipelines.step import RowStep

# A page of 2 MB takes a second or two, and what takes longer was made to.
PARSE_TIMEOUT_S = 20.0
# Tags that no plain text holds.
_MARKUP = re.compile(
    r"<(?:!doctype|html|head|body|div|p|a|br|span|table|ul|ol|h[1-6]|script|article|main)\b[^<>]{0,500}>", re.I
)
_SAMPLE_CHARS = 5000


class ContentExtractor(RowStep):
    """Extracts the main content."""

    id = "content_extractor"
    name = "Content Extractor"
    category = "Pre-Processing"
    description = (
        "Takes the main content out of pages: HTML by trafilatura, plain text by the moving average of the lengths of "
        "its lines."
    )

    class Parameters(RowStep.Parameters):
        """How, and where it writes."""

        output_column: ColumnName = parameter(
            "filtered-text", "Output column", "Column that is added.", column="writes"
        )
        method: Literal["auto", "trafilatura", "moving_average"] = parameter(
            "auto",
            "Method",
            "`trafilatura` reads HTML, `moving_average` keeps runs of long lines; `auto` takes the one for HTML, the "
            "other for plain text.",
        )
        window: int = parameter(
            5, "Window", "Lines on each side of a line that count into its moving average.", ge=0, le=50
        )
        threshold: float = parameter(
            1.0,
            "Threshold",
            "A line is kept if its moving average is at least this many times the average of all lines.",
            ge=0,
            le=10,
        )

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the column; pages that cannot be read are empty, and told."""
        changed = super().transform(state, handler)
        unread = sum(value is None for value in changed.values(self.given.output_column))
        if unread:
            handler.warn(f"{unread} of {state.count} texts hold no content that can be read; they are empty.")
        return changed

    def transform_rows(self, rows: list[Any], state: PipelineState, handler: StepHandler) -> Iterable[str | None]:  # noqa: ARG002
        """Yield the content of each text; nothing where there is none."""
        settings = handler.services.settings.ingest
        limit_s = min(settings.parse_timeout_s, PARSE_TIMEOUT_S)
        options = settings.model_copy(update={"parse_timeout_s": limit_s})
        # The child process starts with the first page.
        parser = LINES_PARSER if self.given.method == "moving_average" else PARSER
        with Reader(options, stop=handler.stop, parser=parser) as reader:
            for text in rows:
                yield self._content(text, reader)

    def _content(self, text: str, reader: Reader) -> str | None:
        method, markup = self.given.method, is_markup(text)
        if method == "trafilatura" or markup:
            try:
                text = read_page(Page("page", text), reader).text
            except UnreadableError:
                return None
        if method == "moving_average" or (method == "auto" and not markup):
            lines = [line for line in map(str.strip, text.splitlines()) if line]
            text = by_moving_average(lines, self.given.window, self.given.threshold)
        return text or None


def is_markup(text: str) -> bool:
    """Say whether a text is HTML."""
    return _MARKUP.search(text[:_SAMPLE_CHARS]) is not None


def by_moving_average(lines: Sequence[str], window: int, threshold: float) -> str:
    """Return the lines around which lines are long.

    A menu is a run of short lines, an article one of long lines; a short line between long ones, such as a heading, is
    kept.

    Args:
        lines: of a page, without empty ones.
        window: lines on each side that count into a line's average, 0 or more.
        threshold: a line is kept if the average around it is at least so many times that of all lines.
    """
    sums = [0, *accumulate(len(line.split()) for line in lines)]
    kept = []
    for place, line in enumerate(lines):
        first, last = max(0, place - window), min(len(lines), place + window + 1)
        # Both averages times both counts: no division.
        if (sums[last] - sums[first]) * len(lines) >= threshold * sums[-1] * (last - first):
            kept.append(line)
    return "\n".join(kept)
