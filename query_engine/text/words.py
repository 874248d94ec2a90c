"""Words of a text: runs of letters and digits to compare, or what stands between spaces to count."""

import re

WORD = re.compile(r"\w+")
# The mark of a citation, with its number.
MARK = re.compile(r"\[(\d{1,3})\]")


def first_words(text: str, words: int) -> str:
    """Return the text up to the end of its n-th word; words stand between white space.

    Args:
        text: any.
        words: at least 0.
    """
    beyond = text.split(None, words)[words:]
    return text[: len(text) - len(beyond[0])].rstrip() if beyond else text
