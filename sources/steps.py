"""The texts that tell people what sources returned.

Flow: `engine.py` -> **here** -> the steps that `/run` shows. Texts of pages are shown as plain text: their Markdown is
escaped. Decides nothing.
"""

from collections.abc import Iterator, Sequence

from query_engine.schema.events import Step
from query_engine.text.markdown_escape import as_plain, as_text
from sources.corpus import Fetched

SHOWN_PAGES = 5


def asking(sources: Sequence[str], queries: Sequence[str]) -> Step:
    """Say which sources are asked what."""
    shown = "; ".join(f"“{as_text(query[:300])}”" for query in queries)
    return Step("search", f"**Asking** {', '.join(f'*{name}*' for name in sources)} for: {shown}")


def fetched(found: Sequence[Fetched]) -> Iterator[Step]:
    """Say what came of each source, once for all its queries."""
    for name in dict.fromkeys(one.source for one in found):
        yield from _of_source(name, [one for one in found if one.source == name])


def _of_source(name: str, found: Sequence[Fetched]) -> Iterator[Step]:
    pages = [page for one in found for page in one.pages]
    if pages or not all(one.error for one in found):
        repeated, skipped = sum(one.repeated for one in found), sum(one.skipped for one in found)
        counts = [f"**{_count(len(pages), 'page')}** from *{name}*"]
        counts += [f"{_count(repeated, 'page')} that came before"] if repeated else []
        counts += [f"{_count(skipped, 'broken record')} skipped"] if skipped else []
        lines = [f"- {as_plain(page.title)}: {as_text(page.url or page.doc_id)}" for page in pages[:SHOWN_PAGES]]
        lines += [f"- and {len(pages) - SHOWN_PAGES} more"] if len(pages) > SHOWN_PAGES else []
        yield Step("found", "\n".join([", ".join(counts) + (":" if lines else "."), *lines]))
    for error in {str(one.error): one.error for one in found if one.error and one.warnings}.values():
        yield Step("warning", f"**Without *{name}***: {as_text(error.fact)} The answer comes from what there is.")


def reading(pages: int) -> Step:
    """Say that the pages of the question are read."""
    return Step("search", f"**Reading** the {_count(pages, 'page')} that came with the question.")


def read(pages: int, notes: Sequence[str]) -> Step:
    """Say how many of them can be read, and what is left out."""
    told = f"**{_count(pages, 'page')}** can be read{':' if notes else '.'}"
    return Step("found", "\n".join([told, *(f"- {as_text(note)}" for note in notes)]))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
