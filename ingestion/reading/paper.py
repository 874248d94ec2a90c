"""Read the plain text of a scientific paper, or of an object (figure, table, equation) cut from one.

Flow: file bytes -> **here** -> `Document`. Pure.

Such collections are folders of `<paper-id>.txt` and `<paper-id>.<object-id>.txt`. A file counts as one if its name
begins with an id that no person gives to a file, of 24 hexadecimal digits (xDD) or a UUID: `notes.v2.txt` is plain
text, unless the person who ingests the folder says that it holds papers. The list of references and the lines that
run along the head and foot of the pages are left out.
"""

import re
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import PurePosixPath

from index.documents.paragraphs import PAPER_WORDS
from index.documents.store import Document, Metadata
from ingestion.reading.format_table import inner_name
from ingestion.reading.plain_text import leading_title
from ingestion.reading.text import clean_body, decode, one_line, shape_of
from settings import VERSION

_NAME = re.compile(r"(?P<paper>[^.]+)(?:\.(?P<object>[^.]+))?\.te?xt", re.IGNORECASE)
_PLAIN_ID = re.compile(r"[0-9a-f]{24}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_REFERENCES = re.compile(
    r"\n[ \t]*+(?:(?:\d++\.?|[IVX]++\.)[ \t]*+)?(?:references(?: and notes)?|bibliography|literature cited)"
    r"[ \t]*+(?::[ \t]*+)?(?=\n)",
    re.IGNORECASE,
)
_RUNNING_COPIES = 4
_LINES_BETWEEN_COPIES = 8
_MAX_RUNNING_CHARS = 120
_MAX_TERMS = 50
_ACRONYM = r"(?:[A-Z]{2,8}s?|[A-Z][a-z]?[A-Z][A-Za-z]{0,6})(?:-?\d{1,4})?"
_NAME_WORD = r"[A-Z][a-z]{2,}(?:-[A-Z]?[a-z]+){0,4}"
_TERM = re.compile(rf"\b{_NAME_WORD}(?: (?:of |the |and )?{_NAME_WORD}){{1,4}}\b|\b{_ACRONYM}\b")
_OPENING = re.compile(r"(?:The|This|These|Those|In|On|At|For|From|With|And|But|When|While|Our|We|As|An|It|Its) ")


def paper_name(doc_id: str, *, anything: bool = False) -> tuple[str, str | None] | None:
    """Return (paper id, object id or None) of a file that belongs to such a collection, else None.

    Args:
        doc_id: the file.
        anything: accept any text before the first dot as the id of a paper.
    """
    match = _NAME.fullmatch(inner_name(PurePosixPath(doc_id).name))
    if match and (anything or _PLAIN_ID.fullmatch(match["paper"])):
        return match["paper"], match["object"]
    return None


def read_paper(data: bytes, doc_id: str, paper_id: str, object_id: str | None) -> Document:
    """Return the document.

    Its metadata are `paper_id`, `cosmos_object_id`, `doc_type`, `paragraph_terms`, and `preprocessor_id`, which names
    the release that read it and the size of its paragraphs.

    Raises:
        UnreadableError: no text, or binary data.
    """
    text = clean_body(without_references(without_running_lines(clean_body(decode(data)))))
    metadata: Metadata = {
        "paper_id": paper_id,
        "doc_type": "paragraph",
        "preprocessor_id": f"treeline-{VERSION}-{PAPER_WORDS}-words",
    }
    if object_id:
        metadata["cosmos_object_id"] = object_id
    if terms := salient_terms(text):
        metadata["paragraph_terms"] = terms
    return Document(doc_id, leading_title(text) or _first_line(text), text, metadata=metadata, source=doc_id)


def without_running_lines(text: str) -> str:
    """Drop lines that come back page after page, and lines that are only a page's number.

    Lines that differ only in digits count as the same. They run if they come back four times or more and never
    within eight lines of each other, as the rows of a table do; their first copy stays.
    """
    lines = text.split("\n")
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines):
        if (shape := shape_of(line)) and len(line) <= _MAX_RUNNING_CHARS:
            places[shape].append(number)
    running = {
        place
        for shape, found in places.items()
        if len(found) >= _RUNNING_COPIES
        and all(after - before > _LINES_BETWEEN_COPIES for before, after in pairwise(found))
        for place in (found[1:] if re.search(r"[^\W\d_]{2}", shape) else found)
    }
    return "\n".join(line for number, line in enumerate(lines) if number not in running)


def without_references(text: str) -> str:
    """Cut a paper at its last heading that announces its references."""
    matches = list(_REFERENCES.finditer(text))
    return text[: matches[-1].start()] if matches else text


def salient_terms(text: str) -> list[str]:
    """Return acronyms and names of two words or more, the most frequent first, at most 50."""
    found = (one_line(_OPENING.sub("", match[0], count=1)) for match in _TERM.finditer(text))
    counts = Counter(term for term in found if " " in term or re.fullmatch(_ACRONYM, term))
    return [term for term, _ in counts.most_common(_MAX_TERMS)]


def _first_line(text: str) -> str:
    return one_line(text.partition("\n")[0])[:120]
