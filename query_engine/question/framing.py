"""Take a request's polite frame off: "Could you tell me how deep the wells are?" asks "how deep the wells are?".

Flow: engine, after the conversation is read -> **here** -> the question that is searched for, read for and judged. The
words of a frame stand in no document, and the reader learnt from plain questions: with the frame it finds less. What is
demanded ("Explain net metering", "Tell me about tides") becomes a question, "What is net metering?". A demand that says
how the answer should be written ("Explain it like I'm five") stays as it is, for language models. Frames are English,
German, French and Spanish, demands English. Pure.
"""

import re

from query_engine.text.asked_kind import asks_again

# A longer one says more than what it asks for.
MAX_CHARS = 300
_ASKING = {
    "en": r"(?:what|which|who|whom|whose|when|where|why|how|if|whether)\b",
    "de": r"(?:was|welche[rsnm]?|wer|wen|wem|wann|wo|woher|wohin|warum|wieso|weshalb|wie(?: ?viele?)?|ob)\b",
    "fr": r"(?:quels?|quelles?|qui|quand|où|pourquoi|comment|combien|ce qu[ei]|si)\b",
    "es": r"(?:qué|cuál(?:es)?|quién(?:es)?|cuándo|dónde|por qué|cómo|cuánt[oa]s?|si)\b",
}
_FRAMES = {
    "en": r"(?:(?:can|could|would|will) (?:you|u|anyone|somebody|someone) (?:please |kindly |maybe )?"
    r"(?:tell|explain(?: to)?|show|remind|help) (?:me|us)(?: (?:understand|find out|with))?"
    r"|(?:can|could|would|will) you (?:please |kindly )?explain|please (?:tell|explain(?: to)?|show|remind) (?:me|us)"
    r"|please explain|(?:tell|explain to|remind) (?:me|us)|do you (?:happen to )?know|does (?:anyone|anybody) know"
    r"|i(?:(?: would|'d)(?: really)? (?:like|love)| want| wanted| need) to (?:know|find out|understand|ask)"
    r"|i(?:'m| am| was) (?:just )?wondering"
    r"|i wonder|any idea|(?:my|the) question is|i have a question:?)",
    "de": r"(?:(?:kannst(?: du)?|können sie|könntest du|könnten sie|würden sie|würdest du) (?:mir |uns )?(?:bitte )?"
    r"(?:sagen|erklären|verraten)|(?:sag|sagen sie|erklär|erkläre|erklären sie) (?:mir|uns)(?: bitte)?"
    r"|ich (?:möchte|würde|wollte)(?: gerne?)? wissen|weißt du|wissen sie|ich frage mich|meine frage ist)",
    "fr": r"(?:(?:peux-tu|pouvez-vous|pourriez-vous|pourrais-tu) (?:me|nous) (?:dire|expliquer)"
    r"|(?:dis|dites|explique|expliquez)-(?:moi|nous)|(?:je voudrais|j'aimerais) savoir|sais-tu|savez-vous"
    r"|je me demande)",
    "es": r"(?:(?:me )?(?:puedes|puede|podrías|podría) (?:decir|explicar)(?:me|nos)?|(?:dime|dígame|explícame)"
    r"|(?:me gustaría|quisiera|quiero) saber|sabes|sabe usted|me pregunto)",
}
_HELLO = r"[¿¡]?(?:(?:hi|hello|hey|hallo|bonjour|hola|please|bitte|ok|okay|so|well)(?: there)?[,!.:]?\s+){0,3}"
_THANKS = re.compile(
    r"[,.]?\s+(?:please|pls|thanks|thank you|many thanks|bitte|danke|s'il (?:vous|te) plaît|merci|por favor|gracias)"
    r"(?=[\s?!.]*\Z)",
    re.IGNORECASE,
)
_FRAMED = (
    re.compile(rf"{_HELLO}{_FRAMES['en']}[,:]?\s+(?P<rest>{_ASKING['en']}.+)", re.IGNORECASE),
    re.compile(rf"{_HELLO}{_FRAMES['de']}[,:]?\s+(?P<rest>{_ASKING['de']}.+)", re.IGNORECASE),
    re.compile(rf"{_HELLO}{_FRAMES['fr']}[,:]?\s+(?P<rest>{_ASKING['fr']}.+)", re.IGNORECASE),
    re.compile(rf"{_HELLO}{_FRAMES['es']}[,:]?\s+(?P<rest>{_ASKING['es']}.+)", re.IGNORECASE),
)
# "whether dogs are allowed" is read as "dogs are allowed".
_WHETHER = re.compile(r"(?:if|whether|ob|si)\s+", re.IGNORECASE)
_WANTED = (
    r"(?:tell (?:me|us)(?: something| a bit| a little)? about"
    r"|(?:explain|describe|define)(?: to (?:me|us))?(?: briefly)?"
    r"|(?:give|tell) (?:me|us) (?:an? |the )?(?:short |brief |quick )?(?:definition|explanation|description|meaning) of"
    r"|tell (?:me|us)(?= (?:the|my|our|your)\b))"
)
_DEMANDED = re.compile(
    rf"{_HELLO}(?:(?:can|could|would|will) you (?:please |kindly )?|i(?:'d| would) like you to )?{_WANTED}"
    r"\s+(?P<subject>[^?!;:\n]{2,120}?)[\s?!.]*",
    re.IGNORECASE,
)
# How the answer should be written.
_MANNER = re.compile(
    r"\b(?:to (?:a|an|my|me)|like (?:i|you)|as (?:if|though)|in (?:simple|plain|detail|your|one|two|three|a few|\d)"
    r"|step by step|using|for (?:kids|children|beginners|(?:a|an) (?:child|kid|beginner|layman|\w+-year-old)))\b",
    re.IGNORECASE,
)
# "how deep the wells are" asks "how deep are the wells"; only an article says surely where the subject begins.
_INDIRECT = re.compile(
    r"(?P<asks>(?:what|who|where|when|why|how)(?: [a-z]+)?)\s(?P<subject>(?:the|a|an|my|our|your|his|her|their|its|this"
    r"|that|these|those)\s[^,?]{1,80}?)\s(?P<verb>is|are|was|were)",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"(?P<asks>how (?:many|much) [^,?]{1,80}?) there (?P<verb>is|are|was|were)", re.IGNORECASE)
_PRONOUN = re.compile(r"\A(?:it|this|that|these|those|them|him|her|you|yourself|me|us|more)\b", re.IGNORECASE)
# "the costs of wind power": what stands before it says whether there are several.
_BELONGS = re.compile(r"\s(?:of|in|on|at|for|between|from|with|to|about|that|which|who|by|under|during)\s")
_SEVERAL = re.compile(r"(?:[^\W\dA-Z][\w-]*(?<!s)(?<!u)(?<!i)s|people|children|men|women|criteria|data)\Z")
_ONE = re.compile(r"(?:ics|news|lens)\Z", re.IGNORECASE)
_SENTENCE_ENDS = re.compile(r"[.!]\s")


def without_frame(question: str) -> str:
    """Return what a request asks, as a plain question; the question itself where nothing frames it."""
    if len(question) > MAX_CHARS:
        return question
    asked = _THANKS.sub("", " ".join(question.replace("’", "'").split()))
    for framed in _FRAMED:
        if match := framed.fullmatch(asked):
            return _as_question(match["rest"])
    match = _DEMANDED.fullmatch(asked)
    if match is None or asks_again(question):
        return question
    kept = any(pattern.search(match["subject"]) for pattern in (_MANNER, _PRONOUN, _SENTENCE_ENDS))
    return question if kept else _what_is(match["subject"])


def _what_is(subject: str) -> str:
    if re.match(_ASKING["en"], subject, re.IGNORECASE):
        return _as_question(subject)
    head = _BELONGS.split(subject, maxsplit=1)[0].split()[-1]
    several = _SEVERAL.match(head) is not None and not _ONE.search(head)
    return f"What {'are' if several else 'is'} {subject}?"


def _as_question(text: str) -> str:
    asked = _WHETHER.sub("", text, count=1).rstrip(" .!?")
    if match := _INDIRECT.fullmatch(asked):
        asked = f"{match['asks']} {match['verb']} {match['subject']}"
    elif match := _HOW_MANY.fullmatch(asked):
        asked = f"{match['asks']} {match['verb']} there"
    return f"{asked[0].upper()}{asked[1:]}?"
