"""Tell a document's title from what programs leave in its place.

Flow: the properties or first heading that a format's reader found -> **here** -> `Document.title`. Pure.
"""

import re

from ingestion.reading.fields import MAX_TITLE_CHARS
from ingestion.reading.fields import title as one_title

_FILE_NAME = re.compile(
    r"\.(pdf|docx?|dotx?m?|xlsx?|pptx?|potx?|tex|dvi|p?s|eps|indd|qxd|html?|rtf|txt|od[tsp]|pages)$", re.IGNORECASE
)
# In the languages of most people's programs.
_PLACEHOLDER = re.compile(
    r"\W*(untitled|anonymous|unspecified|unknown|none|null|no title|(document |page )?title|(new )?(word )?document"
    r"|slide|(powerpoint )?presentation( title)?|book|workbook|sheet|worksheet|spreadsheet|template|normal|default"
    r"|layout|print|scan|office theme|default (design|theme)|(click|tap) to (edit|add) .*|company name|project name"
    r"|your title here|unbenannt|ohne titel|titel|dokument|präsentation|powerpoint-präsentation|folie|mappe|tabelle"
    r"|vorlage|sans (titre|nom)|titre|présentation( powerpoint)?|diapositive|classeur|feuil|sin título|título|documento"
    r"|presentación( de powerpoint)?|diapositiva|libro|hoja|senza titolo|presentazione( (standard di )?powerpoint)?"
    r"|cartel|foglio|apresentação( do powerpoint)?|pasta|planilha)\W*\d*\W*"
    r"|microsoft (office )?(word|excel|powerpoint)\b.*",
    re.IGNORECASE,
)


def is_title(title: str) -> bool:
    """Tell a title from what word processors and filing systems leave in its place."""
    # Letters count as bytes, so that two ideographs are enough.
    if len("".join(re.findall(r"[^\W\d_]", title)).encode()) < 4 or len(title) > MAX_TITLE_CHARS:
        return False
    return not _FILE_NAME.search(title) and not _PLACEHOLDER.fullmatch(title)


def own_title(value: object) -> str | None:
    """Return a title that says what the document is about, on one line; None if `value` does not."""
    found = one_title(value)
    return found if found and is_title(found) else None
