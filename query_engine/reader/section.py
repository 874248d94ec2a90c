"""Find the section that a question asks for by its number, and nothing more ("What does § 2 say?").

Such a question is answered by the whole section; one that asks for something in it is answered like any other. A
section begins at a heading with its number, or at a line that begins with it, and goes on through its parts. Pure.
"""

from itertools import takewhile

from index.lexical.language import function_words, question_language
from query_engine.question.identifiers import Identifier, identifiers, without_identifiers
from query_engine.reader.units import ReadUnit
from query_engine.reader.window import WHOLE_CHARS, Window
from query_engine.text.light_words import is_light
from query_engine.text.term_weights import TermWeights
from query_engine.text.words import WORD


def asked_section(question: str, best: ReadUnit, words: TermWeights) -> Window | None:
    """Return the section around the likeliest unit, cut to `WHOLE_CHARS`, if the question asks for all of it."""
    codes = [one for one in identifiers(question) if one.is_section]
    # Section 2 of article XI is the smaller one.
    places = min((section_around(best, code) for code in codes), key=len, default=range(0))
    if not places:
        return None
    layout = best.leaf.layout
    function = function_words(question_language(question))
    subject = [
        one for one in WORD.findall(without_identifiers(question)) if not (is_light(one) or one.lower() in function)
    ]
    asked = set(words.terms(" ".join(subject)))
    if any(not asked.isdisjoint(words.terms(layout.words(place))) for place in places[1:] or places):
        return None
    start = layout.units[places.start].start
    end = max(
        end for place in places if (end := layout.units[place].end) - start <= WHOLE_CHARS or place == places.start
    )
    return Window(best, start, end)


def section_around(best: ReadUnit, code: Identifier) -> range:
    """Return the places of the units below a section's number; empty if the unit is not among them."""
    layout, structure = best.leaf.layout, best.leaf.layout.structure
    above = [structure.headings_above(one.block) for one in layout.units]
    for heading in above[best.place]:
        block = structure.blocks[heading]
        if code.begins_section(layout.text[block.start : block.end]):
            below = [place for place, headings in enumerate(above) if heading in headings]
            return range(below[0], below[-1] + 1)
    inside, flags = False, list[bool]()
    for place, headings in enumerate(above):
        text = layout.words(place)
        if headings != above[best.place] or layout.units[place].label:
            inside = False
        elif (begins := code.begins_section(text)) or code.has_relative(text):
            inside = begins
        flags.append(inside)
    before = takewhile(lambda place: flags[place], range(best.place, -1, -1))
    after = takewhile(lambda place: flags[place], range(best.place, len(flags)))
    return range(min(before, default=0), max(after, default=-1) + 1)
