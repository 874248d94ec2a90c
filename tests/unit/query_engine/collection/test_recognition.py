import pytest

from query_engine.collection.recognition import recognise


@pytest.mark.parametrize(
    ("question", "kind", "listed"),
    [
        ("What documents do you have?", "list", "holds"),
        ("Which files are there?", "list", "holds"),
        ("Which documents are in this collection?", "list", "holds"),
        ("Which of your documents are available?", "list", "holds"),
        ("list all documents", "list", "holds"),
        ("Could you please show me the files?", "list", "holds"),
        ("Give me a list of the documents you have, please.", "list", "holds"),
        ("how many documents are there", "count", "holds"),
        ("How many docs do we have in total?", "count", "holds"),
        ("Can you tell me how many documents there are?", "count", "holds"),
        ("Welche Dokumente gibt es?", "list", "enthält"),
        ("Welche Dateien sind in dieser Sammlung?", "list", "enthält"),
        ("Liste bitte alle Dokumente auf", "list", "enthält"),
        ("Zeig mir die Dokumente!", "list", "enthält"),
        ("Wie viele Dokumente hast du?", "count", "enthält"),
        ("Quels documents avez-vous ?", "list", "contient"),
        ("Quels sont les documents disponibles ?", "list", "contient"),
        ("Listez tous les documents, s’il vous plaît.", "list", "contient"),
        ("Combien de fichiers y a-t-il ici ?", "count", "contient"),
        ("¿Qué documentos tienes?", "list", "contiene"),
        ("que archivos hay en esta colección", "list", "contiene"),
        ("Muéstrame todos los documentos, por favor.", "list", "contiene"),
        ("¿Cuántos documentos hay?", "count", "contiene"),
        ("cuantos documentos tienes", "count", "contiene"),
    ],
)
def test_documents_are_listed_or_counted_in_the_language_of_the_question(question: str, kind: str, listed: str) -> None:
    found = recognise(question)

    assert found is not None
    assert found[0] == kind
    assert listed in found[1].listed


@pytest.mark.parametrize(
    "question",
    [
        "How many documents are required for a visa?",
        "How many documents do I have to submit?",
        "How many files are in a folder?",
        "How many files are in the archive?",
        "How many are there in the documents?",
        "How many documents?",
        "Which documents?",
        "Which documents must I submit?",
        "Which documents do you have to sign?",
        "Which documents are needed here?",
        "What documents does the tenant have?",
        "What documents do you have about wind?",
        "What is in the documents?",
        "What do the documents say about heat?",
        "What sources are there?",
        "What are the documents needed for a visa?",
        "List the documents that a visitor shows",
        "Show me the documents about wind",
        "Give me a list of documents for a visa",
        "Do you have a document about wind?",
        "Which document do you have to read first?",
        "Summarise the documents",
        "Documents",
        "hi",
        "thanks",
        "Wie viele Dokumente braucht man für ein Visum?",
        "Welche Dokumente brauche ich?",
        "Welche Dokumente sind dem Antrag beizufügen?",
        "Welche Unterlagen gibt es für den Antrag?",
        "Liste die Dokumente für das Visum auf",
        "Wie viele Dateien sind im Archiv?",
        "Combien de documents faut-il pour un visa ?",
        "Quels documents dois-je fournir ?",
        "Quels documents sont obligatoires ?",
        "Quels documents a-t-il ?",
        "Listez les documents à fournir",
        "¿Cuántos documentos se necesitan para el visado?",
        "¿Qué documentos hay que presentar?",
        "¿Qué documentos tiene que firmar el inquilino?",
        "Lista los documentos para el visado",
        "這裡有多少文件？",
        "…",
    ],
)
def test_what_documents_say_is_left_to_the_search(question: str) -> None:
    assert recognise(question) is None
