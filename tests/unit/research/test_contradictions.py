"""Contradictions between documents; `topic/test_conflicts.py` tries the rule itself."""

from research.contradictions import MOST_FOUND, find_contradictions
from tests.fakes.llm import passage

SAFE, DANGEROUS = "Wind turbines are safe for birds at night.", "Wind turbines are dangerous for birds at night."
QUESTION = "Are wind turbines safe?"


def test_both_sentences_are_quoted_at_their_places() -> None:
    text = f"A title.\n\n{DANGEROUS}"

    (one,) = find_contradictions(QUESTION, [passage(text, "a.md", start=5), passage(SAFE, "b.md")])

    assert (one.first.doc_id, one.first.quote, one.second.quote) == ("b.md", SAFE, DANGEROUS)
    assert text[one.second.start - 5 : one.second.end - 5] == DANGEROUS
    assert one.about == "safe or dangerous"


def test_only_other_documents_that_speak_of_the_question_contradict() -> None:
    here, there = passage(SAFE, "a.md"), passage(DANGEROUS, "b.md")

    assert find_contradictions("Who invented salt?", [here, there]) == ()
    assert find_contradictions(QUESTION, [here, passage(DANGEROUS, "a.md", start=900)]) == ()
    assert find_contradictions(QUESTION, [here, passage(SAFE, "b.md")]) == ()


def test_each_pair_of_documents_is_named_once_and_few_of_them() -> None:
    many = [passage(f"{SAFE}\n\n{DANGEROUS}", f"{number}.md") for number in range(6)]

    found = find_contradictions(QUESTION, many)

    assert len(found) == len({frozenset((one.first.doc_id, one.second.doc_id)) for one in found}) == MOST_FOUND
