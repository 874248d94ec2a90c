"""Draft questions without a language model, from headings, definitions, lists, tables and `key: value` lines.

Flow: sections of `draft.py` -> **here** -> `draft.py`. English only. The words are the documents' own, so such
questions are easier to find than those of users; what a heading is, the corpus tells: a word that mostly follows "to"
is a verb.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from eval.cases import Nugget
from eval.drafting.draft import Candidate, Section
from index.documents.sentences import split_sentences

KINDS = ("factual", "how_to", "list")
ARTICLES = ("a ", "an ", "the ")
ASKING = frozenset({"how", "what", "when", "where", "which", "who", "why", "can", "does", "is"})
_MARKS = str.maketrans("", "", "`*_")
MAX_ITEMS, MAX_NAME_WORDS, PHRASE_WORDS = 6, 8, 6


class Verbs:
    """Tells verbs from nouns by the words before them in the corpus."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._after_to: Counter[str] = Counter()
        self._after_article: Counter[str] = Counter()
        for text in texts:
            self._after_to.update(re.findall(r"\bto (\w+)", text.lower()))
            self._after_article.update(re.findall(r"\b(?:a|an|the|of|with|your) (\w+)", text.lower()))

    def base(self, word: str) -> str | None:
        """Return the infinitive of an imperative or a gerund; None if the word is not a verb."""
        word = word.lower()
        forms = [word[:-3], word[:-3] + "e", word[:-4]] if word.endswith("ing") else [word]
        best = max(forms, key=lambda form: self._after_to[form])
        return best if self._after_to[best] > max(1, self._after_article[best]) else None


def candidates(sections: Sequence[Section], kinds: Sequence[str]) -> Iterator[Candidate]:
    """Yield candidates of the kinds, and of each way to make them, in turn.

    Args:
        sections: of documents in English, all of the corpus: a heading that stands in several places asks nothing.
        kinds: of `KINDS`.
    """
    verbs = Verbs({section.document.doc_id: section.document.text for section in sections}.values())
    named = Counter(section.headings[-1].lower() for section in sections if section.headings and section.begins)
    ways: dict[str, list[Candidate]] = defaultdict(list)
    for section in sections:
        heading = _plain(section.headings[-1]) if section.headings and section.begins else ""
        is_alone = heading and named[section.headings[-1].lower()] == 1
        for way, candidate in (*(_of_heading(section, heading, verbs) if is_alone else ()), *_of_cells(section)):
            ways[way].append(candidate)
    turns = chain.from_iterable(zip_longest(*ways.values()))
    yield from (candidate for candidate in turns if candidate and candidate.kind in kinds)


def _of_heading(section: Section, heading: str, verbs: Verbs) -> Iterator[tuple[str, Candidate]]:
    first, _, rest = heading.partition(" ")
    items, verb = _items(section), verbs.base(first)
    if heading.endswith("?") or (first.lower() in ASKING and rest):
        kind = "how_to" if first.lower() == "how" else "factual"
        opening = [_beginning(text) for text in section.texts("paragraph")[:1]]
        yield "question", _candidate(kind, section, f"{heading.rstrip('?')}?", items or opening)
    elif verb and rest and " and " not in heading and (steps := _items(section, ordered=True) or _command(section)):
        yield "how_to", _candidate("how_to", section, f"How do I {verb} {rest}?", steps)
    elif definition := _definition(section, heading):
        yield "definition", _candidate("factual", section, *definition)
    elif not verb and heading.endswith("s") and len(items) > 2 and rest and " and " not in heading:
        yield "list", _candidate("list", section, f"What are the {_lowered(heading, section)}?", items)


def _of_cells(section: Section) -> Iterator[tuple[str, Candidate]]:
    """Yield a question about one row of a table, and one about a `key: value` line."""
    for kind in ("row", "pair"):
        found = [one for one in section.blocks if one.kind == kind and len(one.cells) > 1 and not one.header]
        blocks = [one for one in found if one.columns or kind == "pair"]
        for block in blocks[len(blocks) // 2 :][:1]:
            key, *values = (" ".join(section.document.text[slice(*cell)].split()) for cell in block.cells)
            if len(values) > 1 and block.columns:
                name, of = block.columns[-1], _lowered(key, section)
            else:  # a table of two columns lists what is known of the document's subject, as such lines do
                name, of = key, section.document.title
            # Columns of words are remarks, which nobody asks for by name.
            is_short_figure = len(values[-1].split()) <= MAX_NAME_WORDS and any(map(str.isdigit, values[-1]))
            if is_short_figure and all(map(_is_name, (key, *block.columns[-1:]))):
                yield kind, _candidate("factual", section, f"What is the {_small(name)} of {of}?", values[-1:])


def _candidate(kind: str, section: Section, question: str, facts: Sequence[str]) -> Candidate:
    nuggets = tuple(Nugget(text=fact, vital=True, any=(fact,)) for fact in facts if fact.strip())
    return Candidate(kind, question, "; ".join(facts) or None, nuggets, (section,))


def _items(section: Section, *, ordered: bool = False) -> list[str]:
    """Return how each item of a list begins; of numbered ones alone if `ordered`."""
    blocks = [one for one in section.blocks if one.kind == "item" and one.level == 0 and one.ordered >= ordered]
    items = [_beginning(section.document.text[slice(*block.inner)]) for block in blocks[:MAX_ITEMS]]
    return items if len(items) > 1 else []


def _command(section: Section) -> list[str]:
    """Return the first line of code."""
    return [line.removeprefix("$ ").strip() for code in section.texts("code")[:1] for line in code.split("\n")[:1]]


def _definition(section: Section, heading: str) -> tuple[str, list[str]] | None:
    """Return the question for the thing that the heading names, if the section begins by saying what it is."""
    prose = section.texts("paragraph")[:1] if section.blocks[0].kind == "paragraph" else []
    sentence = " ".join(_first_sentence(prose[0]).split()) if prose else ""
    for article in ("", *ARTICLES):
        said, rest = sentence[: len(article + heading)], sentence[len(article + heading) :]
        if said.lower() == article + heading.lower() and (found := re.match(r" (is|are) (.+)", rest, re.IGNORECASE)):
            break
    else:
        return None
    verb, what = found.groups()
    has_article = article or heading.lower().startswith(ARTICLES)
    return f"What {verb} {_small(said) if has_article else _lowered(said, section)}?", [_beginning(what)]


def _first_sentence(text: str) -> str:
    return next((text[span.start : span.end] for span in split_sentences(text)), text)


def _beginning(text: str) -> str:
    """Return the first words of a text, in one sentence."""
    return " ".join(_first_sentence(text).split()[:PHRASE_WORDS]).rstrip(".,:;")


def _plain(heading: str) -> str:
    """Return a heading that can stand in a question; nothing if it has marks, numbers before it or too many words."""
    name = heading.translate(_MARKS).strip()
    fits = name[:1].isalpha() and len(name.split()) <= MAX_NAME_WORDS + 4 * name.endswith("?")
    return name if fits and not set(name) & set("[]{}<>|\\=:;!") else ""


def _is_name(text: str) -> bool:
    return bool(_plain(text)) and "," not in text and text.partition(" ")[0].lower() not in ASKING


def _lowered(name: str, section: Section) -> str:
    """Return a name as it stands within a sentence: unless it is one word, or Each Word Has A Capital."""
    first, _, rest = name.partition(" ")
    return _small(name) if not rest.istitle() and (rest or f" {first.lower()} " in section.document.text) else name


def _small(name: str) -> str:
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]
