"""Keep text of documents and models from acting as Markdown or HTML where it is shown.

Flow: quoted and generated sentences, titles, questions -> **here** -> answers and steps, which readers see rendered.
Such text must neither load an image nor link to other places: the links of an answer are its citations, which are made
elsewhere. What is broken stays readable. Pure.
"""

import re

# Renderers make links of bare addresses too, unless their scheme is gone.
_SCHEME = re.compile(r"\b(?:(?:https?|ftp|file)://|(?:javascript|vbscript):|data:(?=\w+/)|www\.)(?=\S)", re.IGNORECASE)
# `![alt](url)`, `[text](url)`, `[text][ref]`, `[ref]: url`; citation marks are not references.
_LINK = re.compile(r"(?<!!)!++(?=\[)|(?<=\])(?=\(|:)")
_ACTING = re.compile(r"[\\`*~|\[\]]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
# Marks of citations, the answer's own or a document's: "[1]", "[2, 5-7]". They count from 1: "[0-9]" is code.
REFERENCE = re.compile(r"\[([1-9]\d{0,2}(?:\s*[,;–-]\s*[1-9]\d{0,2})*)\]")
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)


def as_text(text: str) -> str:
    """Return the text with its links, images and tags broken by a space, and addresses without their scheme."""
    # Removing one may join the halves of another.
    while (bare := _SCHEME.sub("", text)) != text:
        text = bare
    return _TAG.sub("< ", _LINK.sub(lambda match: "" if match[0] else " ", text))


def without_effects(text: str) -> str:
    """Return a document's text as it stands, but for images, links to other places and tags that act.

    A space breaks these, and an image becomes a link. Addresses stay: what looks like one leads where it says.
    """
    return _TAG.sub(_broken_tag, _LINK.sub(_broken_link, text))


def _broken_link(found: re.Match[str]) -> str:
    """Make a link of an image, and break a link unless it leads to a page beside this one."""
    after = found.string[found.end() :]
    if found[0]:  # not "It works![2]"
        return "" if after.partition("]")[2].startswith("(") else f"{found[0]} "
    target, closed, _ = after[1:].partition(")")
    beside = after[:1] == "(" and closed and all(one.isalnum() or one in "_./#%?=-" for one in target)
    return "" if beside and not target.startswith("//") else " "


def _broken_tag(found: re.Match[str]) -> str:
    """Break a tag that ends one, has an attribute or runs by itself; "<name>" in documentation does nothing."""
    tag = found.string[found.end() :].partition(">")[0].lower()
    acts = "=" in tag or tag.startswith(("/", "script", "style"))
    return f"{found[0]} " if acts else found[0]


def as_plain(text: str) -> str:
    """Return a text that Markdown shows as it stands, on one line: a title, in which no mark may make code or stress.

    Inside words underscores do nothing, so they stay; so do marks that act at the beginning of a line alone.
    """
    return _ACTING.sub(r"\\\g<0>", as_text(" ".join(text.split())))


def without_marks(text: str) -> str:
    """Return a document's text with its own "[12]" as "(12)": in an answer it would read as a citation."""
    shown, *rest = REFERENCE.split(text)
    for mark, after in zip(rest[::2], rest[1::2], strict=True):
        gap = " " if shown.endswith("]") else ""  # "[text](12)" would be a link
        shown += f"{gap}({mark}){after}"
    return shown


def without_citations(answer: str) -> str:
    """Return an answer without its marks, which stand for nothing elsewhere; code between backticks stays."""
    parts = answer.split("`")
    for at in range(0, len(parts), 2):
        *before, rest = REFERENCE.split(parts[at])[::2]
        parts[at] = "".join([*(text.rstrip(" ") for text in before), rest])
    return "`".join(parts)


def fenced(code: str) -> str:
    """Return code as a block that shows it as it stands: between fences longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}\n{code}\n{fence}"
