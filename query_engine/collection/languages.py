"""How documents and rows are asked for in each language, and what is replied. A table; `recognition.py` compares."""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Language:
    """The phrases of one language, in lower case and without punctuation, separated by commas.

    Attributes:
        code: ISO 639.
        documents: what documents are called.
        count, which: before `documents`, and followed by `have` or `where`; before what rows are about.
        tell: before `documents`; nothing has to follow. Before what rows are about, too.
        aside: single words that change nothing before `documents`.
        unlike: function words by which rows that hold the other words are not those that are asked for.
        either: joins words of which a row needs one.
        have, where: what may follow `documents`, in this order.
        one, many: "1 document", "`{count}` documents".
        counted: says how many there are, with their formats as "`{kinds}`".
        listed: begins a list.
        more: ends a list that is cut, with how many are left out.
        rows: says how many of all rows of a table there are.
        first_rows: the same where only the first rows of a table were looked at.
    """

    code: str
    documents: str
    count: str
    which: str
    tell: str
    aside: str
    unlike: str
    either: str
    have: str
    where: str
    one: str
    many: str
    counted: str
    listed: str
    more: str
    rows: str
    first_rows: str

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
        code="en",
        documents="documents, docs, files",
        count="how many",
        which="which, what",
        tell="list, show, give list",
        aside="please, can, could, you, tell, me, all, of, a, the, your, our",
        unlike="no, not, than",
        either="or",
        have="do you have, do we have, do i have, have you, you have, are there, there are, are, are available, "
        "available",
        where="in this collection, in the collection, in your collection, in this corpus, in the corpus, here, "
        "in total, please",
        one="{count} document",
        many="{count} documents",
        counted="There are {documents} in this collection: {kinds}.",
        listed="The collection holds {documents}.",
        more="and {count} more",
        rows="{found} of {all} rows of “{table}”",
        first_rows="{found} of the first {all} rows of “{table}”; the others were not looked at",
    ),
    Language(
        code="de",
        documents="dokumente, dateien",
        count="wie viele, wieviele",
        which="welche",
        tell="liste, zeige, zeig, nenne",
        aside="bitte, mir, alle, die, deine, auf",
        unlike="nicht, über, nach",
        either="oder",
        have="hast du, haben sie, haben wir, habe ich, habt ihr, gibt es, sind, sind vorhanden, sind verfügbar, auf",
        where="in dieser sammlung, in der sammlung, in diesem korpus, im korpus, hier, insgesamt, bitte",
        one="{count} Dokument",
        many="{count} Dokumente",
        counted="In dieser Sammlung: {documents} ({kinds}).",
        listed="Die Sammlung enthält {documents}.",
        more="und {count} weitere",
        rows="{found} von {all} Zeilen in „{table}“",
        first_rows="{found} der ersten {all} Zeilen in „{table}“; die übrigen wurden nicht durchgesehen",
    ),
    Language(
        code="fr",
        documents="documents, fichiers",
        count="combien de, combien d, combien y a t il de",
        which="quels, quelles, quels sont les",
        tell="liste, lister, listez, montre, montrez, affiche, affichez",
        aside="moi, tous, toutes, les, tes, vos",
        unlike="ne, n, pas, plus",
        either="ou",
        have="avez vous, as tu, avons nous, ai je, y a t il, sont disponibles, disponibles, sont",
        where="dans cette collection, dans la collection, dans ce corpus, dans le corpus, ici, au total, "
        "s il vous plaît, s il te plaît",
        one="{count} document",
        many="{count} documents",
        counted="Cette collection contient {documents} : {kinds}.",
        listed="La collection contient {documents}.",
        more="et {count} autres",
        rows="{found} lignes sur {all} dans « {table} »",
        first_rows="{found} des {all} premières lignes de « {table} » ; les autres n’ont pas été examinées",
    ),
    Language(
        code="es",
        documents="documentos, archivos",
        count="cuántos, cuantos, cuántas, cuantas",
        which="qué, que, cuáles son, cuáles",
        tell="lista, listar, enumera, muestra, muéstrame, muestrame",
        aside="todos, todas, los, las, tus",
        unlike="no, más",
        either="o, u",
        have="tienes, tiene usted, tienen ustedes, tenéis, tenemos, tengo, hay, están disponibles, disponibles",
        where="en esta colección, en la colección, en este corpus, en el corpus, aquí, en total, por favor",
        one="{count} documento",
        many="{count} documentos",
        counted="Esta colección tiene {documents}: {kinds}.",
        listed="La colección contiene {documents}.",
        more="y {count} más",
        rows="{found} de {all} filas de «{table}»",
        first_rows="{found} de las primeras {all} filas de «{table}»; las demás no se han examinado",
    ),
)
