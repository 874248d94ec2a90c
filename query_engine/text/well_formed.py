"""Text that UTF-8 can carry.

Flow: what JSON or a document may hold -> **here** -> files, tables and replies. Pure.
"""


def well_formed(text: str) -> str:
    """Return a text with a question mark for each lone surrogate, which no file, table or reply in UTF-8 can hold."""
    return text.encode("utf-8", "replace").decode()
