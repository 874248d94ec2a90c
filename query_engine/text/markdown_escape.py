"""Keep text of documents and models from acting as Markdown or HTML where it is shown.

Flow: quoted and generated sentences, titles, questions -> **here** -> answers and steps, which readers see rendered.
Such text must neither load an image nor hold a link: the only links of an answer are its citations, and those are made
elsewhere. What is broken stays readable. Pure.
"""

import re

# Renderers make links of bare addresses too, unless their scheme is gone.
_SCHEME = re.compile(r"\b(?:(?:https?|ftp|file)://|(?:javascript|vbscript):|data:(?=\w+/)|www\.)(?=\S)", re.IGNORECASE)
# `![alt](url)`, `[text](url)`, `[text][ref]`, `[ref]: url`; citation marks are no references.
_LINK = re.compile(r"(?<!!)!++(?=\[)|(?<=\])(?=\(|:)")
# Marks of citations, the answer's own or a document's: "[1]", "[2, 5-7]".
REFERENCE = re.compile(r"\[(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\]")
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)


def as_text(text: str) -> str:
    """Return the text with its links, images and tags broken by a space, and addresses without their scheme."""
    # Removing one may join the halves of another.
    while (bare := _SCHEME.sub("", text)) != text:
        text = bare
    return _TAG.sub("< ", _LINK.sub(lambda match: "" if match[0] else " ", text))


def without_marks(text: str) -> str:
    """Return a document's text with its own "[12]" as "(12)": in an answer it would read as a citation."""
    return REFERENCE.sub(r"(\1)", text)


def fenced(code: str) -> str:
    """Return code as a block that shows it as it stands: between fences longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code}\n{fence}"


def as_quote(text: str) -> str:
    """Return a document's text as an answer may show it, see `as_text` and `without_marks`."""
    return without_marks(as_text(text))
