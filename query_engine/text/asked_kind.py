"""What kind of thing a question asks for, and whether a text holds such a thing: an amount, a point in time, a reason.

Flow: a question -> **here** -> `reader/reading.py` prefers sentences that hold what is asked for,
`synthesis/block_selection.py` adds the sentence that gives a reason. English, German, French and Spanish. Which words
of a sentence are the answer is `short_answers.py`'s business. Pure.
"""

import re
from enum import Enum


class AskedKind(Enum):
    """What a question asks for."""

    AMOUNT = "amount"
    TIME = "time"
    REASON = "reason"


_ASKS = {
    AskedKind.REASON: re.compile(
        r"\b(?:why|how come|(?:for )?what reasons?|what(?:'s| is| was| were) the reasons?|warum|wieso|weshalb|weswegen"
        r"|pourquoi|por qué)\b",
        re.IGNORECASE,
    ),
    AskedKind.TIME: re.compile(
        r"(?:^|\b(?:until|till|since|from|by|and|or) )\W*when\b|\bwhen\W*$"
        r"|\b(?:(?:what|which) (?:time|date|day|month|year)|wann|um wie ?viel uhr|an welchem tag"
        r"|quand|à quelle heure|cuándo|a qué hora)\b",
        re.IGNORECASE,
    ),
    AskedKind.AMOUNT: re.compile(
        r"\bhow (?:many|much|long|far|high|tall|wide|deep|big|large|heavy|old|often|fast|expensive)\b"
        r"|\bwhat (?:percentage|share|proportion|number|amount)\b|\bwhat (?:do|does|did|will|would)\b.{1,80}\bcosts?\b"
        r"|\bwhat(?:'s| is| was| are| were) the (?:\w+ )?(?:price|cost|fee|rent|deposit|salary|height|length|width"
        r"|depth|weight|size)\b"
        r"|\bwie ?viele?\b|\bwie (?:hoch|lang|lange|schwer|alt|weit|teuer|oft|groß|breit|tief|schnell)\b"
        r"|\bwas (?:kostete?n?|kostet)\b|\bcombien\b|\bcuánt[oa]s?\b",
        re.IGNORECASE,
    ),
}
_NUMBER_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|billion|half|third|quarter|dozen|once|twice"
    r"|free|none|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|\w+(?:zehn|zig|hundert)|tausend|einmal"
    r"|zweimal|dreimal|kostenlos|deux|trois|quatre|cinq|sept|huit|neuf|dix|onze|douze|quinze|vingt|trente|quarante"
    r"|cent|mille|gratuite?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte"
    r"|treinta|cien|ciento|mil|gratis)s?"
)
_EVERY = (
    r"(?:hourly|daily|weekly|monthly|yearly|annual(?:ly)?|each|every|täglich|wöchentlich|monatlich|jährlich"
    r"|jede[nmrs]?)"
)
_HOLDS = {
    # A year is no amount.
    AskedKind.AMOUNT: re.compile(
        rf"(?<![\d.,])(?!(?:1[5-9]|20)\d\d\b(?![.,]\d))\d|\b(?:{_NUMBER_WORD}|{_EVERY})\b", re.IGNORECASE
    ),
    AskedKind.TIME: re.compile(
        rf"\d|\b(?:{_EVERY}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august"
        r"|september|october|november|december|spring|summer|autumn|winter|centur(?:y|ies)|morning|noon|afternoon"
        r"|evening|night|midnight|today|tomorrow|yesterday|weeks?|months?|years?|days?|hours?|after|before|until|till"
        r"|during|since|once|while|as soon as|when|whenever|if|always|never|immediately|at once"
        r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|januar|februar|märz|mai|juni|juli|oktober|dezember"
        r"|frühling|sommer|herbst|morgen|abend|nacht|heute|gestern|wochen?|monate?n?|jahre?n?|tage?n?|nach|vor|bis|seit"
        r"|während|wenn|sobald|sofort|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles"
        r"|jueves|viernes|sábado|domingo)\b",
        re.IGNORECASE,
    ),
    AskedKind.REASON: re.compile(
        r"\b(?:because|due to|owing to|thanks to|so that|in order to|otherwise"
        r"|(?:the|its|one|this|that|which|main) reasons?"
        r"|caused by|since (?!\d|the \d|january|february|march|april|june|july|august|september|october|november"
        r"|december)|therefore|thus|hence|consequently|as a result|(?:that|this|which) is why"
        r"|to (?:avoid|prevent|protect|save|ensure|reduce|spare)"
        r"|weil|denn|deshalb|deswegen|daher|darum|damit|wegen|aufgrund|sonst|grund|gründe|parce que|puisque|afin"
        r"|à cause|grâce à|car|porque|ya que|debido|para que|por eso)\b|, (?:as|so|da) ",
        re.IGNORECASE,
    ),
}
# The reason stands before what says so: "It leaks; therefore ..."; "This is because ..." explains what stands before.
_POINTS_BACK = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|for (?:this|that|which) reason|(?:that|this|which) is why"
    r"|deshalb|deswegen|daher|darum|aus diesem grund|c'est pourquoi|por eso)\b"
    r"|^\W*(?:(?:the|its|one|another) reasons?\b|(?:this|that|it) (?:is|was) because\b|der grund\b|das liegt\b)",
    re.IGNORECASE,
)


def asked_kind(question: str) -> AskedKind | None:
    """Return what a question asks for; None if it is none of these."""
    return next((kind for kind, pattern in _ASKS.items() if pattern.search(question)), None)


def holds_kind(kind: AskedKind, text: str) -> bool:
    """Whether a text holds something of a kind."""
    return _HOLDS[kind].search(text) is not None


def points_back(text: str) -> bool:
    """Whether a sentence that gives a reason needs the one before it: for the reason, or for what it is a reason of."""
    return _POINTS_BACK.search(text) is not None
