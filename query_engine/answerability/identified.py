"""Judge identifiers: one that no document names is said, and one that is found whole makes an answer likelier.

Flow: engine, once passages are read -> **here** -> warnings, and whether to quote. A part number beside the asked one
looks the same to every measure of likeness.
"""

from collections.abc import Sequence

from index.corpus import Corpus
from query_engine.question.exact import is_absent
from query_engine.question.identifiers import identifiers, without_identifiers
from query_engine.reader.units import name_and_context
from query_engine.reader.window import ReadWindow
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.text.light_words import is_light
from query_engine.text.term_weights import TermWeights, question_weights

# Of the other words of a question, by rarity, that the window with the identifier holds if it answers.
LEAST_COVERED = 0.5


def absent_identifiers(question: str, corpus: Corpus) -> tuple[str, ...]:
    """Return the codes and years of a question that no document holds."""
    asked = [one for one in identifiers(question) if one.is_year or (one.is_code and not one.is_section)]
    return tuple(one.text for one in asked if is_absent(one, corpus))


def absence(absent: Sequence[str]) -> AnswerWarning:
    """Return the warning that names them."""
    names = ", ".join(f'"{one}"' for one in absent)
    return AnswerWarning("absent_identifier", f"No document mentions {names}.")


def is_about_a_neighbour(question: str, absent: Sequence[str], windows: Sequence[ReadWindow]) -> bool:
    """Whether the best window is about another member of a family: LX-200 where LX-300 was asked for."""
    if not windows:
        return False
    text = with_names(windows[0])
    families = [one.family for one in identifiers(question) if one.is_code and one.text in absent]
    return any(family is not None and family.search(text) for family in families)


def is_identified(question: str, windows: Sequence[ReadWindow], words: TermWeights) -> bool:
    """Whether the best window names a code of the question, and holds half of its other words."""
    codes = [one for one in identifiers(question) if one.is_code]
    if not codes or not windows:
        return False
    text = with_names(windows[0])
    if not all(code.pattern.search(text) for code in codes):
        return False
    others = {
        term: weight
        for term, weight in question_weights(without_identifiers(question), words).items()
        if not is_light(term)
    }
    held = sum(others[term] for term in others.keys() & set(words.terms(text)))
    return held >= LEAST_COVERED * sum(others.values())


def with_names(one: ReadWindow) -> str:
    """Return a window's text after its document's names and its headings."""
    return f"{name_and_context(one.window.best)}\n{one.window.text}"
