"""What kind of thing a question asks for, and whether a text holds it: an amount, money, a point in time, a reason.

Flow: a question -> **here** -> `reader/ranking.py` prefers sentences that hold what is asked for,
`synthesis/block_growth.py` adds the sentence that gives a reason, and the rest of a list where much is asked for.
English, German, French and Spanish; the commonest words of Italian, Portuguese, Dutch, Swedish, Russian, Chinese and
Japanese. Which words of a sentence are the answer is `short_answers.py`'s business. Pure.
"""

import re
from enum import Enum


class AskedKind(Enum):
    """What a question asks for."""

    AMOUNT = "amount"
    MONEY = "money"
    TIME = "time"
    REASON = "reason"


# "when" also begins clauses that ask for nothing: "What must I pay when I lose my key?"
ASKS_WHEN = r"(?:^|\b(?:until|till|since|from|by|and|or) )\W*when\b|\bwhen\W*$"
_ASKS = {
    AskedKind.REASON: re.compile(
        r"\b(?:why|how come|(?:for )?what reasons?|what(?:'s| is| was| were) the reasons?|what caused|warum|wieso"
        r"|weshalb|weswegen|pourquoi|por qué|perché|por que|waarom|varför|почему)\b|为什么|为何|なぜ|どうして",
        re.IGNORECASE,
    ),
    AskedKind.TIME: re.compile(
        rf"{ASKS_WHEN}|\b(?:(?:what|which) (?:time|date|day|month|year)|wann|um wie ?viel uhr|an welchem tag"
        r"|cuándo|a qué hora|à quelle heure|(?:depuis|jusqu'à) quand|quando|a che ora|a que horas|wanneer|hoe laat"
        r"|när|когда)\b|^\W*quand\b|什么时候|几点|哪天|何时|几月|几号|いつ|何時|何日|何月",
        re.IGNORECASE,
    ),
    # In English the reader tells prices from other figures; this rule accepted near misses there.
    AskedKind.MONEY: re.compile(
        r"\bwas (?:kostete?n?|kostet)\b|\bwie ?viel (?:kosten?|kostet|zahl|bezahl)|\bwie teuer\b"
        r"|\bcombien (?:coûte|paie|dois|faut-il payer)|\bcuánto (?:cuesta|vale|pago|pagamos|hay que pagar)"
        r"|\bquanto (?:costa|custa|pago)\b|\b(?:wat|hoeveel) kost\b|\bvad kostar\b|\bсколько стоит\b"
        r"|多少钱|多少元|[付交]多少|いくら",
        re.IGNORECASE,
    ),
    AskedKind.AMOUNT: re.compile(
        r"\bhow (?:many|much|long|far|high|tall|wide|deep|big|large|heavy|old|often|fast|expensive)\b"
        r"|\bwhat (?:percentage|share|proportion|number|amount)\b|\bwhat (?:do|does|did|will|would)\b.{1,80}\bcosts?\b"
        r"|\bwhat(?:'s| is| was| are| were) the (?:\w+ )?(?:price|cost|fee|rent|deposit|salary|height|length|width"
        r"|depth|weight|size)\b"
        r"|\bwie ?viele?\b|\bwie (?:hoch|lang|lange|schwer|alt|weit|teuer|oft|groß|breit|tief|schnell)\b"
        r"|\bwas (?:kostete?n?|kostet)\b|\bcombien\b|\bcuánt[oa]s?\b|\bquant[oiae]s?\b|\bhoeveel\b"
        r"|\bhur (?:mycket|många|länge)\b|\bсколько\b"
        r"|多少|几[天个次年月]|多[长久大高远重]|どのくらい|どれくらい|いくつ|何[年日分人個回キ]",
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
_COUNTED = (
    r"\s?(?:[€$£¥%]|(?:EUR|USD|GBP|euros?|dollars?|pounds?|people|persons|members|visitors|guests|residents|pupils"
    r"|students|employees|copies|seats|rooms|pages|words|hours|metres?|meters?|miles|feet|kilomet(?:re|er)s?|km|kg"
    r"|grams?|litres?|liters?|tonnes?|tons?|kWh?|MW|rpm|calories)\b)"
)
_CHARACTER_NUMBER = r"[一二三四五六七八九十百千两][^\W一二三四五六七八九]"
_HOLDS = {
    # A year is no amount, but 1800 euros are.
    AskedKind.AMOUNT: re.compile(
        rf"(?<![\d.,])(?!(?:1[5-9]|20)\d\d\b(?![.,]\d|{_COUNTED}))\d|[$€£¥]\s?\d|\b(?:{_NUMBER_WORD}|{_EVERY})\b|{_CHARACTER_NUMBER}",
        re.IGNORECASE,
    ),
    AskedKind.MONEY: re.compile(
        r"[$€£¥￥₽₹%]|\b(?:EUR|USD|GBP|CHF|euros?|dollars?|pounds?|pence|cents?|franc?s|franken|kronor|kroner|kr|free"
        r"|no charge|gratis|gratuite?|kostenlos|percent|per cent)\b|\bруб|(?<!\d)\d{1,9}[.,]\d\d(?!\d)"
        r"|[\d一二三四五六七八九十百千万億零两][元円块]|無料|免费",
        re.IGNORECASE,
    ),
    AskedKind.TIME: re.compile(
        rf"\d|\b(?:{_EVERY}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august"
        r"|september|october|november|december|spring|summer|autumn|winter|centur(?:y|ies)|morning|noon|afternoon"
        r"|evening|night|midnight|today|tomorrow|yesterday|weeks?|months?|years?|days?|hours?|after|before|until|till"
        r"|during|since|once|while|as soon as|when|whenever|if|always|never|immediately|at once"
        r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|januar|februar|märz|mai|juni|juli|oktober|dezember"
        r"|frühling|sommer|herbst|morgen|abend|nacht|heute|gestern|wochen?|monate?n?|jahre?n?|tage?n?|nach|vor|bis|seit"
        r"|während|wenn|sobald|sofort|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles"
        r"|jueves|viernes|sábado|domingo)\b"
        r"|[一二三四五六七八九十][月日年天点時时分周个か]|[周星][一二三四五六日天期]|[月火水木金土日]曜|之前|之后|までに|上午|下午|午前|午後",
        re.IGNORECASE,
    ),
    AskedKind.REASON: re.compile(
        r"\b(?:because|due to|owing to|thanks to|so that|in order to|otherwise"
        r"|(?:the|its|one|this|that|which|main) (?:reason|cause)s?|the (?:purpose|aim|idea) is"
        r"|caused by|since (?!\d|the \d|then\b|last |(?:this|that) (?:day|week|month|year|time|morning|evening)"
        r"|(?:early|late|mid)\b|yesterday|january|february"
        r"|march|april|may \d|june|july|august|september|october|november|december|spring|summer|autumn|winter"
        r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
        r"|therefore|thus|hence|consequently|as a result|(?:that|this|which) is why"
        r"|to (?:avoid|prevent|protect|save|ensure|reduce|spare|allow|enable|make sure)"
        r"|weil|denn|deshalb|deswegen|daher|darum|damit|wegen|aufgrund|sonst|grund|gründe|parce que|puisque|afin"
        r"|à cause|grâce à|car|porque|ya que|debido|para que|por eso|perché|poiché|omdat|doordat|eftersom"
        r"|потому что)\b|, (?:as|so|da) |因为|因此|所以|由于|ため|ので|から(?:です|だ|である)",
        re.IGNORECASE,
    ),
}
_MISSING_KIND_PENALTY = {AskedKind.AMOUNT: 2.5, AskedKind.MONEY: 1.0, AskedKind.TIME: 1.0, AskedKind.REASON: 0.0}
# The reason stands before what says so: "It leaks; therefore ..."; "This is because ..." explains what stands before.
_POINTS_BACK = re.compile(
    r"\b(?:therefore|thus|hence|consequently|as a result|for (?:this|that|which) reason|(?:that|this|which) is why"
    r"|deshalb|deswegen|daher|darum|aus diesem grund|c'est pourquoi|por eso)\b"
    r"|^\W*(?:(?:the|its|one|another) (?:reasons?|purpose|aim|idea)\b|(?:this|that|it) (?:is|was) because\b"
    r"|der grund\b|das liegt\b)",
    re.IGNORECASE,
)

_WANTS_ALL = re.compile(
    r"\bhow (?:do|does|can|should|to|would|is|are)\b|^\W*list\b|\b(?:steps?|procedure|process|instructions"
    r"|(?:a|the|full|complete|whole) list|lists? of|list (?:all|me|the|every)"
    r"|name (?:all|the|some)"
    r"|(?:which|what) (?:\w+ )?\w+(?<![su])s (?:are|were|do|does|can|have|will|would|should|must|may)"
    r"|what are|who are|who (?:was|were) (?:at|there|present)|benefits|advantages|disadvantages|pros|cons|reasons|ways"
    r"|kinds|types|options|requirements|rules|all)\b",
    re.IGNORECASE,
)
_HOW_TO = re.compile(
    r"\bhow (?:do|can|should|could|may|must|would) (?:I|we|you|one|people|someone)\b|\bhow to\b"
    r"|\bwhat (?:do|must|should) (?:I|we|you) (?:have to |need to )?do\b"
    r"|\bwie (?:kann|muss|soll|geht) |\bcomment (?:puis-je|faire)\b|\bcómo puedo\b",
    re.IGNORECASE,
)
_ASKS_AGAIN = re.compile(
    r"\b(?:and|or)\s+(?:\w+\s+)?(?:what|which|who|when|where|why|how)\b|\?.*\?", re.IGNORECASE | re.DOTALL
)


def asked_kind(question: str) -> AskedKind | None:
    """Return what a question asks for; None if it is none of these."""
    return next((kind for kind, pattern in _ASKS.items() if pattern.search(question)), None)


def asks_for_much(question: str) -> bool:
    """Whether one sentence rarely answers it."""
    return _WANTS_ALL.search(question) is not None


def asks_how_to(question: str) -> bool:
    """Whether it asks how somebody does something."""
    return _HOW_TO.search(question) is not None


def asks_again(question: str) -> bool:
    """Whether a second question follows the first. English, or with two question marks."""
    return _ASKS_AGAIN.search(question) is not None


def holds_kind(kind: AskedKind, text: str) -> bool:
    """Whether a text holds something of a kind."""
    return _HOLDS[kind].search(text) is not None


def missing_kind_penalty(kind: AskedKind, text: str) -> float:
    """Return the log-odds that a text loses, 0 or more, because it holds nothing of a kind that is asked for."""
    if holds_kind(kind, text):
        return 0.0
    # A number may be a sum of money without a sign of it.
    return _MISSING_KIND_PENALTY[
        AskedKind.AMOUNT if kind is AskedKind.MONEY and not holds_kind(AskedKind.AMOUNT, text) else kind
    ]


def points_back(text: str) -> bool:
    """Whether a sentence that gives a reason needs the one before it: for the reason, or for what it is a reason of."""
    return _POINTS_BACK.search(text) is not None
