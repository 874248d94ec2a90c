import pytest

from query_engine.collection.recognition import MAX_CHARS, recognise


@pytest.mark.parametrize(
    ("question", "kind", "language"),
    [
        ("hi", "greeting", "en"),
        ("Hello there!", "greeting", "en"),
        ("Good morning, how are you?", "greeting", "en"),
        ("thanks!", "thanks", "en"),
        ("Great, thank you very much.", "thanks", "en"),
        ("Bye!", "farewell", "en"),
        ("who are you", "who", "en"),
        ("What can you do?", "who", "en"),
        ("What documents do you have?", "list", "en"),
        ("list all documents", "list", "en"),
        ("Could you please show me the files?", "list", "en"),
        ("Which documents are in this collection?", "list", "en"),
        ("how many documents are there", "count", "en"),
        ("What are these about?", "overview", "en"),
        ("What are the documents about?", "overview", "en"),
        ("Summarize all documents", "overview", "en"),
        ("What topics do you cover?", "overview", "en"),
        ("Hallo", "greeting", "de"),
        ("Welche Dokumente gibt es?", "list", "de"),
        ("Wie viele Dokumente hast du?", "count", "de"),
        ("Worum geht es in diesen Dokumenten?", "overview", "de"),
        ("Merci beaucoup !", "thanks", "fr"),
        ("Quels documents avez-vous ?", "list", "fr"),
        ("De quoi parlent ces documents ?", "overview", "fr"),
        ("¿Quién eres?", "who", "es"),
        ("¿Qué documentos tienes?", "list", "es"),
        ("¿Cuántos documentos hay?", "count", "es"),
    ],
)
def test_small_talk_and_questions_about_the_collection_are_recognised(question: str, kind: str, language: str) -> None:
    request = recognise(question)

    assert request is not None
    assert (request.kind, request.language, request.name) == (kind, language, "")


@pytest.mark.parametrize(
    ("question", "kind", "name", "is_document"),
    [
        ("Summarise the minutes", "summary", "minutes", False),
        ("Can you summarize the café agreement, please?", "summary", "café agreement", False),
        ("summarise the document on bioenergy", "summary", "bioenergy", True),
        ("Give me a short summary of “Annual report 2025”.", "summary", "Annual report 2025", False),
        ("what is in the lease?", "contents", "lease", False),
        ("What is the lease about?", "contents", "lease", False),
        ("Tell me about the lease", "contents", "lease", False),
        ("Give me a short history of the mill in a few sentences.", "history", "mill", False),
        ("What is this document about?", "contents", "", True),
        ("Fasse das Protokoll zusammen", "summary", "Protokoll", False),
        ("Was steht im Mietvertrag?", "contents", "Mietvertrag", False),
        ("Résume le bail", "summary", "bail", False),
        ("Resume el contrato", "summary", "contrato", False),
    ],
)
def test_the_name_of_a_document_is_cut_out(question: str, kind: str, name: str, is_document: bool) -> None:
    request = recognise(question)

    assert request is not None
    assert (request.kind, request.name, request.is_document) == (kind, name, is_document)


@pytest.mark.parametrize(
    "question",
    ["What are the documents needed for a visa?", "Which documents must be kept for ten years?",
     "How many documents must a visitor show?", "Show me the documents about wind", "What sources of energy are there?",
     "Hello, what is a heat pump?", "Who are you allowed to call?", "What do the documents say about heat?",
     "How does it work?", "Thank you letters: who writes them?", "Why?",
     "Welche Dokumente brauche ich für ein Visum?", "Quels documents faut-il pour un visa ?",
     "Summarise " + "the long report " * 20],
)  # fmt: skip
def test_other_questions_are_left_to_the_search(question: str) -> None:
    assert recognise(question) is None


def test_a_question_that_is_too_long_is_not_read() -> None:
    assert recognise("Summarise " + "x" * MAX_CHARS) is None
