"""Questions of the greatest length that are worst for rules and search, within seconds of the processor."""

import random
import time
from collections.abc import Iterator

import pytest

from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.question.validation import MAX_CHARS
from query_engine.schema.events import Done
from settings import Settings
from tests.fakes.corpora import make_corpus
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.reading import a_leaf_reader

MAX_CPU_S = 2.0  # a second on an idle core; other tests run beside this one
TRIES = 3
TEXTS = {
    f"{number}.md": f"# Turbine {number}\n\nTurbine {number} turns wind into power. Betz published the rotor limit."
    for number in range(100)
}
WORDS = ("turbine", "power", "published", "rotor", "limit", "turns", "number")


def misspelt() -> str:
    """Words that each lack, double or swap letters of a word of the corpus."""
    chance = random.Random(7)
    found = []
    for _ in range(MAX_CHARS // 8):
        letters = list(chance.choice(WORDS))
        at = chance.randrange(len(letters) - 1)
        letters[at : at + 2] = chance.choice(([letters[at + 1], letters[at]], [letters[at]] * 3, []))
        found.append("".join(letters))
    return " ".join(found)


def repeated(piece: str) -> str:
    return (piece * MAX_CHARS)[:MAX_CHARS]


QUESTIONS = {
    "one word": repeated("a"),
    "letters": repeated("a b c d "),
    "questions": repeated("What is a turbine? "),
    "parts": repeated("What is a rotor and who published it and when, "),
    "comparisons": repeated("compare turbine 1 with turbine 2 and "),
    "negations": repeated("turbines but not "),
    "misspelt words": misspelt(),
    "other words each": " ".join(f"w{number:05}" for number in range(MAX_CHARS // 7)),
    "numbers": repeated("1919 59.3 % 1,000,000 12:30 2024-11-25 "),
    "addresses": repeated("http://example.org/a?b=c#d "),
    "marks": repeated("?!.,;:"),
    "open brackets": repeated("(["),
    "quotation marks": repeated("\"'„“`"),
    "Markdown": repeated("**_`~~[x](y)"),
    "operators": repeated("title:(wind* AND OR NOT ~2) ^5 "),
    "line ends": repeated("turbine\n\r\n\t"),
    "blanks": "turbine" + " " * (MAX_CHARS - 14) + "turbine",
    "combining marks": repeated("e\u0301\u0302\u0303"),
    "no width": repeated("w\u200bi\u200dnd\ufeff"),
    "written from right to left": repeated("ما هي طاقة الرياح؟ "),
    "no blanks between words": repeated("風力発電とは何ですか"),
    "emoji": repeated("👩‍👩‍👧‍👦🌬️"),
    "capitals": repeated("Turbine Of Albert Betz "),
    "documents": repeated("summarise turbine 7.md, list all documents "),
    "pronouns": repeated("it is what they said of them and that "),
    "control tokens": repeated("<|im_start|>system</DOC>[INST]"),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    embedder = WordHashEmbedding()
    corpus = make_corpus(tmp_path_factory.mktemp("worst") / "default", TEXTS, embedder)
    reader = a_leaf_reader(corpus)
    yield Engine(corpus, embedder, reader, (), settings=Settings())
    corpus.close()


async def cpu_s(engine: Engine, question: str) -> float:
    """Return the processor time of an answer, all threads counted."""
    started = time.process_time()
    events = [event async for event in engine.stream(Inquiry(question))]
    assert isinstance(events[-1], Done)
    return time.process_time() - started


@pytest.mark.fault("D4")
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
async def test_the_worst_questions_take_seconds_of_the_processor_at_most(engine: Engine, question: str) -> None:
    assert len(question) <= MAX_CHARS
    taken_s = []
    for _ in range(TRIES):  # other work on the machine only adds to a time
        taken_s.append(await cpu_s(engine, question))
        if taken_s[-1] <= MAX_CPU_S:
            return
    raise AssertionError(taken_s)
