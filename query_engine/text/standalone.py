"""Whether a sentence is understood alone: what it leaves open, denies, limits, and whom it names.

Flow: a sentence that is quoted -> **here** -> `synthesis/` quotes what stands before it as well, or names its heading.
Word lists, mostly of English, German, French and Spanish. Pure.
"""

import re

# A sentence that begins so leaves open whom it is about.
_OPEN = re.compile(
    r"(?:(?:In|On|By|Since|After) [^,.]{1,20},? )?(?:he|she|it|they|his|her|its|their|this|these)\b", re.I
)
# "Charge them in your flat.": a pronoun among the first words, for something said before.
_POINTS_BACK_EARLY = re.compile(
    r"(?:(?!(?:if|when|as|although|because|since|once|until|unless|while|before|after|though|how|what|where|why)\b)"
    r"[\w’']+ ){1,3}(?:it|them|they)\b",
    re.I,
)
# A capital, four words or more, and a full stop; the number of a step may stand before it.
_SENTENCE = re.compile(r"(?:\d{1,3}[.)]\s+)?[A-ZÀ-ÖØ-Þ]\S*(?:\s+\S+){3,}(?<=[.!?])")
_LIMITS = re.compile(r"\b(?:unless|only|if|when|nur|wenn|falls|seulement|si|quand|solo|cuando)\b", re.I)
_DENIES = re.compile(
    r"\b(?:not?|cannot|never|none|neither|without|avoid\w*|refrain\w*|except\w*|exclu\w+|false|wrong|myths?|forbidden"
    r"|prohibited|nicht|kein\w*|nie|niemals|ohne|außer|verboten\w*|ne|pas|jamais|aucune?|sans|sauf|interdite?s?"
    r"|nunca|ning[uú]n\w*|sin|salvo|prohibid[oa]s?)\b|n['’]t\b",
    re.I,
)
_NAMES_IT = re.compile(
    r"(?:this|that|it|these|they) (?:is|are|was|were) (?:also )?(?:called|named|known as|termed)\b", re.I
)
# A name within a sentence, not at its beginning.
_NAME_WITHIN = re.compile(r"(?<=[\w,;] )[A-ZÀ-ÖØ-Þ][\w’'-]+")
# "Each mile after that: 25p" means nothing without the line before.
_GOES_ON = re.compile(
    r"\b(?:after (?:that|this)|thereafter|from then on|beyond (?:that|this)"
    r"|(?:each|every|any|per) (?:further|additional|extra)"
    r"|jede[rs]? weitere[rs]?|danach|darüber hinaus|chaque \w+ supplémentaire|cada \w+ adicional)\b",
    re.I,
)
# "Yes, but not at once." answers a question of the document's own.
_BARE_REPLY = re.compile(r"(?:yes|no|ja|nein|oui|non|sí)\b[^.!]{0,25}[.!]?", re.I)


def denies(text: str) -> bool:
    """Whether a text says no, so that what follows from it means the opposite without it."""
    return _DENIES.search(text) is not None


def names_another(text: str, title: str) -> bool:
    """Whether a sentence names somebody or something that is not in a title; a pronoun after it may mean that."""
    known = set(re.findall(r"\w+", title.casefold()))
    return any(known.isdisjoint(re.findall(r"\w+", name.casefold())) for name in _NAME_WITHIN.findall(text))


def leaves_open(text: str) -> bool:
    """Whether a text begins with a word that stands for something said before."""
    return _OPEN.match(text) is not None


def names_what_was_said(text: str) -> bool:
    """Whether a text only gives a name to what was said before: "This is called mulching."."""
    return _NAMES_IT.match(text) is not None


def points_back_early(text: str) -> bool:
    """Whether one of the first words of a text stands for something said before."""
    return _POINTS_BACK_EARLY.match(text) is not None


def is_sentence(text: str) -> bool:
    """Whether a text is a whole sentence, not a few words of a list."""
    return _SENTENCE.fullmatch(text) is not None


def limits(text: str) -> bool:
    """Whether what follows from a text holds only under a condition."""
    return _LIMITS.search(text) is not None


def goes_on(text: str) -> bool:
    """Whether a line means what comes after, or beyond, the line before it."""
    return _GOES_ON.search(text) is not None


def only_replies(text: str) -> bool:
    """Whether a sentence is a yes or a no that the next one explains."""
    return _BARE_REPLY.fullmatch(text) is not None
