"""The texts that tell people what sources returned.

Flow: `engine.py` -> **here** -> the steps that `/run` shows. Texts of pages are shown as plain text: their Markdown is
escaped. Decides nothing.
"""

from collections.abc import Iterator, Sequence

from query_engine.schema.events import Step
from query_engine.steps import counted
from query_engine.text.markdown_escape import as_plain, as_text
from sources.corpus import Fetched

SHOWN_PAGES = 5


def asking(sources: Sequence[str], query: str) -> Step:
    """Say which sources are asked what."""
    return Step("search", f"**Asking** {', '.join(f'*{name}*' for name in sources)} for: “{as_text(query[:300])}”")


def fetched(found: Sequence[Fetched]) -> Iterator[Step]:
    """Say what came of each source."""
    for one in found:
        if one.error is None:
            counts = [f"**{counted(len(one.pages), 'page')}** from *{one.source}*"]
            counts += [f"{counted(one.repeated, 'page')} that came before"] if one.repeated else []
            counts += [f"{counted(one.skipped, 'broken record')} skipped"] if one.skipped else []
            shown = [
                f"- {as_plain(page.title)}: {as_text(page.url or page.doc_id)}" for page in one.pages[:SHOWN_PAGES]
            ]
            shown += [f"- and {len(one.pages) - SHOWN_PAGES} more"] if len(one.pages) > SHOWN_PAGES else []
            yield Step("found", "\n".join([", ".join(counts) + (":" if shown else "."), *shown]))
        elif one.warnings:
            told = f"{as_text(one.error.fact)} The answer comes from what there is."
            yield Step("warning", f"**Without *{one.source}***: {told}")


def reading(pages: int) -> Step:
    """Say that the pages of the question are read."""
    return Step("search", f"**Reading** the {counted(pages, 'page')} that came with the question.")


def read(pages: int, notes: Sequence[str]) -> Step:
    """Say how many of them can be read, and what is left out."""
    told = f"**{counted(pages, 'page')}** can be read{':' if notes else '.'}"
    return Step("found", "\n".join([told, *(f"- {as_text(note)}" for note in notes)]))
