"""Mistyped words, against a small word index of the real analyzer."""

from collections.abc import Sequence

import pytest

from index.lexical.tantivy_index import LexicalIndex
from query_engine.question.spelling import MAX_CHARS, Correction, corrected

LEAVES = {
    "a.1": "Photosynthesis turns light into sugar. The government accelerated the programme in August.",
    "a.2": "Napoleon met Ludwig Hartmanis at the museum. Tickets and admission are described in the handbook.",
    "a.3": "Maria Carver sold areas of land beside the railway, which the system of Austria served. A curtain.",
    "a.4": "Die Öffnungszeiten des Museums stehen auf der Tafel neben der Kasse.",
}


@pytest.fixture(scope="module")
def index() -> LexicalIndex:
    made = LexicalIndex(None)
    made.add((name, "a", text, "handbook") for name, text in LEAVES.items())
    return made


def texts_of(names: Sequence[str]) -> list[str]:
    return [LEAVES[name] for name in names]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("How does photosynthsis work?", "How does photosynthesis work?"),
        ("What did the goverment do?", "What did the government do?"),
        ("what happened in agust?", "what happened in august?"),
        ("Who acellerated it?", "Who accelerated it?"),
        ("Who met Napolen?", "Who met Napoleon?"),
        ("What is in the handbok?", "What is in the handbook?"),
        ("When did Austra serve it?", "When did Austria serve it?"),
        ("the handbok's tikets", "the handbook's tickets"),
        ("wat is the museum", "what is the museum"),
        ("Wens is the museum open?", "When is the museum open?"),
        ("wat is in handbok", "what is in handbook"),  # "wat is in" is Dutch, which no leaf is
        ("wich tickets, and how mch", "which tickets, and how much"),
        ("where is the museun, and the kurtain", "where is the museum, and the curtain"),
        ("Wann sind die Öffnungzeiten des Museums?", "Wann sind die Öffnungszeiten des Museums?"),
    ],
)
def test_a_mistyped_word_is_read_as_the_one_of_the_corpus(index: LexicalIndex, typed: str, meant: str) -> None:
    assert corrected(typed, index, texts_of)[0] == meant


def test_what_was_read_otherwise_is_told(index: LexicalIndex) -> None:
    assert corrected("tikets to the museum", index, texts_of)[1] == (Correction("tikets", "tickets"),)


@pytest.mark.parametrize(
    "question",
    [
        "How does photosynthesis work?",
        "Which sauces are red?",  # in no leaf, but in the dictionary
        "What is chromatography?",
        "What is nongovernmental light?",  # built of known words
        "Who is Mariah Carey?",  # a name beside another one
        "Who is Guetta?",
        "Is AUGST an abbreviation?",
        "Which handbok.txt, handbok_2 or x/handbok is it?",
        "What are the 4handbok and handbok5?",
        "When did the programme begin in the centre?",  # British
        "Where is the jūdan museum?",
        "Wie viele Leute kommen ins Museum?",
        "wat zijn de openingstijden van het museum",
        "Who is Wat Tyler?",
        "What is a hoe, a dose and a moth?",
        "Когда открыт музей?",
        "月曜日は開いていますか",
        "handbok " * (MAX_CHARS // 8 + 1),
    ],
)
def test_what_is_right_or_may_be_stays(index: LexicalIndex, question: str) -> None:
    assert corrected(question, index, texts_of) == (question, ())


def test_a_word_nearer_to_one_the_corpus_lacks_stays() -> None:
    # "receive" was meant, which no leaf has; "relieve" is as near, but a letter would have to be replaced.
    other = LexicalIndex(None)
    other.add([("b.1", "b", "They relieve the guard.", "guard")])

    assert corrected("When do they recieve it?", other, lambda _: ["They relieve the guard."])[1] == ()


def test_new_documents_bring_new_words() -> None:
    growing = LexicalIndex(None)
    growing.add([("c.1", "c", "Turbines turn.", "c")])
    asked = "What is a gearbx?"
    before = corrected(asked, growing, lambda _: ["Turbines turn."])[0]
    growing.add([("d.1", "d", "A gearbox wears out.", "d")])

    assert before == asked
    assert corrected(asked, growing, lambda _: ["A gearbox wears out."])[0] == "What is a gearbox?"
