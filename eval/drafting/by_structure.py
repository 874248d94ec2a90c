"""Draft questions without a language model, from headings, definitions, lists, tables and `key: value` lines.

Flow: `sections.py` -> **here** -> `draft.py`. English only. The words are the documents' own, so such questions are
easier to find than those of users; what a heading is, the corpus tells: a word that mostly follows "to" is a verb.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, zip_longest

from eval.cases import Nugget
from eval.drafting.draft import Candidate
from eval.drafting.sections import Section
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
        if heading and named[section.headings[-1].lower()] == 1:
            for way, candidate in _of_heading(section, heading, verbs):
                ways[way].append(candidate)
        for way, candidate in _of_cells(section):
            ways[way].append(candidate)
    turns = chain.from_iterable(zip_longest(*ways.values()))
    yield from (candidate for candidate in turns if candidate and candidate.kind in kinds)


def _of_heading(section: Section, heading: str, verbs: Verbs) -> Iterator[tuple[str, Candidate]]:
    first, _, rest = heading.partition(" ")
    items, verb = _items(section), verbs.base(first)
    if heading.endswith("?") or (first.lower() in ASKING and rest):
        kind = "how_to" if first.lower() == "how" else "factual"
        yield "question", _candidate(kind, section, f"{heading.rstrip('?')}?", items or _opening(section))
    elif verb and rest and " and " not in heading and (steps := _items(section, ordered=True) or _command(section)):
        yield "how_to", _candidate("how_to", section, f"How do I {verb} {rest}?", steps)
    elif definition := _definition(section, heading):
        yield "definition", _candidate("factual", section, *definition)
    elif not verb and heading.endswith("s") and len(items) > 2 and rest and " and " not in heading:
        yield "list", _candidate("list", section, f"What are the {_lowered(heading, section)}?", items)


def _of_cells(section: Section) -> Iterator[tuple[str, Candidate]]:
    """Yield a question about a row of a table, or about one `key: value` line."""
    text = section.document.text
    rows = [block for block in section.blocks if block.kind == "row" and block.columns and not block.header]
    pairs = [block for block in section.blocks if block.kind == "pair" and len(block.cells) == 2]
    for row in rows[len(rows) // 2 :][:1]:
        key, *values = (" ".join(text[slice(*cell)].split()) for cell in row.cells)
        for name, value in list(zip(row.columns[1:], values, strict=True))[-1:]:
            of_row = f"{_small(name)} of {_lowered(key, section)}"
            # A table of two columns lists what is known of the document's subject.
            asked = f"the {of_row if len(values) > 1 else f'{_small(key)} of {section.document.title}'}"
            # Columns of words are remarks, which nobody asks for by name.
            if _is_name(key) and _is_name(name) and _is_short(value) and any(map(str.isdigit, value)):
                yield "row", _candidate("factual", section, f"What is {asked}?", [value])
    for pair in pairs[len(pairs) // 2 :][:1]:
        key, value = (" ".join(text[slice(*cell)].split()) for cell in pair.cells)
        if _is_name(key) and _is_short(value) and any(map(str.isdigit, value)):
            question = f"What is the {_small(key)} of {section.document.title}?"
            yield "pair", _candidate("factual", section, question, [value])


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
    code = [section.document.text[slice(*block.inner)] for block in section.blocks if block.kind == "code"]
    return [line.removeprefix("$ ").strip() for line in code[0].strip().splitlines()[:1]] if code else []


def _opening(section: Section) -> list[str]:
    prose = [block for block in section.blocks if block.kind == "paragraph"]
    return [_beginning(section.document.text[slice(*prose[0].inner)])] if prose else []


def _definition(section: Section, heading: str) -> tuple[str, list[str]] | None:
    """Return the question for the thing that the heading names, if the first sentence says what it is."""
    prose = [section.document.text[slice(*block.inner)] for block in section.blocks[:1] if block.kind == "paragraph"]
    sentence = " ".join(prose[0][split_sentences(prose[0])[0].start :].split()) if prose else ""
    for article in ("", *ARTICLES):
        for verb in (" is ", " are "):
            subject = article + heading.lower()
            if sentence.lower().startswith(subject + verb):
                said = sentence[: len(subject)]
                asked = _small(said) if article or subject.startswith(ARTICLES) else _lowered(said, section)
                return f"What{verb}{asked}?", [_beginning(sentence[len(subject + verb) :])]
    return None


def _beginning(text: str) -> str:
    """Return the first words of a text, in one sentence."""
    sentence = next(iter(split_sentences(text)), None)
    words = (text[sentence.start : sentence.end] if sentence else text).split()
    return " ".join(words[:PHRASE_WORDS]).rstrip(".,:;")


def _plain(heading: str) -> str:
    """Return a heading that can stand in a question; nothing if it has marks, numbers before it or too many words."""
    name = heading.translate(_MARKS).strip()
    fits = name[:1].isalpha() and len(name.split()) <= MAX_NAME_WORDS + 4 * name.endswith("?")
    return name if fits and not set(name) & set("[]{}<>|\\=:;!") else ""


def _is_name(text: str) -> bool:
    return bool(_plain(text)) and "," not in text and text.partition(" ")[0].lower() not in ASKING


def _is_short(value: str) -> bool:
    return 0 < len(value.split()) <= MAX_NAME_WORDS


def _lowered(name: str, section: Section) -> str:
    """Return a name as it stands within a sentence: unless it is one word, or Each Word Has A Capital."""
    first, _, rest = name.partition(" ")
    return _small(name) if not rest.istitle() and (rest or f" {first.lower()} " in section.document.text) else name


def _small(name: str) -> str:
    return name if name[1:2].isupper() else name[:1].lower() + name[1:]
