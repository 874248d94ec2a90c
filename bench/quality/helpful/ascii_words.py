"""The words of English text as CLAPNQ's and SQuAD's scorers see them.

Flow: **here** -> `clapnq.py`, `squad2.py`. Figures of these sets are compared with published ones, so a letter with an
accent parts a word here, as it does there; `eval/metrics.py` reads every script.
"""

import re


def ascii_words(text: str) -> list[str]:
    """Return the lower-case runs of ASCII letters and digits, in order."""
    return re.findall(r"[a-z0-9]+", text.lower())
