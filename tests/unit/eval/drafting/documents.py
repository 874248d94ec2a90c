"""Documents that questions are drafted from, cut into sections as stored ones are."""

from eval.drafting.sections import Section, spread
from index.documents.span_tree import SpanTree
from index.documents.store import Document, StoredDocument

GUIDE = """# Boat guide

A boat guide for people who want to mend a hull, patch the sail or store the oars. It is short and made to be read.

## Mending the hull

1. Dry the hull for two days in the sun.
2. Sand the crack until the wood shows.
3. Fill the crack with warm pitch.

## Tar kettle

A tar kettle is an iron pot that keeps pitch liquid over a small fire all day long.

## Kinds of oars

There are several oars, and the length of the boat decides which of them you need:

- Sculls are short and used in pairs.
- Sweeps are long and used singly.
- Paddles have no rowlock at all.

## Who may sail at night?

Only members with a lamp and a whistle may sail after sunset, and never alone on the river.
"""


def stored(text: str = GUIDE, doc_id: str = "boats/guide.md", content_type: str = "markdown") -> StoredDocument:
    document = Document(doc_id=doc_id, title="Boat guide", text=text, content_type=content_type)
    return StoredDocument.of(document, "v1", SpanTree([]))


def sections(*documents: StoredDocument) -> list[Section]:
    return spread(documents or (stored(),))


def section(heading: str, *documents: StoredDocument) -> Section:
    return next(one for one in sections(*documents) if one.headings[-1] == heading)
