"""What is said about the collection and in small talk, in the language of the question.

Flow: `answers.py`, `rows.py`, `outcomes.py` -> **here**. Texts only; steps are in English, see `steps.py`.
"""

from typing import NamedTuple


class Wording(NamedTuple):
    """The sentences of one language.

    Attributes:
        greeting, thanks, farewell, who: replies to small talk; `{documents}` is what `documents` makes of a number.
        documents: "`{count}` documents"; `document` of one.
        counted: how many there are, with their formats as "`{kinds}`".
        more: ends a list that is cut, with how many are left out.
        overview: begins an overview.
        parts: begins the list of a document's headings.
        several: begins the list of documents that a name fits.
        table: of a table, with how many rows it has and its columns.
        no_counting: before rows that are shown instead of a number.
    """

    greeting: str
    thanks: str
    farewell: str
    who: str
    document: str
    documents: str
    counted: str
    more: str
    overview: str
    parts: str
    several: str
    table: str
    no_counting: str

    def some(self, count: int) -> str:
        """Return "1 document", "42 documents"."""
        return (self.document if count == 1 else self.documents).format(count=count)


WORDINGS = {
    "en": Wording(
        "Hello! Ask me about the {documents} in this collection, or ask for a list of them.",
        "You're welcome. Ask again whenever you like.",
        "Goodbye!",
        "I am Treeline. I answer questions from the {documents} in this collection, and quote the places where I "
        "found the "
        "answer. I can also list the documents and summarise one of them.",
        "{count} document",
        "{count} documents",
        "There are {documents} in this collection: {kinds}.",
        "and {count} more",
        "The collection holds {documents}.",
        "It has these parts:",
        "Several documents fit that name:",
        "It is a table with {count} rows and these columns:",
        "Answers are made of quotes, which cannot count or calculate; these are rows that fit the question.",
    ),
    "de": Wording(
        "Hallo! Fragen Sie mich etwas zu den {documents} in dieser Sammlung, oder lassen Sie sich eine Liste geben.",
        "Gern geschehen. Fragen Sie jederzeit wieder.",
        "Auf Wiedersehen!",
        "Ich bin Treeline. Ich beantworte Fragen aus dieser Sammlung ({documents}) und zitiere die Stellen, an denen "
        "die "
        "Antwort steht. Ich kann die Dokumente auch auflisten und eines davon zusammenfassen.",
        "{count} Dokument",
        "{count} Dokumente",
        "In dieser Sammlung: {documents} ({kinds}).",
        "und {count} weitere",
        "Die Sammlung enthält {documents}.",
        "Es hat diese Teile:",
        "Mehrere Dokumente passen zu diesem Namen:",
        "Es ist eine Tabelle mit {count} Zeilen und diesen Spalten:",
        "Antworten bestehen aus Zitaten, die nicht zählen oder rechnen können; diese Zeilen passen zur Frage.",
    ),
    "fr": Wording(
        "Bonjour ! Posez-moi une question sur cette collection ({documents}), ou demandez-en la liste.",
        "Je vous en prie. N'hésitez pas à poser une autre question.",
        "Au revoir !",
        "Je suis Treeline. Je réponds aux questions à partir de cette collection ({documents}) et je cite les "
        "passages où "
        "j'ai trouvé la réponse. Je peux aussi donner la liste des documents et en résumer un.",
        "{count} document",
        "{count} documents",
        "Cette collection contient {documents} : {kinds}.",
        "et {count} autres",
        "La collection contient {documents}.",
        "Il comprend ces parties :",
        "Plusieurs documents correspondent à ce nom :",
        "C'est un tableau de {count} lignes, avec ces colonnes :",
        "Les réponses sont des citations, qui ne savent ni compter ni calculer ; ces lignes correspondent à la "
        "question.",
    ),
    "es": Wording(
        "¡Hola! Pregúnteme sobre esta colección ({documents}), o pida la lista.",
        "De nada. Pregunte de nuevo cuando quiera.",
        "¡Hasta luego!",
        "Soy Treeline. Respondo preguntas a partir de esta colección ({documents}) y cito los lugares donde encontré "
        "la "
        "respuesta. También puedo enumerar los documentos y resumir uno de ellos.",
        "{count} documento",
        "{count} documentos",
        "Esta colección tiene {documents}: {kinds}.",
        "y {count} más",
        "La colección contiene {documents}.",
        "Tiene estas partes:",
        "Varios documentos corresponden a ese nombre:",
        "Es una tabla de {count} filas con estas columnas:",
        "Las respuestas son citas, que no pueden contar ni calcular; estas filas corresponden a la pregunta.",
    ),
}
