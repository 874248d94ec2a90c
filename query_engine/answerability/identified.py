"""Judge identifiers: one that no document names is said, and one that is found whole makes an answer likelier.

Flow: engine, once passages are read -> **here** -> warnings, and whether to quote. A part number beside the asked one
looks the same to every measure of likeness.
"""

from collections.abc import Sequence
from typing import NamedTuple

from index.corpus import Corpus
from query_engine.question.exact import is_absent, leaves_naming
from query_engine.question.identifiers import Identifier, identifiers, without_identifiers
from query_engine.reader.section import section_around
from query_engine.reader.units import name_and_context
from query_engine.reader.window import ReadWindow
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.text.light_words import is_light
from query_engine.text.term_weights import TermWeights, question_weights
from query_engine.text.words import WORD

# Of the other words of a question, by rarity, that the window with the identifier holds if it answers.
LEAST_COVERED = 0.5


class Unnamed(NamedTuple):
    """Identifiers of a question that what was found does not name, as they stand in the question.

    Attributes:
        absent: no document holds them.
        elsewhere: other documents hold them.
        beside_others: the best window is about others of their kind: LX-200 for LX-300, § 20 for § 21.
    """

    absent: tuple[str, ...]
    elsewhere: tuple[str, ...]
    beside_others: bool

    def warnings(self, *, quoted: bool) -> list[AnswerWarning]:
        """Return the warning that names them; of an answer that is not quoted only those that no document holds."""
        said = [f"No document mentions {in_quotes(self.absent)}."] if self.absent else []
        said += [f"What was found does not mention {in_quotes(self.elsewhere)}."] if self.elsewhere and quoted else []
        return [AnswerWarning("absent_identifier", " ".join(said))] if said else []


def unnamed_identifiers(question: str, corpus: Corpus, windows: Sequence[ReadWindow]) -> Unnamed:
    """Return the codes, years and sections of a question that the best window's document does not hold.

    And the numbers that no document holds, where the best window names another one: invoice 4711 for invoice 4712.
    Where it holds another one of the kind that the question asks for, the question is about both: years are compared.
    """
    known = identifiers(question)
    shown = with_names(windows[0]) if windows else ""
    asked = [one for one in known if one.is_year or one.is_code]
    numbers = [one for one in known if one not in asked and _is_lacking(one, question, shown, corpus)]
    absent = [one for one in asked if not one.is_section and is_absent(one, corpus)]
    others = []
    if windows:
        best = windows[0].window.best
        text = f"{name_and_context(best)}\n{best.leaf.layout.text}"
        named = [one for one in asked if one.pattern.search(text)]
        others = [one for one in asked if one not in named and one not in absent]
        others = [one for one in others if not any(one.has_relative(each.text) for each in named)]
        # A section that no document has is beside all the sections of this one.
        shown = text if any(one.is_section and leaves_naming(one, corpus) == frozenset() for one in others) else shown
    beside_others = bool(numbers) or any(one.has_relative(shown) for one in (*absent, *others))
    return Unnamed(tuple(one.text for one in (*absent, *numbers)), tuple(one.text for one in others), beside_others)


def _is_lacking(one: Identifier, question: str, text: str, corpus: Corpus) -> bool:
    """Whether no document holds it, and a text names another: by the letters before its digits, or the word before."""
    if one.text[0].isalpha():
        return one.has_relative(text) and is_absent(one, corpus)
    before = WORD.findall(question[: question.index(one.text)].casefold())[-1:]
    if not before or not corpus.lexical_index.words_of(question).query_terms(before[0]):
        return False
    words = WORD.findall(text.casefold())
    return is_absent(one, corpus) and any(
        word == before[0] and any(next_one.isdecimal() for next_one in words[place + 1 : place + 3])
        for place, word in enumerate(words)
    )


def is_identified(question: str, windows: Sequence[ReadWindow], words: TermWeights) -> bool:
    """Whether the best window names a code of the question, and holds half of its other words; of a row one of them.

    Of a section or a day a question may ask no more than what it says: with one other word it may be any.
    """
    codes = [one for one in identifiers(question) if one.is_code]
    if not codes or not windows:
        return False
    text, best = with_names(windows[0]), windows[0].window.best
    if not all(code.pattern.search(text) or (code.is_section and section_around(best, code)) for code in codes):
        return False
    others = {
        term: weight
        for term, weight in question_weights(without_identifiers(question), words).items()
        if not is_light(term)
    }
    if len(others) < 2 and all(code.is_section or code.is_day for code in codes):  # one: "Was regelt § 9?"
        return True
    held = sum(others[term] for term in others.keys() & set(words.terms(text)))
    if best.leaf.layout.block_of(best.place).kind == "row":  # there is no other row that it may be
        return held > 0
    return held >= LEAST_COVERED * sum(others.values())


def in_quotes(names: Sequence[str]) -> str:
    """Return names as a list, each in quotes."""
    return ", ".join(f'"{name}"' for name in names)


def with_names(one: ReadWindow) -> str:
    """Return a window's text after its document's names and its headings."""
    return f"{name_and_context(one.window.best)}\n{one.window.text}"
