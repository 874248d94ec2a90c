"""Tell small talk, and questions about the collection itself, from questions that the documents answer.

Flow: question -> **here** -> `Request`, or None: `answers.py` answers requests, the search all others. Precise rather
than greedy: a pattern fits the whole question or not at all, since a missed request is still searched for, and a
question that is taken for one is answered wrongly. "Which documents are needed for a visa?" is searched for. Whether a
document of that name exists is the business of `naming.py`. Pure.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

# Longer questions are about something.
MAX_CHARS = 200

Kind = Literal["greeting", "thanks", "farewell", "who", "list", "count", "overview", "summary", "contents", "history"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SMALL_TALK: tuple[Kind, ...] = ("greeting", "thanks", "farewell", "who")
# These hold a document's name, in groups that are called by the kind and a number.
NAMING: tuple[Kind, ...] = ("summary", "contents", "history")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the collection.

    Attributes:
        kind: `summary` demands one ("Summarise the lease"); `contents` asks what is in a document ("What is in the
            lease?"), which may be a question about the world as well; `history` demands what happened, by its dates.
        language: of the question: `en`, `de`, `fr` or `es`.
        name: what the question calls the document, articles left out; empty for other kinds.
        is_document: the question says that it is one ("the document on bioenergy").
    """

    kind: Kind
    language: str
    name: str = ""
    is_document: bool = False


_DOCS = r"(?:documents?|docs?|files?|sources?|texts?|pdfs?|documentation|materials?)"
_WHERE = (
    r"(?: (?:in|inside|from|within|of) (?:the|this|your|my|our) "
    r"(?:collection|corpus|index|library|folder|database|knowledge ?base|archive|system))"
)
_THEM = rf"(?:(?:these|the|your|my|our|those)(?: \w+)?? (?:{_DOCS}|collection|corpus|library|knowledge ?base))"
_ASKS = (
    r"(?:(?:hi|hello|hey|ok|okay|well|so|now|and|please)[,!.]? )*"
    r"(?:(?:can|could|would|will) you (?:please )?|please |i (?:want|would like|'d like) (?:you )?to )?"
)
_TELL = r"(?:(?:list|show|tell|give|name|enumerate|display|print)(?: me| us)?(?: a list of)?)"
_ENGLISH: dict[Kind, str] = {
    "greeting": r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| all|"
    r" everyone| treeline| again)?(?:[,!.]* (?:how are you|how(?: is|'s) it going|how do you do)(?: today| doing)?)?"
    r"|how are you(?: today| doing)?|nice to meet you",
    "thanks": r"(?:(?:ok|okay|great|perfect|good|nice|cool|wonderful)[,!.]? )?(?:thanks?|thank you|thx|ty|cheers|"
    r"many thanks)(?:,? (?:you|a lot|so much|very much|a million|again|treeline|for (?:your|the) (?:help|answer)|"
    r"that (?:helps|helped|was helpful)))*|(?:ok|okay|great|perfect|nice|cool|wonderful|awesome|got it|i see"
    r"|understood)",
    "farewell": r"(?:good ?bye|bye|bye bye|see you(?: later| soon)?|good night|so long|that(?: is|'s) all|ciao)"
    r"(?:[,!.]? (?:thanks|thank you))?",
    "who": r"who are you|what are you|what(?: is|'s) your name|introduce yourself|are you (?:a |an )?(?:bot|robot|ai|"
    r"human|person|machine|chatbot|real person)|what (?:can|do) you do|what can you (?:help|do)(?: me)?(?: with| for "
    r"me)?"
    r"|how can you help(?: me)?|how do you work|help|help me|what is treeline|who made you",
    "list": rf"(?:what|which)(?: kinds? of)? {_DOCS} (?:do|can|could) (?:you|we|i) (?:have|hold|know|see|access|read|"
    rf"search|use|own|ask about)(?: access to)?{_WHERE}?|(?:what|which) {_DOCS} (?:you|we) have"
    rf"|(?:what|which) {_DOCS} (?:are|is) (?:there|available|indexed|loaded|stored|uploaded|included)(?: "
    rf"here)?{_WHERE}?"
    rf"|(?:what|which) {_DOCS} (?:are|is){_WHERE}"
    rf"|{_TELL}(?: all)?(?: of)?(?: (?:the|your|my|our|available|indexed|these))* {_DOCS}"
    rf"(?: (?:that )?(?:you have|you know|there are|are there|are available|available))?{_WHERE}?"
    rf"|what(?: is|'s) (?:in|inside) (?:the|this|your|my|our) (?:collection|corpus|index|library|knowledge ?base)"
    rf"|what are your {_DOCS}|what do you have|all {_DOCS}",
    "count": rf"how many {_DOCS} (?:are there|do (?:you|we|i) have|have (?:you|been) (?:indexed|read|loaded|uploaded)|"
    rf"(?:are )?(?:in|indexed|loaded|available)|can you (?:see|read|search)|do you know)(?: in total)?{_WHERE}?"
    rf"|how many {_DOCS} are{_WHERE}|(?:what is the )?number of {_DOCS}{_WHERE}?"
    r"|how (?:big|large) is (?:the|this|your) (?:collection|corpus|library|knowledge ?base)",
    "overview": rf"what (?:are|is|do|does) (?:(?:all )?(?:of )?{_THEM}|these|those|they all)(?: all)? (?:about|cover|"
    rf"contain|say|deal with|talk about)|(?:summari[sz]e|describe|outline) (?:all )?(?:of )?(?:{_THEM}|everything|"
    rf"these|those|all {_DOCS})|what(?: is|'s) (?:in|inside) (?:all )?(?:of )?{_THEM}"
    rf"|(?:give me )?(?:an |a short |a brief )?(?:overview|summary)(?: of (?:all )?(?:of )?(?:{_THEM}|everything|all "
    rf"{_DOCS}))?"
    r"|(?:what|which) (?:topics|subjects|themes)(?: do(?:es)?| are| is| can)?(?: you| covered| there| included|"
    rf" (?:{_THEM}))(?: (?:cover|know|have|deal with|know about|answer|discuss))?{_WHERE}?"
    r"|what (?:do you know|can you tell me|can you answer)(?: about)?|what can i ask(?: you)?(?: about)?",
    "summary": r"(?:summari[sz]e|sum up|recap|outline)(?: for me)? (?P<summary1>.+?)(?: for me| in short| briefly)?"
    r"|(?:give me |write |i need |make |provide |show me )?(?:a |an |the )?(?:short |brief |quick |one-page )?"
    r"(?:summary|overview|outline|gist|synopsis|abstract|recap) (?:of|for|from) (?P<summary2>.+)"
    r"|tl;?dr(?: of| for)?:? (?P<summary3>.+)",
    "contents": r"what(?: is|'s| does| do| are) (?P<contents1>.+?) (?:all )?(?:about|say|contain|cover|deal with|state)"
    r"|what(?: is|'s| are) (?:written |said |stated )?(?:in|inside) (?P<contents2>.+)"
    r"|what (?:are|is) the (?:main |key |most important |central )+(?:points?|ideas?|topics?|takeaways?|contents?|"
    r"message|statements?|findings?)(?: (?:of|in|from)) (?P<contents3>.+)"
    r"|what(?: is|'s) the (?:gist|content|essence|subject|topic) of (?P<contents4>.+)"
    r"|(?:tell me|what do you know|what can you tell me)(?: something| a bit| more)? about (?P<contents5>.+)",
    "history": r"(?:give|tell|write|show)(?: me| us)? (?:a |an |the )?(?:short |brief |quick )?(?:history"
    r"|story|timeline|chronology) of (?P<history1>.+?)(?: in [\w ]{1,20} (?:sentences|words|lines))?",
}
_DE_DOCS = r"(?:dokumente?n?|dateien|datei|unterlagen|quellen|texte?n?)"
_GERMAN: dict[Kind, str] = {
    "greeting": r"hallo(?: zusammen)?|guten (?:tag|morgen|abend)|moin|servus|grüezi|grüß gott|wie geht(?: es|'s) "
    r"(?:dir|ihnen)",
    "thanks": r"(?:vielen |herzlichen |besten )?dank(?:e)?(?: schön| sehr| dir| ihnen)*|dankeschön",
    "farewell": r"tschüss|tschüs|auf wiedersehen|gute nacht|bis bald|ade",
    "who": r"wer (?:bist du|sind sie)|was (?:kannst du|können sie)(?: tun| machen)?|wie heißt du|was bist du|hilfe",
    "list": rf"(?:welche|was für) {_DE_DOCS} (?:hast du|haben sie|gibt es|kennst du|kennen sie|sind vorhanden|habt ihr|"
    rf"sind verfügbar|liegen vor)(?: hier)?|(?:liste?|zeige?|nenne?)(?: mir)?(?: bitte)? (?:alle|die) {_DE_DOCS}(?: "
    rf"auf)?"
    rf"|(?:alle )?{_DE_DOCS} (?:auflisten|anzeigen)",
    "count": rf"wie ?viele {_DE_DOCS} (?:hast du|haben sie|gibt es|sind es|sind vorhanden|kennst du|habt ihr)",
    "overview": rf"(?:worum|um was) geht es(?: in (?:diesen|den|deinen|ihren|all diesen|allen) {_DE_DOCS})?(?: hier)?"
    rf"|wovon handeln (?:diese|die|deine|ihre) {_DE_DOCS}|was steht in (?:diesen|den|allen) {_DE_DOCS}"
    rf"|fass(?:e|en sie)?(?: bitte)? (?:alle|die|diese) (?:dokumente|dateien|unterlagen|texte) zusammen"
    r"|welche themen (?:gibt es|kennst du|kennen sie|deckst du ab)|was weißt du",
    "summary": r"fass(?:e|en sie|t)?(?: mir)?(?: bitte)? (?P<summary1>.+?) zusammen|zusammenfassung (?:von|des|der) "
    r"(?P<summary2>.+)"
    r"|(?P<summary3>.+) zusammenfassen",
    "contents": r"was steht i[nm] (?P<contents1>.+)|(?:worum|um was) geht es i[nm] (?P<contents2>.+)|wovon handelt "
    r"(?P<contents3>.+)",
}
_FR_DOCS = r"(?:documents?|fichiers?|sources?|textes?)"
_FRENCH: dict[Kind, str] = {
    "greeting": r"bonjour|bonsoir|salut|coucou|(?:comment )?ça va|comment allez[- ]vous",
    "thanks": r"merci(?: beaucoup| bien| à vous| à toi)?",
    "farewell": r"au revoir|à bientôt|bonne nuit|adieu",
    "who": r"(?:qui|qu') ?(?:es[- ]tu|êtes[- ]vous)|tu es qui|que (?:sais[- ]tu|peux[- ]tu|pouvez[- ]vous|savez[- "
    r"]vous) faire|aide",
    "list": rf"quels (?:sont les )?{_FR_DOCS} (?:avez[- ]vous|as[- ]tu|y a[- ]t[- ]il|sont disponibles|sont là"
    rf"|disponibles)"
    rf"|quels sont (?:les|vos|tes) {_FR_DOCS}|(?:liste[rz]?|montre[rz]?|affiche[rz]?)(?:[- ]moi)?(?: de)?(?: tous)? "
    rf"(?:les|tes|vos) {_FR_DOCS}",
    "count": rf"combien (?:de|y a[- ]t[- ]il de) {_FR_DOCS}(?: (?:avez[- ]vous|as[- ]tu|y a[- ]t[- ]il|sont "
    rf"disponibles))?",
    "overview": rf"de quoi (?:parlent|traitent) (?:ces|les|tes|vos) {_FR_DOCS}|résume[rz]? (?:tous )?(?:les|ces) "
    rf"documents"
    r"|quels (?:sujets|thèmes) (?:couvres[- ]tu|couvrez[- ]vous|y a[- ]t[- ]il)",
    "summary": r"(?:résume[rz]?|fai(?:s|tes)(?:[- ]moi)? un résumé d(?:e|u)|(?:un )?résumé d(?:e|u))(?:[- ]moi)? "
    r"(?P<summary1>.+)",
    "contents": r"(?:qu'y a[- ]t[- ]il|qu'est[- ]ce qu'il y a) dans (?P<contents1>.+)|de quoi (?:parle|traite) "
    r"(?P<contents2>.+)"
    r"|que (?:dit|contient) (?P<contents3>.+)",
}
_ES_DOCS = r"(?:documentos?|archivos?|ficheros?|fuentes?|textos?)"
_SPANISH: dict[Kind, str] = {
    "greeting": r"hola|buen(?:os|as) (?:días|tardes|noches)|(?:hola,? )?(?:qué tal|cómo estás?)",
    "thanks": r"(?:muchas )?gracias",
    "farewell": r"adiós|hasta (?:luego|pronto|mañana)|chao",
    "who": r"quién (?:eres|es usted)|qué (?:puedes|sabes) hacer|cómo te llamas|ayuda",
    "list": rf"(?:qué|cuáles) {_ES_DOCS} (?:tienes?|tenéis|tienen|hay|están disponibles|conoces)"
    rf"|(?:lista|listar|enumera|muestra|muéstrame)(?: todos)? (?:los|tus) {_ES_DOCS}|cuáles son (?:los|tus) {_ES_DOCS}",
    "count": rf"cuánt[oa]s {_ES_DOCS} (?:tienes?|tenéis|tienen|hay|conoces)",
    "overview": rf"de qué (?:tratan|hablan|van) (?:estos|los|tus|estas|las) {_ES_DOCS}|resume (?:todos )?(?:los"
    rf"|estos) documentos"
    r"|qué temas (?:cubres|hay|conoces)",
    "summary": r"(?:resume|resumir|hazme un resumen de|(?:un )?resumen de)l? (?P<summary1>.+)",
    "contents": r"qué (?:hay|dice|pone) en (?P<contents1>.+)|de qué (?:trata|habla|va) (?P<contents2>.+)"
    r"|qué (?:dice|contiene) (?P<contents3>.+)",
}


def _groups(patterns: dict[Kind, str]) -> str:
    """Return one pattern with a group of each kind's name; the first one that fits counts."""
    return "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in patterns.items())


PATTERNS = {
    "en": re.compile(f"{_ASKS}(?:{_groups(_ENGLISH)})(?:,? please| for me| exactly)?", re.IGNORECASE),
    "de": re.compile(f"(?:bitte,? )?(?:{_groups(_GERMAN)})(?:,? bitte)?", re.IGNORECASE),
    "fr": re.compile(f"(?:{_groups(_FRENCH)})(?:,? s'il (?:vous|te) plaît)?", re.IGNORECASE),
    "es": re.compile(f"(?:por favor,? )?(?:{_groups(_SPANISH)})(?:,? por favor)?", re.IGNORECASE),
}
# What is said before a name without being part of it; "the document on bioenergy" is about bioenergy.
_ARTICLE = re.compile(
    r"\A(?:the|this|that|my|our|your|a|an|der|die|das|den|dem|des|dieses|diesem|diese|le|la|les|ce|cette|el|los|las"
    r"|este|esta)\s"
    r"|\Al'",
    re.IGNORECASE,
)
_DOCUMENT = re.compile(
    r"(?:document|file|text|paper|article|pdf|page|dokument|datei|artikel|fichier|documento|archivo|artículo"
    r"|(?:study|report|survey|trial|experiment)(?=\s(?:on|about|regarding|concerning)\s))\b"
    r"(?:\s(?:on|about|called|named|titled|with the title|regarding|concerning|über|zu|zum|zur|namens|sur|nommé|sobre|"
    r"llamado)(?:\s(?:the|der|die|das|la|le|les|el))?\b)?\s*",
    re.IGNORECASE,
)
# "What is in it?" refers to the conversation and names no document.
_PRONOUN = re.compile(
    r"it|this|that|these|those|they|them|he|she|him|her|dies(?:e[rsmn]?)?|das|es|ça|cela|eso|esto", re.IGNORECASE
)
_QUOTES = " \"'“”«»„"
_TRAILING_DOCUMENT = re.compile(r"\s(?:document|file|pdf|dokument|datei|fichier)$", re.IGNORECASE)


def recognise(question: str) -> Request | None:
    """Return what a question asks of the collection, None if it is about something else."""
    if len(question) > MAX_CHARS:
        return None
    asked = " ".join(question.replace("’", "'").split()).strip("¿¡ ").rstrip(" ?!.…:)")
    for language, pattern in PATTERNS.items():
        if match := pattern.fullmatch(asked):
            groups = match.groupdict()
            kind = next(kind for kind in KINDS if groups[kind] is not None)
            named = next(
                (groups[name] for name in groups if name.startswith(kind) and name != kind and groups[name]), ""
            )
            return _naming(kind, language, named)
    return None


def _naming(kind: Kind, language: str, named: str) -> Request | None:
    name = _ARTICLE.sub("", named.strip(_QUOTES), count=1).strip(_QUOTES)
    if named and _PRONOUN.fullmatch(name):
        return None
    document = _DOCUMENT.match(name)
    if document:
        name = name[document.end() :]
    elif trailing := _TRAILING_DOCUMENT.search(name):
        document, name = trailing, name[: trailing.start()]
    return Request(kind, language, name.strip(_QUOTES), is_document=document is not None)
