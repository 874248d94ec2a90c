"""Questions with filters over ingested files: what may be found is found, in every mode, and nothing else."""

from collections.abc import Iterator
from typing import Any

import pytest

from errors import FilterError
from query_engine.engine import Engine
from query_engine.inquiry import Inquiry
from query_engine.retrieval.steering import Steering
from query_engine.schema.events import Done, Step, Token
from query_engine.schema.retrieval_result import Retrieval
from query_engine.search import NOT_STEERED
from settings import AnswerSettings, RetrievalSettings, Settings
from tests.fakes.filters import group, one
from tests.fakes.library import Library
from tests.fakes.reading import a_leaf_reader

# The gate knows real embeddings, not the fake's.
UNGATED = Settings(answer=AnswerSettings(min_confidence=0, low_confidence=0))
QUESTION = "Who published the rotor limit of turbines?"
FILES = {
    "betz.md": "date: 2023-05-01\ntopic: wind\ntags: [rotors, limits]\nurl: https://example.org/betz",
    "sails.md": "date: 2024-02-29\ntopic: sea\ntags: [sails]",
    "mills.md": "date: 2025-01-15\ntopic: wind",
    "undated.md": "topic: wind",
}
TEXT = "---\ntitle: {title}\n{head}\n---\nAlbert Betz published the rotor limit of turbines, says {title}.\n"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    library = Library(tmp_path_factory.mktemp("filters"))
    for name, head in FILES.items():
        (library.files / name).write_text(TEXT.format(title=f"On {name}", head=head))
    library.ingest()
    corpus, embedder = library.corpus, library.embedder
    reader = a_leaf_reader(corpus)
    yield Engine(corpus, embedder, reader, (), settings=UNGATED)
    library.close()


def entry(key: str, operator: str, value: object) -> dict[str, Any]:
    return {"key": key, "operator": operator, "value": value}


@pytest.mark.promise("G08")
@pytest.mark.fault("E12")
@pytest.mark.parametrize("mode", ["hybrid", "dense", "lexical"])
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (one("doc_id", "in", ["sails.md", "mills.md", "gone.md"]), {"sails.md", "mills.md"}),
        (one("topic", "==", "sea"), {"sails.md"}),
        (one("title", "text_match", "mills"), {"mills.md"}),
        (one("url", "==", "https://example.org/betz"), {"betz.md"}),
        (one("tags", "any", ["sails", "limits"]), {"betz.md", "sails.md"}),
        (group(entry("date", ">=", "2024-01-01"), entry("date", "<", "2025-01-01")), {"sails.md"}),
        (one("date", "<", "2024-02-29"), {"betz.md"}),
        (group(entry("topic", "==", "sea"), one("date", ">", "2025")), set()),
        (group(entry("topic", "==", "sea"), one("date", ">", "2025"), condition="or"), {"sails.md", "mills.md"}),
        (group(entry("topic", "==", "wind"), condition="not"), {"sails.md"}),
        (one("topik", "==", "wind"), set()),
    ],
)
def test_only_documents_that_meet_the_filter_are_found(
    engine: Engine, mode: Any, filters: dict[str, Any], found: set[str]
) -> None:
    passages = engine.retrieve(Inquiry(QUESTION, filters), RetrievalSettings(mode=mode)).passages

    assert {passage.doc_id for passage in passages} == found


async def test_an_answer_quotes_documents_that_meet_the_filter(engine: Engine) -> None:
    events = [event async for event in engine.stream(Inquiry(QUESTION, one("topic", "==", "sea")))]
    done = events[-1]

    assert isinstance(done, Done)
    assert {citation.doc_id for citation in done.citations} == {"sails.md"}


async def test_a_filter_that_no_document_meets_is_told_and_nothing_is_written(engine: Engine) -> None:
    events = [event async for event in engine.stream(Inquiry(QUESTION, one("topic", "==", "moon")))]
    done = events[-1]

    assert isinstance(done, Done)
    assert (done.answer, done.gate_reason, done.passages) == (None, "no_retrieval", ())
    assert done.message.startswith("I don't know. No document meets the filter.")
    assert any("No document meets the filter" in event.text for event in events if isinstance(event, Step))
    assert not any(isinstance(event, Token) for event in events)


def test_a_steered_question_finds_what_it_was_moved_to(engine: Engine) -> None:
    def first(steering: Steering | None, mode: Any = "dense") -> Retrieval:
        return engine.retrieve(Inquiry(QUESTION, steering=steering), RetrievalSettings(mode=mode))

    to_sails = Steering(move_to="says On sails.md", move_to_weight=1)
    from_sails = Steering(move_away_from="says On sails.md", move_away_from_weight=1)

    assert first(to_sails).passages[0].doc_id == "sails.md"
    assert first(from_sails).passages[-1].doc_id == "sails.md"
    assert first(to_sails).warnings == ()
    assert first(to_sails, "lexical").warnings == (NOT_STEERED,)


async def test_a_filter_without_meaning_is_an_error_everywhere(engine: Engine) -> None:
    with pytest.raises(FilterError, match="is empty"):
        engine.retrieve(Inquiry(QUESTION, {}))
    with pytest.raises(FilterError, match="unknown operator"):
        [event async for event in engine.stream(Inquiry(QUESTION, one("topic", "~", "sea")))]
