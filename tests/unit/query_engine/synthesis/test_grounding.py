import pytest

from query_engine.schema.passage import Passage
from query_engine.synthesis.grounding import Evidence
from tests.fakes.embedding import WordHashEmbedding
from tests.fakes.llm import passage

BETZ = "Albert Betz published the limit in 1919: at best 59.3 per cent of the energy can be captured."
WIND = passage(f"Wind is moving air. {BETZ} Three blades won for practical reasons.", "wind.md", start=100)
SUN = passage("A cell turns light into electricity. It has no moving parts.", "sun.md", title="Sun")


def evidence(*passages: Passage) -> Evidence:
    return Evidence(passages or (WIND, SUN), WordHashEmbedding())


@pytest.mark.parametrize(
    "sentence",
    [
        BETZ,
        "In 1919 Albert Betz published the limit.",
        "Albert Betz published the limit, and three blades won for practical reasons.",
        "According to the documents, wind is moving air.",
        "No, a cell has no moving parts.",
        "3 blades won.",
    ],
)
def test_what_the_passages_say_is_supported_in_other_order_and_joined(sentence: str) -> None:
    assert evidence().check(sentence).supported


@pytest.mark.parametrize(
    "sentence",
    [
        "Albert Betz published the limit in 1920.",
        "Albert Betz published the limit in Berlin in 1919.",
        "Ludwig Prandtl published the limit in 1919.",
        "Wind is not moving air.",
        "A cell has moving parts.",
        "At worst 59.3 per cent of the energy can be captured.",
        "Wind is moving air, which was unknown to the ancient Greeks.",
        "At best 59.3 per cent can be captured, so 40.7 per cent is lost.",
        "The capital of Peru has many parks.",
        "Wind is moving air: see https://evil.example/?q=air.",
    ],
)
def test_what_they_do_not_say_is_not(sentence: str) -> None:
    assert not evidence().check(sentence).supported


def test_a_number_of_another_sentence_is_no_support() -> None:
    far = passage("The mast is 90 metres high. It was painted white. Nobody knows why. The blade is 40 metres long.")

    assert not evidence(far).check("The blade is 90 metres long.", [1]).supported


def test_support_is_quoted_where_it_stands() -> None:
    (quote,) = evidence().check("Albert Betz published the limit in 1919.", [1]).quotes

    assert (quote.rank, quote.text) == (1, BETZ)
    assert WIND.text[quote.start - WIND.start : quote.end - WIND.start] == BETZ


def test_support_is_looked_for_in_the_cited_passage_first_and_then_in_the_others() -> None:
    same = passage("Wind is moving air.", "copy.md")

    assert evidence(WIND, same).check("Wind is moving air.", [2]).quotes[0].rank == 2
    assert evidence(SUN, WIND).check("Wind is moving air.", [1]).quotes[0].rank == 2


def test_each_clause_is_quoted() -> None:
    found = evidence().check("Wind is moving air, and three blades won for practical reasons.").quotes

    assert [quote.text for quote in found] == ["Wind is moving air.", "Three blades won for practical reasons."]


def test_an_unsupported_sentence_has_the_nearest_quote_if_one_is_near() -> None:
    near = evidence().check("At best 73 per cent of the energy can be captured: Betz published the limit in 1919.")

    assert (near.supported, [quote.text for quote in near.quotes]) == (False, [BETZ])
    assert evidence().check("The capital of Peru has many parks.").quotes == ()


def test_a_passage_without_sentences_is_evidence_as_a_whole() -> None:
    assert not evidence(passage("   ", start=5)).check("Anything goes.").supported


MINUTES = passage(
    "The battery supplier raised its price. The group liked the new colour. "
    "The motor of the other cutter fails when dust gets in. It was built by Ada."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "The battery supplier fails when dust gets in.",  # another sentence's subject
        "The new colour raised its price.",
        "The group liked when dust gets in.",
        "The price of the new colour fails when dust gets in.",
    ],
)
def test_two_facts_that_are_merged_into_one_sentence_are_not_supported(sentence: str) -> None:
    assert not evidence(MINUTES, SUN).check(sentence, [1]).supported


def test_facts_of_two_passages_that_are_merged_are_not_supported() -> None:
    assert not evidence(MINUTES, SUN).check("The battery supplier turns light into electricity.", [2]).supported


@pytest.mark.parametrize("sentence", ["The motor of the other cutter was built by Ada.", "The motor fails in dust."])
def test_what_a_sentence_refers_back_to_may_be_named(sentence: str) -> None:
    assert evidence(MINUTES, SUN).check(sentence, [1]).supported


@pytest.mark.parametrize(
    "sentence",
    [
        "The wind is strong and the wind is strong.",
        "The wind is strong, the wind is strong.",
        "Wind is strong, wind is strong.",
    ],
)
def test_a_sentence_that_says_the_same_twice_is_not_supported(sentence: str) -> None:
    assert not evidence(passage("The wind is strong. The sea is calm.")).check(sentence).supported


def test_a_repetition_that_a_passage_holds_is_supported() -> None:
    refrain = "Row the boat and row the boat."

    assert evidence(passage(f"They sang. {refrain}")).check(refrain).supported


def test_who_does_it_to_whom_is_not_exchanged() -> None:
    cave = passage("Apollo flayed Marsyas alive in a cave. He nailed the skin of Marsyas to a tree.")

    assert not evidence(cave).check("Marsyas flayed Apollo alive in a cave.").supported
    assert evidence(cave).check("In a cave, Apollo flayed Marsyas alive.").supported
    assert evidence(cave).check("Marsyas was flayed alive by Apollo in a cave.").supported
