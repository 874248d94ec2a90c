"""Quote outcomes: a study's findings, aims or limits, a meeting's decisions and actions.

Flow: engine, with the passages that were found -> **here** -> the places that say it, read before the passages, and
where no language model writes, the quotes. The reader looks for sentences that are like the question: of "What did the
trial of quizzes find?" these say how the trial was made. Its outcome has other words, and stands where such documents
put it: in an abstract or the conclusions, after "it was agreed". English.
"""

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, pairwise

from index.documents.guess import split_row
from index.documents.store import StoredDocument
from index.lexical.tantivy_index import search_words
from query_engine.collection.actions import action_spans
from query_engine.collection.extract import DocumentsOf, Extract, documents_of, extract, passages_of
from query_engine.collection.outcome_patterns import (
    ABSTRACT,
    ABSTRACT_WITHIN_CHARS,
    AIMS,
    ASIDE,
    ASKS,
    CONCLUSIONS,
    DECIDED,
    DID,
    FOUND,
    GENERIC,
    ITEM_NUMBER,
    LIMITATIONS,
    LIMITED,
    MINUTES,
    OF_BEFORE,
    PART,
    PARTS_OF,
    PROPOSES,
    ROUTINE,
    SAYS_FOUND,
    STUDY_SECTION,
    Kind,
    section_below,
)
from query_engine.collection.wording import WORDINGS
from query_engine.reader.headings import heading_paths
from query_engine.retrieval.merging.group import Group
from query_engine.schema.citations import Citations
from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from query_engine.text.asked_kind import asks_again
from query_engine.text.light_words import is_light
from query_engine.text.markdown_escape import as_quote, as_text
from query_engine.text.sentences import split_sentences
from query_engine.text.term_weights import TermWeights

# A longer question asks for more than what was found.
MAX_CHARS = 300
# The study must be among the documents of so many of the best passages.
FIRST_PASSAGES = 3
# Of the question's words, the share that its title and section must hold.
LEAST_NAMED = 0.5
# A document's title may stand in its text alone.
HEADER_CHARS, TITLE_CHARS = 300, 120
# Enough headings to tell a study from other documents.
MOST_SECTIONS = 12
MAX_WORDS = 130
# What is shorter is a scrap of a footnote.
MIN_WORDS = 3
# Of longer minutes the rest is not read.
MINUTES_CHARS = 40_000
MAX_WORDS_OF_LISTED = 400
# Outcomes that are shown as a list.
LISTED = frozenset({"decisions", "actions"})
# What was proposed stands at most so many sentences before what was decided.
MOST_BEFORE = 3
SECTION = "The section in which the study says it."

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome that was found.

    Attributes:
        kind: which one is asked for.
        said: the sentences that say it, those in a row as one, in the order of the document; never empty.
        left: how many more decisions or actions there are.
        named: the question names the document, by words of its title or first lines alone.
    """

    kind: Kind
    said: tuple[Extract, ...]
    left: int
    named: bool

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The places that say it, each once."""
        return passages_of(self.said)


class OutcomeSynthesizer(QuotingSynthesizer):
    """Quotes an outcome.

    Args:
        outcome: of what is asked about.
    """

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        if outcome.kind in LISTED:
            self.separator = "\n"

    def write(
        self, question: str, passages: Sequence[Passage], citations: Citations, stop: threading.Event
    ) -> Iterator[str]:
        """Yield the quotes, and how many more there are."""
        yield from super().write(question, passages, citations, stop)
        if self._outcome.left:
            yield f"\n- {WORDINGS['en'].more.format(count=self._outcome.left)}"

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield the sentences, in order; decisions as a list, each under what it is about."""
        del question, passages  # they decided which document it is
        for said in self._outcome.said:
            if stop.is_set():
                return
            shown = as_quote(said.text)
            if self._outcome.kind in LISTED:
                cells = split_row(said.text) if "|" in said.text else [said.text]
                shown = as_quote(", ".join(filter(None, cells)))
                shown = f"- **{as_text(said.heading)}**: {shown}" if said.heading else f"- {shown}"
            yield Quote(said.passage, said.start, said.end, said.text, shown)


def find_outcome(
    question: str, passages: Sequence[Passage], documents: DocumentsOf, words: TermWeights
) -> Outcome | None:
    """Return what a question about a study or a meeting asks for; None if it asks for none, or nothing says it.

    Args:
        question: as it is searched for.
        passages: found for it, best first.
        documents: of the corpus.
        words: the corpus's terms.
    """
    if len(question) > MAX_CHARS or asks_again(question):
        return None
    found = ((kind, pattern.fullmatch(question.strip())) for kind, pattern in ASKS)
    kind, asked = next(((kind, match) for kind, match in found if match), (None, None))
    if kind is None or asked is None:
        return None
    topic, aspect = _telling(asked["topic"] + (asked["aspect"] or ""), words), _telling(asked["aspect"] or "", words)
    for document in documents_of(passages[:FIRST_PASSAGES], documents):
        if kind == "actions":
            said = _actions(document)
        elif kind == "decisions":
            decisions = _decisions(document)
            said = [one for one in decisions if aspect <= set(words.terms(f"{one.heading}\n{one.text}"))]
        else:
            said = _of_study(document, kind)
        if not said:
            continue
        head = set(words.terms(f"{document.title}\n{document.text[:HEADER_CHARS]}"))
        held = head | set(words.terms("\n".join(one.passage.text for one in said)))
        if len(topic & held) < LEAST_NAMED * len(topic):
            continue
        # What it found about one thing of several, the reader looks for.
        shown_of = (document.title, document.text[:TITLE_CHARS], *(f"{one.heading}\n{one.text}" for one in said))
        left = aspect - set(words.terms("\n".join(shown_of)))
        if left and left & set(words.terms(document.text)):
            return None
        shown = _fitting([one.text for one in said], MAX_WORDS_OF_LISTED) if kind in LISTED else len(said)
        return Outcome(kind, tuple(said[:shown]), len(said) - shown, named=bool(topic) and topic <= head)
    return None


def _fitting(texts: Sequence[str], max_words: int) -> int:
    """Return how many of the first texts have at most so many words together; 1 or more."""
    words = accumulate(len(text.split()) for text in texts)
    return max(1, sum(total <= max_words for total in words))


def _telling(text: str, words: TermWeights) -> set[str]:
    """Return the terms of the words that say which document it is, or about what."""
    kept = [word for word in search_words(text) if not is_light(word) and not GENERIC.fullmatch(word)]
    return set(words.terms(" ".join(kept)))


def _of_study(document: StoredDocument, kind: Kind) -> list[Extract]:
    """Return the sentences of a study's sections that state its findings, aim or limits."""
    text = document.text
    if not _is_study(text):
        return []
    for start, end in _sections(text, kind):
        parts = list(PART.finditer(text, start, end))
        if parts:
            chosen = _of_parts(text, end, parts, PARTS_OF[kind])
        elif kind == "aim":
            chosen = _aims(text, _sentences(text, start, end))
        elif kind == "limits":
            chosen = _sentences(text, start, end)
        else:
            chosen = _after_method(text, _sentences(text, start, end))
        if chosen:
            fitting = _fitting([text[slice(*span)] for span in chosen], MAX_WORDS)
            leaf = document.tree.leaves[document.tree.ordinal_at(start)]
            passage = Group(document, leaf, start, end, merged=SECTION).passage()
            return [Extract(passage, *span) for span in _joined(text, chosen[:fitting])]
    return _limiting(document) if kind == "limits" else []


def _limiting(document: StoredDocument) -> list[Extract]:
    """Return the rest of the paragraph that begins to tell a study's limits, where no section does."""
    text = document.text
    abstract = ABSTRACT.search(text, 0, ABSTRACT_WITHIN_CHARS)
    for limited in LIMITED.finditer(text, abstract.end() if abstract else 0):
        before, after = text.rfind("\n\n", 0, limited.start()), text.find("\n\n", limited.end())
        paragraph = _sentences(text, before + 2 if before >= 0 else 0, after if after >= 0 else len(text))
        told = [span for span in paragraph if span[1] > limited.start()]
        if len(told) > 1:
            fitting = _fitting([text[slice(*span)] for span in told], MAX_WORDS)
            return [extract(document, *span) for span in _joined(text, told[:fitting])]
    return []


def _is_study(text: str) -> bool:
    """Whether a text has an abstract, or two other sections of a study."""
    names = {match["name"].casefold() for match in islice(STUDY_SECTION.finditer(text), MOST_SECTIONS)}
    return "abstract" in names or len(names) > 1 or len(list(PART.finditer(text, 0, ABSTRACT_WITHIN_CHARS))) > 1


def _sections(text: str, kind: Kind) -> Iterator[Span]:
    """Yield where the abstract stands, then the conclusions, which tell no aim; of limits, their own section."""
    headings = [LIMITATIONS.search(text) if kind == "limits" else ABSTRACT.search(text, 0, ABSTRACT_WITHIN_CHARS)]
    if kind == "findings":
        headings.append(CONCLUSIONS.search(text))
    for heading in filter(None, headings):
        start, end, _ = section_below(text, heading)
        yield start, end


def _decisions(document: StoredDocument) -> list[Extract]:
    """Return the sentences of minutes that tell what was decided."""
    text = document.text
    if not MINUTES.search(f"{document.title}\n{text[:HEADER_CHARS]}"):
        return []
    sentences = _sentences(text, 0, min(len(text), MINUTES_CHARS))
    places: set[int] = set()
    for place, (start, end) in enumerate(sentences):
        sentence = text[start:end]
        if DECIDED.search(sentence) and not ROUTINE.search(sentence):
            places.update(range(_decided_from(text, sentences, place), place + 1))
    spans = _joined(text, [sentences[place] for place in sorted(places)])
    paths = heading_paths(document.structure, text, [start for start, _ in spans])
    return [extract(document, start, end, _under(path.titles)) for (start, end), path in zip(spans, paths, strict=True)]


def _actions(document: StoredDocument) -> list[Extract]:
    """Return the actions of minutes."""
    text = document.text
    if not MINUTES.search(f"{document.title}\n{text[:HEADER_CHARS]}"):
        return []
    return [extract(document, start, end) for start, end in action_spans(text[:MINUTES_CHARS])]


def _under(titles: Sequence[str]) -> str:
    """Return the innermost heading without its number; none where there is the document's title alone."""
    return ITEM_NUMBER.sub("", titles[-1]) if titles and not MINUTES.search(titles[-1]) else ""


def _decided_from(text: str, sentences: Sequence[Span], place: int) -> int:
    """Return the place of the sentence that says what a decision is about: its own, or one before in its paragraph."""
    if not OF_BEFORE.search(text[slice(*sentences[place])]):
        return place
    first = place
    while first > max(0, place - MOST_BEFORE) and "\n\n" not in text[sentences[first - 1][1] : sentences[first][0]]:
        first -= 1
        if PROPOSES.search(text, *sentences[first]):
            return first
    return max(first, place - 1)


def _aims(text: str, sentences: Sequence[Span]) -> list[Span]:
    """Return the first sentence that tells an aim, and the next if it does."""
    aims = [bool(AIMS.search(text, *span)) for span in sentences]
    first = next((place for place, aim in enumerate(aims) if aim), None)
    if first is None:
        return []
    return [*sentences[first : first + 2]] if aims[first + 1 : first + 2] == [True] else [sentences[first]]


def _joined(text: str, sentences: Iterable[Span]) -> list[Span]:
    """Return rising sentences, those in a row as one span."""
    spans: list[Span] = []
    for first, last in sentences:
        if spans and not text[spans[-1][1] : first].strip() and "\n\n" not in text[spans[-1][1] : first]:
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return spans


def _sentences(text: str, start: int, end: int) -> list[Span]:
    return [(start + one.start, start + one.end) for one in split_sentences(text[start:end])]


def _of_parts(text: str, end: int, parts: Sequence[re.Match[str]], wanted: re.Pattern[str]) -> list[Span]:
    """Return the sentences of a structured abstract's parts that are asked for, without the parts' names."""
    return [
        sentence
        for part, following in pairwise([*parts, None])
        if part is not None and wanted.fullmatch(part["name"])
        for sentence in _sentences(text, part.end(), following.start() if following else end)
    ]


def _after_method(text: str, sentences: Sequence[Span]) -> list[Span]:
    """Return the sentences that say "we find", and those from the first result after what was done."""
    said = [" ".join(text[start:end].split()) for start, end in sentences]
    chosen = {place for place, one in enumerate(said) if SAYS_FOUND.search(one)}
    did = {place for place, one in enumerate(said) if place not in chosen and DID.search(one)}
    results = [place for place, one in enumerate(said) if place not in did and FOUND.search(one)]
    # Where nothing was done, as among conclusions, all is result; what is proposed at the end is no method.
    before = max((place for place in did if results and place < results[-1]), default=-1)
    if before >= 0 or not did:
        first = min(chosen) if chosen and not did else next((place for place in results if place > before), len(said))
        chosen.update(range(first, len(said)))
    return [sentences[place] for place in sorted(chosen) if _is_sentence(said[place])]


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= MIN_WORDS and not ASIDE.search(text)
