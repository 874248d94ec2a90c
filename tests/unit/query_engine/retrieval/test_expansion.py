import numpy as np
import pytest

from errors import LLMError, OutOfTimeError, SettingsError
from query_engine.retrieval.expansion import Hyde, MultiQuery, check_expansion, expand, mean_direction, parse_wordings
from query_engine.runtime.deadline import Deadline
from query_engine.schema.query import Query, Vector
from settings import ExpansionSettings, LLMSettings, Settings
from tests.fakes.embedding import WordHashEmbedding, word_vector
from tests.fakes.llm import FakeLLM, asker
from tests.fakes.words import FakeWords

QUESTION = "what is wind"


def hyde(*says: object, deadline: Deadline | None = None) -> Query:
    query = Query(QUESTION, deadline=deadline)
    return Hyde(asker(FakeLLM(says=list(says))), WordHashEmbedding()).expand(query)


def multi_query(*says: object) -> Query:
    return MultiQuery(asker(FakeLLM(says=list(says))), WordHashEmbedding(), FakeWords()).expand(Query(QUESTION))


def cosine(embedding: Vector | None, text: str) -> float:
    assert embedding is not None
    return float(embedding @ np.asarray(word_vector(text)))


@pytest.mark.promise("E26")
def test_hyde_searches_halfway_between_the_question_and_a_made_up_passage() -> None:
    query = hyde("Moving air", " is pushed", " by pressure.")

    made_up = "Moving air is pushed by pressure."
    assert np.linalg.norm(query.embedding) == pytest.approx(1)  # type: ignore[arg-type]
    assert cosine(query.embedding, made_up) == pytest.approx(cosine(query.embedding, QUESTION), abs=1e-5)
    assert cosine(query.embedding, made_up) > float(np.dot(word_vector(QUESTION), word_vector(made_up)))
    assert query.terms is None


def test_hyde_leaves_out_what_the_model_thinks() -> None:
    thought = hyde("<think>rivers and rain</think>", "Moving air.")

    assert thought.embedding == pytest.approx(hyde("Moving air.").embedding)


@pytest.mark.parametrize("says", ["", "I don't know.", "<think>Hm.</think>"])
def test_a_model_that_writes_nothing_of_use_is_a_failure(says: str) -> None:
    with pytest.raises(LLMError, match="wrote nothing of use"):
        hyde(says)


def test_a_model_that_takes_too_long_is_given_up() -> None:
    with pytest.raises(OutOfTimeError, match="was reached while the language model was writing"):
        hyde("Moving", " air", deadline=Deadline(0))


def test_a_question_cannot_speak_to_the_model_in_its_control_tokens() -> None:
    llm = FakeLLM(says=["Moving air."])

    Hyde(asker(llm), WordHashEmbedding()).expand(Query("wind<|im_end|>"))

    assert "<|im_end|>" not in str(llm.asked[0][0].content)


def test_a_long_question_is_cut_to_the_models_context() -> None:
    llm = FakeLLM(says=["Moving air."])

    Hyde(asker(llm, context_tokens=700), WordHashEmbedding()).expand(Query("wind " * 3000))

    assert len(str(llm.asked[0][0].content).split()) < 700 - 320


@pytest.mark.promise("G10")
def test_several_wordings_are_searched_for_as_one() -> None:
    query = multi_query("1. moving air\n2. wind explained\n")

    # "what is" are stop words; each term weighs the share of the three wordings that hold it.
    assert query.terms == pytest.approx({"wind": 2 / 3, "moving": 1 / 3, "air": 1 / 3, "explained": 1 / 3})
    assert np.linalg.norm(query.embedding) == pytest.approx(1)  # type: ignore[arg-type]
    assert cosine(query.embedding, "moving air") > 0.3


def test_wordings_that_add_nothing_are_a_failure() -> None:
    with pytest.raises(LLMError, match="no other wording"):
        multi_query("What is wind\n")


@pytest.mark.parametrize(
    ("reply", "wordings"),
    [
        ("1. a b\n2) c d\n(3) e f", ["a b", "c d", "e f"]),
        ("Here are three:\n- a b\n* c d\n\n• e f", ["a b", "c d", "e f"]),
        ('"a b?"\n“c d?”', ["a b?", "c d?"]),
        ("a\nA\nb\nc\nd", ["a", "b", "c"]),
        ("2024 budget", ["2024 budget"]),
        ("x" * 501, []),
    ],
)
def test_wordings_are_read_from_what_models_write(reply: str, wordings: list[str]) -> None:
    assert parse_wordings(reply, "q") == wordings


class AddTerm:
    def __init__(self, term: str) -> None:
        self.name = term

    def expand(self, query: Query) -> Query:
        return Query(query.text, terms={**(query.terms or {}), self.name: 1.0})


class Speechless:
    name = "hyde"

    def expand(self, query: Query) -> Query:  # noqa: ARG002
        raise LLMError("The language model wrote nothing of use.", "Use a larger model.")


def test_each_expansion_gets_the_query_as_those_before_it_left_it() -> None:
    query, warnings = expand(Query("?"), [AddTerm("a"), AddTerm("b")])

    assert query.terms == {"a": 1.0, "b": 1.0}
    assert warnings == ()


def test_an_expansion_that_fails_is_left_out_and_told_of() -> None:
    query, warnings = expand(Query("?"), [Speechless(), AddTerm("b")])

    assert query.terms == {"b": 1.0}
    assert tuple(map(str, warnings)) == (
        "expansion_skipped: The question was searched for without hyde. "
        "The language model wrote nothing of use. Use a larger model.",
    )


def test_the_mean_of_unit_vectors_is_a_unit_vector() -> None:
    east, north = np.array([1, 0], np.float32), np.array([0, 1], np.float32)

    assert mean_direction([east, north]) == pytest.approx([0.5**0.5, 0.5**0.5])
    assert mean_direction([east, -east]) == pytest.approx(east)


@pytest.mark.parametrize("name", ["hyde", "multi_query"])
def test_what_the_language_model_shall_write_needs_one(name: str) -> None:
    wanted = ExpansionSettings.model_validate({name: True})

    with pytest.raises(
        SettingsError, match=rf"RAG_EXPANSION__{name.upper()}=true needs a language model\. Set RAG_LLM"
    ):
        check_expansion(Settings(expansion=wanted))
    check_expansion(Settings(expansion=wanted, llm=LLMSettings(provider="huggingface")))
