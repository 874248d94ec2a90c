"""Rows of tables that a question wants listed or counted, over real stores: those that fit, and no others."""

import re
from collections.abc import Iterator

import pytest

from index.documents.store import Document, StoredDocument
from index.documents.structure import Structure
from index.folder_stores import open_folder
from ingestion.reading.text_builder import TextBuilder
from query_engine.collection.rows import find_rows
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.reader.leaves import stored_documents
from settings import Settings
from tests.fakes.corpora import MANIFEST, put, stored, tree_of
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.quoting import answered
from tests.fakes.reading import a_leaf_reader

BOATS = "name | kind | port | berths\n--- | --- | --- | ---\n" + "\n".join(
    (
        "Alma | sloop | Brest | 4",
        "Bora | ketch | Brest | 6",
        "Cala | sloop | New Haven | 4",
        "Dora | barge | Haven | 2",
        "Elsa | ketch | Haven | 8",
    )
)
TEXTS = {
    "boats.md": f"# Boats\n\nWhat lies in the basin.\n\n{BOATS}\n\n# Dues\n\nA sloop pays 40 pounds.\n",
    "katzen.md": "# Katzen\n\nName | Farbe | Ort\n--- | --- | ---\nMinka | schwarz | Ulm\nTiger | rot | Ulm\n"
    "Luna | schwarz | Bonn\n",
    "outils.md": "# Outils\n\nOutil | Atelier\n--- | ---\nscie | Nantes\nperceuse | Lille\nrabot | Nantes\n",
    "perros.md": "# Perros\n\nNombre | Raza | Ciudad\n--- | --- | ---\nToby | galgo | Cádiz\nLola | mastín | Vigo\n"
    "Rex | galgo | Vigo\n",
    "yards.md": "# Yards of the coast\n\n## Grades\n\n"
    "Grade | Meaning\n--- | ---\nfirst | repairs all\nsecond | paints\n",
    "makers.md": "# Makers\n\nMaker | Branch | Sale | Based in\n--- | --- | --- | ---\n"
    "Arden | Tool works | Leeds Gears fair | Leeds, Yorkshire\n"
    "Leeds Gears | Gear works | Leeds Gears fair | York, Yorkshire\n"
    "Colne Company | Tool works | Branch fair | Bath, Somerset\n"
    "Dunn Company | Tool works | Hull fair | Hull, Yorkshire\n",
    "notes.md": "# Notes\n\nVisitors of Brest come by train.\n",
}


def records(doc_id: str, columns: list[str], rows: list[list[str]]) -> StoredDocument:
    """Return a table as it is read from CSV: one `column: value` line for each cell."""
    builder = TextBuilder()
    builder.row(columns, header=True, ruled=False)
    for row in rows:
        builder.record(columns, row)
    text, blocks = builder.finished()
    document = Document(doc_id, doc_id.partition(".")[0], text, source=doc_id, structure=Structure(blocks))
    return StoredDocument.of(document, document.hash("test"), tree_of(text))


CREW = [["Pia", "cook", ""], ["Olu", "pilot", "night"], ["Rob", "cook", "night"], ["Sun", "diver", "day"]]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    embedder = WordHashEmbedding()
    corpus = open_folder(tmp_path_factory.mktemp("corpus") / "harbour", MANIFEST, create=True)
    documents = [stored(name, text, title=text[2:].partition("\n")[0]) for name, text in TEXTS.items()]
    put(corpus, [*documents, records("crew.csv", ["person", "trade", "shift"], CREW)], embedder)
    reader = a_leaf_reader(corpus)
    yield Engine(corpus, embedder, reader, (), settings=Settings())
    corpus.close()


def rows_of(answer: str | None) -> list[str]:
    """Return the first cell of each row of an answer's tables."""
    return re.findall(r"^\| (\w+)[\w ]* \|.* \[\d+\]$", answer or "", re.MULTILINE)


@pytest.mark.fault("D21")
@pytest.mark.parametrize(
    ("question", "names", "count"),
    [
        ("List all sloops", "Alma Cala", "2 of 5"),
        ("Could you list the ketches in Brest, please?", "Bora", "1 of 5"),
        ("Which boats are sloops?", "Alma Cala", "2 of 5"),
        ("Which boats in Haven are ketches or barges?", "Dora Elsa", "2 of 5"),
        ("How many boats are in New Haven?", "Cala", "1 of 5"),
        ("Which tool works are based in Yorkshire?", "Arden Dunn", "2 of 4"),
        ("Which makers are of the branch tool works?", "Arden Colne Dunn", "3 of 4"),
        (
            "Which makers have their sale at the Leeds Gears fair?",
            "Arden Leeds",
            "2 of 4",
        ),  # no name of a maker is meant
        ("Which works are based in Hull, Yorkshire?", "Dunn", "1 of 4"),
        ("How many boats are there?", "Alma Bora Cala Dora Elsa", "5 of 5"),
        ("Show me all cooks", "Pia Rob", "2 of 4"),
        ("How many cooks have the night shift?", "Rob", "1 of 4"),
        ("Welche Katzen sind schwarz?", "Minka Luna", "2 von 3"),
        ("Wie viele Katzen gibt es in Ulm?", "Minka Tiger", "2 von 3"),
        ("Liste alle Katzen auf", "Minka Tiger Luna", "3 von 3"),
        ("Quels sont les outils de l’atelier de Nantes ?", "scie rabot", "2 lignes sur 3"),
        ("Combien d’outils sont à Lille ?", "perceuse", "1 lignes sur 3"),
        ("¿Cuántos galgos hay?", "Toby Rex", "2 de 3"),
        ("¿Qué galgos hay en Vigo?", "Rex", "1 de 3"),
    ],
)
async def test_the_rows_that_fit_are_listed_and_counted(engine: Engine, question: str, names: str, count: str) -> None:
    done = await answered(engine, question)

    assert rows_of(done.answer) == names.split()
    assert (done.answer or "").startswith(count)
    assert "low_confidence" not in [warning.code for warning in done.warnings]


@pytest.mark.parametrize(
    "question",
    [
        "Which boats are not in Brest?",
        "Which sloops are larger than the Alma?",
        "List all boats without the sloops",
        "How many berths does the Alma have?",
        "How many yards are there?",
        "List all yards",
        "How many ports are there?",
        "How many visitors come to Brest?",
        "How many visitors come to the port of Brest?",
        "Which boats are sloops or in Haven?",
        "Welche Katzen sind nicht schwarz?",
        "What are boats?",
    ],
)
async def test_a_condition_that_is_not_understood_is_not_left_out(engine: Engine, question: str) -> None:
    assert rows_of((await answered(engine, question)).answer) == []


@pytest.mark.parametrize(
    ("question", "found", "certain"),
    [
        ("How many people are cooks?", 2, True),  # a value of several rows is what they have in common
        ("List the people of the trade cook", 2, True),
        ("Which people are cooks?", 2, False),
        ("How many visitors are in Brest?", 0, False),
        ("Which companies are based in Leeds?", 1, False),  # neither all of a cell, nor "Leeds Gears"
        ("Which companies are based in Yorkshire?", 3, False),  # "Company" is in the names of two
    ],
)
def test_what_rows_are_of_may_stand_nowhere(engine: Engine, question: str, found: int, certain: bool) -> None:
    passages = engine.retrieve(Inquiry(question)).passages
    rows = find_rows(question, passages, stored_documents(engine.corpus.documents), engine.corpus.lexical_index)

    assert sum(len(one.blocks) for one in rows) == found
    assert any(one.certain for one in rows) == certain


async def test_each_row_is_cited_where_it_stands(engine: Engine) -> None:
    done = await answered(engine, "List all cooks")

    assert [(one.doc_id, one.quote) for one in done.citations] == [
        ("crew.csv", "person: Pia\ntrade: cook"),
        ("crew.csv", "person: Rob\ntrade: cook\nshift: night"),
    ]
    assert "| person | trade | shift |" in (done.answer or "")
    assert "| Pia | cook |  [1]" in (done.answer or "")
