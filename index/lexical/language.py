"""Name the language of a question, by its script and its function words.

Flow: question -> **here** -> `tantivy_index.py` leaves its function words out; replies in that language.
Models of languages want whole paragraphs (`ingestion/reading/language.py`); a question has six words, but two of them
ask. Pure.
"""

import re

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
)
# Languages that are told by their letters.
IN_OTHER_LETTERS = frozenset(language for language, _ in _SCRIPTS)
# Words that no other of these languages has, or that ask; what two of them share counts for both.
_WORDS = {
    "en": "a i as no do if or be not so he she we you they me my your his her our the of and is are was were what "
    "who whom whose which where when why how do does did can could should "
    "would will "
    "has have had in on at to for from with by about an this that these those there it its many much long",
    "de": "der die das den dem des ein eine einen einem einer und oder ist sind war waren was wer wen wem wessen "
    "welche "
    "welcher welches welchen wo wann warum wieso wie viel viele kann können darf dürfen muss müssen soll hat haben "
    "wird "
    "werden in im am zu zum zur für von vom mit bei auf aus über nach nicht es man ich sie",
    "fr": "le la les un une des du de et ou est sont était étaient que quoi qui quel quelle quels quelles où quand "
    "pourquoi comment combien peut peuvent doit faut a ont au aux dans sur pour par avec ce cette ces il elle on ne "
    "pas "
    "qu'est est-ce",
    "es": "el la los las un una unos unas del de y o es son era eran fue qué que quién quiénes cuál cuáles dónde "
    "cuándo "
    "por cómo cuánto cuánta cuántos cuántas puede pueden debe hay tiene tienen en al para con se no lo su",
    "it": "il lo la i gli le un uno una di del della dei delle e o è sono era erano che chi quale quali dove quando "
    "perché come quanto quanta quanti quante può possono deve ha hanno al alla nel nella per con si non",
    "pt": "o a os as um uma de do da dos das e ou é são era foi que quem qual quais onde quando por porque como quanto "
    "quantos quantas pode podem deve há tem têm em no na nos nas ao à para com se não",
    "nl": "de het een en of is zijn was waren wat wie welke waar wanneer waarom hoe veel kan kunnen mag moet heeft "
    "hebben "
    "wordt worden in op aan te van voor met bij door niet er dit dat deze",
    "sv": "den det de ett och eller är var vad vem vilken vilket vilka när hur varför många mycket kan får ska måste "
    "har hade av till från på med för om inte jag vi som finns",
    "da": "den det de et og eller er var hvad hvem hvilken hvilket hvilke hvornår hvor hvordan hvorfor mange meget kan "
    "må skal har havde af til fra på med for om ikke jeg vi som findes",
    "no": "den det de et og eller er var hva hvem hvilken hvilket hvilke når hvor hvordan hvorfor mange mye kan må "
    "skal har hadde av til fra på med for om ikke jeg vi som finnes",
    "fi": "on ovat oli mikä mitä kuka ketä missä mistä mihin milloin miten miksi kuinka paljon monta voi saa pitää "
    "ja tai ei että se ne minun minä",
    "hu": "az egy és vagy van volt mi mit ki kit melyik hol hová mikor hogyan miért mennyi hány lehet kell nem hogy "
    "meg ez mennyibe",
    "ro": "un o și sau este sunt era ce cine care unde când cum cât câte câți câtă pot poate trebuie are au în la pe "
    "cu pentru din nu să",
    "tr": "bir ve veya ne kim hangi nerede nereye zaman nasıl neden niçin kaç kadar mi mı mu mü var yok için ile bu "
    "olan değil",
}
# Words of questions that say nothing about their subject either, beyond tantivy's stop words.
_LIGHT_WORDS = {
    "de": "ich du wir ihr mein meine meinem meinen meiner dein deine unser unsere bekomme bekommen bekommt gibt geben "
    "mache machen macht gemacht tun passiert heißt zurück etwas jemand jede jeder jedes jeden noch denn mal bitte als "
    "wohin woher",
    "es": "yo mi mis tu tus me te nos mí si más hago hacer hace hacen puedo podemos quiero cada alguien algo tener "
    "usar pasa estar mucho muchos",
    "fr": "je tu nous vous moi mon ma mes ton ta tes notre nos votre vos son sa ses si plus ai as avons avez suis "
    "faire fait fais puis peux chaque quelque quelqu chose tout tous toute",
    "it": "io tu noi voi mi ti ci mio mia miei mie tuo tua più se fare faccio fa posso devo ogni qualcuno qualcosa",
    "pt": "eu tu nós meu minha meus minhas seu sua mais se fazer faço faz posso devo cada alguém algo você",
    "nl": "ik jij je wij we mijn onze jouw uw krijg krijgen doen doe gebeurt elk elke ieder iets iemand nog",
    "sv": "jag du vi min mitt mina din får göra gör kan ska måste varje någon något",
}
# Those that stand between things of one kind.
_JOINING = {"en": "and or versus vs", "de": "und oder", "es": "y e o u", "fr": "et ou"}
_SETS = {language: frozenset(f"{words} {_LIGHT_WORDS.get(language, '')}".split()) for language, words in _WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
MAX_CHARS = 1000
# One word is not proof: "die casting" is English.
MIN_VOTES = 2


def question_language(question: str) -> str:
    """Return the ISO 639 code of the language of a question; `en` where nothing speaks for another one."""
    for language, script in _SCRIPTS:
        if script.search(question[:MAX_CHARS]):
            return language
    votes = _function_word_votes(question)
    best = max(votes, key=votes.__getitem__)  # English stands first: it wins a tie
    return best if votes[best] >= MIN_VOTES else "en"


def plain_language(text: str) -> str | None:
    """Return the language of the beginning of a text; None where nothing speaks for any."""
    language = question_language(text)
    return language if language != "en" or _function_word_votes(text)["en"] >= MIN_VOTES else None


def document_language(named: object, text: str) -> str | None:
    """Return the language that a document's metadata name, else that of its text, see `plain_language`.

    Args:
        named: the value of `language` in its metadata; anything but a word counts as none.
        text: of the document.
    """
    return named if named and isinstance(named, str) else plain_language(text)


def _function_word_votes(question: str) -> dict[str, int]:
    """Return how many of a question's words are function words of each language."""
    asked = question[:MAX_CHARS]
    words = [word.casefold().replace("’", "'") for word in _WORD.findall(asked)]
    votes = {language: sum(word in known for word in words) for language, known in _SETS.items()}
    if "¿" in asked:
        votes["es"] += MIN_VOTES
    return votes


def function_words(language: str) -> frozenset[str]:
    """Return the words of a language that join and ask; none for unknown ones."""
    return frozenset(_WORDS.get(language, "").split())


def joining_words(language: str) -> frozenset[str]:
    """Return the words that join things in English, German, French or Spanish; none for other languages."""
    return frozenset(_JOINING.get(language, "").split())


def light_words(language: str) -> frozenset[str]:
    """Return the words of a language that name no subject: function words, and verbs that go with anything."""
    return _SETS.get(language, frozenset())
