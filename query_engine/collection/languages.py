"""How documents are asked for in each language, and what is replied. A table only; `recognition.py` compares."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Language:
    """The phrases of one language, in lower case and without punctuation, separated by commas.

    Attributes:
        documents: what documents are called.
        count, which: before `documents`, and followed by `have` or `where`.
        tell: before `documents`; nothing has to follow.
        aside: single words that change nothing before `documents`.
        have, where: what may follow `documents`, in this order.
        one, many: "1 document", "`{count}` documents".
        counted: says how many there are, with their formats as "`{kinds}`".
        listed: begins a list.
        more: ends a list that is cut, with how many are left out.
    """

    documents: str
    count: str
    which: str
    tell: str
    aside: str
    have: str
    where: str
    one: str
    many: str
    counted: str
    listed: str
    more: str

    @cached_property
    def endings(self) -> frozenset[str]:
        """Everything that may follow `documents`."""
        places = ["", *phrases(self.where)]
        return frozenset(f"{verb} {place}".strip() for verb in ["", *phrases(self.have)] for place in places)

    def some(self, count: int) -> str:
        """Return "1 document", "42 documents"."""
        return (self.one if count == 1 else self.many).format(count=count)


def phrases(text: str) -> list[str]:
    """Return the phrases of an attribute."""
    return text.split(", ")


LANGUAGES = (
    Language(
        documents="documents, docs, files",
        count="how many",
        which="which, what",
        tell="list, show, give list",
        aside="please, can, could, you, tell, me, all, of, a, the, your, our",
        have="do you have, do we have, do i have, have you, you have, are there, there are, are, are available, "
        "available",
        where="in this collection, in the collection, in your collection, in this corpus, in the corpus, here, "
        "in total, please",
        one="{count} document",
        many="{count} documents",
        counted="There are {documents} in this collection: {kinds}.",
        listed="The collection holds {documents}.",
        more="and {count} more",
    ),
    Language(
        documents="dokumente, dateien",
        count="wie viele, wieviele",
        which="welche",
        tell="liste, zeige, zeig, nenne",
        aside="bitte, mir, alle, die, deine",
        have="hast du, haben sie, haben wir, habe ich, habt ihr, gibt es, sind, sind vorhanden, sind verfügbar, auf",
        where="in dieser sammlung, in der sammlung, in diesem korpus, im korpus, hier, insgesamt, bitte",
        one="{count} Dokument",
        many="{count} Dokumente",
        counted="In dieser Sammlung: {documents} ({kinds}).",
        listed="Die Sammlung enthält {documents}.",
        more="und {count} weitere",
    ),
    Language(
        documents="documents, fichiers",
        count="combien de, combien y a t il de",
        which="quels, quels sont les",
        tell="liste, lister, listez, montre, montrez, affiche, affichez",
        aside="moi, tous, les, tes, vos",
        have="avez vous, as tu, avons nous, ai je, y a t il, sont disponibles, disponibles, sont",
        where="dans cette collection, dans la collection, dans ce corpus, dans le corpus, ici, au total, "
        "s il vous plaît, s il te plaît",
        one="{count} document",
        many="{count} documents",
        counted="Cette collection contient {documents} : {kinds}.",
        listed="La collection contient {documents}.",
        more="et {count} autres",
    ),
    Language(
        documents="documentos, archivos",
        count="cuántos, cuantos",
        which="qué, que, cuáles son",
        tell="lista, listar, enumera, muestra, muéstrame, muestrame",
        aside="todos, los, tus",
        have="tienes, tiene usted, tienen ustedes, tenéis, tenemos, tengo, hay, están disponibles, disponibles",
        where="en esta colección, en la colección, en este corpus, en el corpus, aquí, en total, por favor",
        one="{count} documento",
        many="{count} documentos",
        counted="Esta colección tiene {documents}: {kinds}.",
        listed="La colección contiene {documents}.",
        more="y {count} más",
    ),
)
