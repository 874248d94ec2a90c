"""A section of a document as a language model is shown it.

Made by `retrieval/sections.py`, put into a prompt by `prompting/builder.py`, cited by `synthesis/cited_text.py`.
"""

from dataclasses import dataclass

from query_engine.schema.passage import Passage

MAX_HEADER_CHARS = 300


@dataclass(frozen=True, slots=True)
class Source:
    """What a model reads and cites under one number.

    Attributes:
        passage: the stretch of the document; its hits are the leaves that were found in it.
        headings: titles of the headings that it stands under, the outermost first.
        columns: names of the columns of the table that it begins inside of; empty if their row stands in the text.
    """

    passage: Passage
    headings: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()

    @property
    def header(self) -> str:
        """One line: title, headings, where it is from, and when it was written if that is known."""
        above = " › ".join(dict.fromkeys(filter(None, (self.passage.title, *self.headings))))
        place = ", ".join(filter(None, (self.passage.url or self.passage.doc_id, self.passage.edition.date)))
        return " ".join(" — ".join(filter(None, (above, place))).split())[:MAX_HEADER_CHARS]

    @property
    def text(self) -> str:
        """What a model reads below the header: the document's words, unchanged."""
        names = " | ".join(self.columns)
        return f"{names}\n{self.passage.text}" if names else self.passage.text
