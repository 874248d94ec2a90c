"""Words of a question that do not name its subject, beyond the stop words of a search.

Flow: a question -> **here** -> `term_weights.py` (how fully a text covers the question). A search still takes them:
they cost it nothing, and help where a document repeats the question's own words. English and German, where such words
are not function words anyway (`index/lexical/language.py`). Pure.
"""

import re

_ASKING = re.compile(
    r"\bhow (?:many|much|long|often|far|come)\b|\bwhat (?:time|kinds? of|sorts? of)\b|\bam (?=I\b)"
    r"|(?<=\bmy) own\b|(?<=\byour) own\b|(?<=\bour) own\b|(?<=\btheir) own\b",
    re.IGNORECASE,
)
# "The over 80s" are in texts "patients over 80".
_AGE_GROUP = re.compile(r"\b(over|under)([- ]\d{1,3})s\b", re.IGNORECASE)
_CONTRACTION = re.compile(r"\b(\w+)['’](?:t|s|m|re|ve|ll|d)\b", re.IGNORECASE)
# Of contractions that are not the verb and "n't".
_DENIED = {"can": "can", "won": "will", "shan": "shall", "ain": "is"}
# Verbs that go with anything, and words that stand for a subject without naming it.
_LIGHT = frozenset(
    "get gets got getting gotten give gives gave given giving make makes made making take takes took taken taking have "
    "having had put puts let lets go goes went gone going come comes came want wants wanted need needs needed use uses "
    "used using mean means meant happen happens happened say says said tell tells told know knows knew known find "
    "finds found show shows ask asks asked mention mentions mentioned called keep keeps kept must may might shall am "
    "being does done doing much many lot lots long often also too very really just please still ever exactly actually "
    "him her hers his them theirs he she us myself yourself himself herself "
    "thing things something anything someone somebody anybody anyone one ones other else some any all every each more "
    "most now then than so not no yes what's who's here there up out off per cannot cant dont doesnt isnt "
    "viel viele vielen wieviel gibt geben bekommt bekommen bekomme machen macht gemacht kommt kommen mal denn noch "
    "bitte eigentlich etwas jemand man".split()
)


def is_light(word: str) -> bool:
    """Whether a word alone says nothing about a subject."""
    return word.casefold() in _LIGHT


def without_asking_words(question: str) -> str:
    """Return the question without "how many" and the like, and without the endings of contractions and "over 80s".

    Verbs stay, though `is_light` names them: "What does it mean?" is answered by "It means".
    """
    asked = _AGE_GROUP.sub(r"\1\2", _ASKING.sub(" ", question))
    return _CONTRACTION.sub(lambda match: _expanded(match[0], match[1]), asked)


def _expanded(word: str, stem: str) -> str:
    """Return "can" for "can't", "do" for "don't", "you" for "you're", and the owner's name for "Bea's"."""
    if word[-1] in "tT" and stem[-1] in "nN":
        return _DENIED.get(stem.casefold(), stem[:-1])
    return stem
