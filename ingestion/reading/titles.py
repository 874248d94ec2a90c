"""Tell a document's title from what programs leave in its place.

Flow: the properties or first heading that a format's reader found -> **here** -> `Document.title`. Pure.
"""

import re

from ingestion.reading.fields import MAX_TITLE_CHARS
from ingestion.reading.fields import title as one_title

_FILE_NAME = re.compile(
    r"\.(pdf|docx?|dotx?m?|xlsx?|pptx?|potx?|tex|dvi|p?s|eps|ind[db]|qx[dp]|vsdx?|html?|rtf|txt|od[tsp]|pages)"
    r"(\W*\(\d+\)|(:| -) .*|:\w.*)?$|^\S*[_\\]\S*$|^[a-z]:\\|^(file|about):\S*$",
    re.IGNORECASE,
)
# In the languages of most people's programs.
_PLACEHOLDER = re.compile(
    r"[\W_]*(untitled( document)?|anonymous|unspecified|unknown|none|null|no title|(document |page )?title"
    r"|(new )?(word )?document|slide|(powerpoint )?presentation( title)?|book|workbook|sheet|worksheet|spreadsheet"
    r"|template|normal|default|layout|page|draft|print( job)?|job|scan|(local|remote) downlevel document|smbprn"
    r"|full page (fax )?print|office theme|default (design|theme)|(click|tap) to (edit|add) .*|company name"
    r"|project name|your title here|unbenannt|druckauftrag|entwurf|ohne titel|titel|dokument|präsentation"
    r"|powerpoint-präsentation|folie|mappe|tabelle|vorlage|sans (titre|nom)|titre|présentation( powerpoint)?"
    r"|diapositive|classeur|feuil|sin título|título|documento|presentación( de powerpoint)?|diapositiva|libro|hoja"
    r"|senza titolo|presentazione( (standard di )?powerpoint)?|cartel|foglio|apresentação( do powerpoint)?|pasta"
    r"|planilha)[\W_]*+\d*+[\W_]*+"
    r"|microsoft (office )?(word|excel|powerpoint|outlook|publisher)\b.*",
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
