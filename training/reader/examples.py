"""Make the examples that the reader learns from: a question, a passage, and which of its sentences answer.

Flow: data sets -> **here** -> `fit.py`. A passage is a stretch of at most a leaf's length, as at question time, because
that is what the reader will see. Of each question there is at least one passage that answers it; others of the same
document, chosen because their words are like the question's, do not. Some questions are asked again with a name, a
number or another word exchanged: their passage looks the same and does not answer.
"""

import json
import random
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from query_engine.reader.contrast import opposite_pairs
from query_engine.text.light_words import is_light
from query_engine.text.sentences import split_sentences

# Characters of a leaf of 128 tokens; with the rest of its paragraph it has up to `WIDE_CHARS`.
PASSAGE_CHARS, WIDE_CHARS = 560, 850
# A document may be one line long. A reader that saw short passages without an answer alone would decline all of them.
SHORT_CHARS = 60
# Of a unit, the share of characters that must be labelled for the unit to answer.
LEAST_SHARE = 0.5
_NAME = re.compile(r"(?<!^)(?<![.?!] )\b[A-Z][\w'’-]+(?:\s+[A-Z][\w'’-]+)*")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+)$", re.MULTILINE)
_NUMBER = re.compile(r"\b\d[\d,.]*\d\b|\b\d\b")
_PLAIN_WORD = re.compile(r"\b[a-z]+\b")
_ASKS_WHAT = re.compile(
    r"(?:What|Which \w+|Who) (?:is|are|was|were|can|may|must|should|will|has|have)\b(?! not\b)", re.IGNORECASE
)
LEAST_WORD_CHARS = 4
_DEGREES = frozenset({"most", "least", "more", "less"})
_FUNCTION_WORDS = frozenset(
    "what which when where whose whom with that this these those from they them their there about into onto upon than "
    "then been being were does have would could should might will shall your yours ours over under after before "
    "between during while because through against within without according many much name type kind year years number "
    "first last most least more less other same".split()
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Example:
    """A question and a passage.

    Attributes:
        source: the data set it is from.
        group: what is held out together: a document.
        title: of the document, as the reader is shown it.
        units: the sentences and lines of `text`, as spans.
        answering: the places of those among `units` that answer; none if the passage does not.
        answer: the span of the words that were asked for, if the data set tells.
    """

    source: str
    group: str
    question: str
    title: str
    text: str
    units: tuple[Span, ...]
    answering: frozenset[int]
    answer: Span | None = None


class SourceText:
    """A document, cut into passages.

    Args:
        name: of the document.
        title: of the document.
        text: of the document.
    """

    def __init__(self, name: str, title: str, text: str) -> None:
        self.name, self.title, self.text = name, title, text

    @cached_property
    def units(self) -> list[Span]:
        """Sentences and lines, in order."""
        return [(one.start, one.end) for one in split_sentences(self.text)]

    @cached_property
    def passages(self) -> list[range]:
        """Stretches of units of at most `PASSAGE_CHARS`, in order."""
        found, first = [], 0
        for place, (_, end) in enumerate(self.units):
            if end - self.units[first][0] > PASSAGE_CHARS and place > first:
                found.append(range(first, place))
                first = place
        return [*found, range(first, len(self.units))] if self.units else []

    @cached_property
    def _index(self) -> tuple[TfidfVectorizer, object]:
        vectorizer = word_vectorizer()
        return vectorizer, vectorizer.fit_transform([self.slice(one) or "-" for one in self.passages])

    def heading_of(self, offset: int) -> str:
        """The document's title, and the heading that an offset stands under."""
        headings = _HEADING.findall(self.text[:offset])
        heading = headings[-1].strip() if headings else ""
        return f"{self.title}\n{heading}" if heading and heading != self.title else self.title

    def slice(self, units: range) -> str:
        """The text of a stretch of units."""
        return self.text[self.units[units.start][0] : self.units[units.stop - 1][1]]

    def nearest(self, question: str) -> list[range]:
        """Return the passages, those most like the question first."""
        try:
            vectorizer, matrix = self._index
        except ValueError:  # nothing but stop words
            return self.passages
        scores = (matrix @ vectorizer.transform([question]).T).toarray()[:, 0]
        return [self.passages[place] for place in sorted(range(len(scores)), key=lambda place: -scores[place])]

    def labelled(self, spans: Sequence[Span]) -> set[int]:
        """Return the places of the units that lie in these spans of the text."""
        return labelled(self.units, spans)

    def holding(self, answer: Span | None) -> list[Span]:
        """Return the unit that an answer begins in."""
        return [(start, end) for start, end in self.units if answer and start <= answer[0] < end]

    def example(
        self, source: str, question: str, units: range, labels: set[int], answer: Span | None = None
    ) -> Example:
        """Return the example of a stretch of units."""
        offset = self.units[units.start][0]
        inside = answer is not None and offset <= answer[0] and answer[1] <= self.units[units.stop - 1][1]
        return Example(
            source,
            f"{source}/{self.name}",
            question,
            self.heading_of(offset),
            self.slice(units),
            tuple((self.units[place][0] - offset, self.units[place][1] - offset) for place in units),
            frozenset(place - units.start for place in labels if place in units),
            (answer[0] - offset, answer[1] - offset) if inside and answer else None,
        )

    def around(self, place: int, rng: random.Random) -> range:
        """Return a stretch of units around one of them, which is not always in the middle."""
        first = last = place
        chars = int(rng.triangular(SHORT_CHARS, WIDE_CHARS, PASSAGE_CHARS))
        room = chars - (self.units[place][1] - self.units[place][0])
        while True:
            sides = [side for side in (-1, 1) if self._fits(first, last, side, room)]
            if not sides:
                return range(first, last + 1)
            if rng.choice(sides) < 0:
                first -= 1
            else:
                last += 1
            room = chars - (self.units[last][1] - self.units[first][0])

    def _fits(self, first: int, last: int, side: int, room: int) -> bool:
        place = first - 1 if side < 0 else last + 1
        if not 0 <= place < len(self.units):
            return False
        return self.units[place][1] - self.units[place][0] + 1 <= room


def word_vectorizer() -> TfidfVectorizer:
    """Return what tells how alike texts are by their words."""
    return TfidfVectorizer(sublinear_tf=True, stop_words="english", token_pattern=r"\b\w+\b")  # noqa: S106


def labelled(units: Sequence[Span], spans: Sequence[Span]) -> set[int]:
    """Return the places of the units of which at least `LEAST_SHARE` lies in these spans."""
    found = set()
    for place, (start, end) in enumerate(units):
        covered = sum(max(0, min(end, last) - max(start, first)) for first, last in spans)
        if covered >= LEAST_SHARE * (end - start):
            found.add(place)
    return found


def of_question(
    source: str,
    document: SourceText,
    question: str,
    spans: Sequence[Span],
    rng: random.Random,
    *,
    answer: Span | None = None,
    nearest: Span | None = None,
    against: int = 2,
) -> Iterator[Example]:
    """Yield the examples of one question.

    Args:
        source: the data set.
        document: where it is answered, or looks as if it were.
        question: what is asked.
        spans: of the text, which answer.
        rng: chooses where passages begin.
        answer: the words that are asked for.
        nearest: a span that looks like an answer and is none.
        against: how many passages of the document that do not answer.
    """
    labels = document.labelled(spans)
    left = sorted(labels)
    while left:
        units = document.around(left[0], rng)
        yield document.example(source, question, units, labels, answer)
        left = [place for place in left if place not in units and place > left[0]]
    if nearest is not None:
        for place in sorted(document.labelled([nearest]))[:1]:
            yield document.example(source, question, document.around(place, rng), labels)
    others = [units for units in document.nearest(question) if labels.isdisjoint(units)]
    for units in others[:against]:
        yield document.example(source, question, units, labels)


def with_exchanged_names(examples: Sequence[Example], share: float, rng: random.Random) -> Iterator[Example]:
    """Yield some questions again with a name or a number of another question of the set in place of theirs."""
    answered = [one for one in examples if one.answering]
    names: dict[str, list[str]] = {}
    for one in answered:
        names.setdefault(one.group, []).extend(_NAME.findall(one.question))
    every = sorted({name for found in names.values() for name in found})
    for one in answered:
        if rng.random() >= share:
            continue
        own, numbers = _NAME.findall(one.question), _NUMBER.findall(one.question)
        near = [name for name in {*names[one.group]} if name not in own and name not in one.text]
        if own:
            new = rng.choice(sorted(near) or every)
            if new in one.text or new in own:
                continue
            asked = one.question.replace(rng.choice(own), new, 1)
        elif numbers:
            old = rng.choice(numbers)
            new = str(rng.randint(2, 2020))
            if new in one.text:
                continue
            asked = one.question.replace(old, new, 1)
        else:
            continue
        yield replace(one, source=f"{one.source}, exchanged", question=asked, answering=frozenset(), answer=None)


def with_exchanged_words(examples: Sequence[Example], rng: random.Random) -> Iterator[Example]:
    """Yield some questions again with one word exchanged, or "not" put in, so that their passage no longer answers.

    The word becomes its opposite, another figure, or a word of another question that ends alike and so is often of the
    same kind; the chances keep each sort rarer than questions that people wrote.
    """
    answered = [one for one in examples if one.answering]
    asked: dict[str, set[str]] = {}
    for one in answered:
        asked.setdefault(one.group, set()).update(filter(_is_telling, _PLAIN_WORD.findall(one.question)))
    endings: dict[str, set[str]] = {}
    for word in {word for words in asked.values() for word in words}:
        endings.setdefault(word[-2:], set()).add(word)
    for one in answered:
        near = [word for word in asked[one.group] if word not in one.text.lower()]
        for sort, share, exchange in (
            ("opposite", 0.6, _with_opposite),
            ("figure", 0.5, _with_other_figure),
            ("word", 0.18, partial(_with_other_word, near=near, endings=endings)),
            ("not", 0.12, _negated),
        ):
            if rng.random() < share and (question := exchange(one, rng)):
                source = f"{one.source}, {sort}"
                yield replace(one, source=source, question=question, answering=frozenset(), answer=None)


def _with_opposite(one: Example, rng: random.Random) -> str | None:
    held = set(_PLAIN_WORD.findall(one.question))
    opposites = {word: sorted(_opposites()[word]) for word in sorted(held & _opposites().keys())}
    words = [
        word
        for word, others in opposites.items()
        if held.isdisjoint(others) and (word in _DEGREES or not is_light(word))
    ]
    if not words:
        return None
    old = rng.choice(words)
    return _exchanged(one.question, old, rng.choice(opposites[old]))


def _with_other_figure(one: Example, rng: random.Random) -> str | None:
    figures = [figure for figure in _NUMBER.findall(one.question) if figure.isdigit()]
    if not figures:
        return None
    old = rng.choice(figures)
    new = str(max(2, int(old) + rng.choice([-1, 1]) * rng.choice([1, 2, 3, 5, 10, 20])))
    return None if new in one.text or new == old else one.question.replace(old, new, 1)


def _with_other_word(
    one: Example, rng: random.Random, *, near: Sequence[str], endings: Mapping[str, Collection[str]]
) -> str | None:
    answering = " ".join(one.text[slice(*one.units[place])] for place in sorted(one.answering)).lower()
    held = set(_PLAIN_WORD.findall(answering))
    words = [word for word in _PLAIN_WORD.findall(one.question) if _is_telling(word) and word in held]
    if not words:
        return None
    old = rng.choice(words)
    alike = sorted(word for word in near if word[-2:] == old[-2:]) or sorted(endings[old[-2:]])
    new = rng.choice(alike)
    return None if new[:4] == old[:4] or new in one.text.lower() else _exchanged(one.question, old, new)


def _negated(one: Example, _: random.Random) -> str | None:
    text = one.text.lower()
    if " not " in text or "n't" in text or not (asks := _ASKS_WHAT.match(one.question)):
        return None
    return f"{asks[0]} not{one.question[asks.end() :]}"


def _exchanged(question: str, old: str, new: str) -> str:
    return re.sub(rf"\b{re.escape(old)}\b", new, question, count=1)


def _is_telling(word: str) -> bool:
    return len(word) >= LEAST_WORD_CHARS and word not in _FUNCTION_WORDS and not is_light(word)


@cache
def _opposites() -> Mapping[str, Collection[str]]:
    """Return each word's opposites, but those that only have a prefix more: they are told by the prefix alone."""
    found: dict[str, set[str]] = {}
    for one, other in opposite_pairs():
        if not one.endswith(other) and not other.endswith(one):
            found.setdefault(one, set()).add(other)
    return found


def without_giveaways(examples: Sequence[Example], rng: random.Random) -> list[Example]:
    """Leave out some questions without an answer, so that their words tell less about whether they are answered.

    Near misses have a style: more of them ask "how many". A reader would learn the style and not read. A question
    without an answer is kept with probability p(words | answered) / p(words | unanswered), at most 1 (importance
    weighting, Shimodaira, 2000), by a logistic regression that was fitted on other documents.
    """
    answered: dict[str, bool] = {}
    groups: dict[str, str] = {}
    for one in examples:
        answered[one.question] = answered.get(one.question, False) or bool(one.answering)
        groups.setdefault(one.question, one.group)
    questions = sorted(answered)
    labels = np.array([not answered[question] for question in questions])
    if len({*labels.tolist()}) < 2:
        return list(examples)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=3, lowercase=False, token_pattern=r"\w+|\?")  # noqa: S106
    guessed = cross_val_predict(
        LogisticRegression(max_iter=300),
        vectorizer.fit_transform(questions),
        labels,
        groups=[groups[question] for question in questions],
        cv=GroupKFold(5),
        method="predict_proba",
    )[:, 1]
    odds = (1 - guessed) / guessed * labels.mean() / (1 - labels.mean())
    kept = {
        question
        for question, label, chance in zip(questions, labels, odds, strict=True)
        if not label or rng.random() < chance
    }
    return [one for one in examples if one.question in kept]


def read_selqa(path: Path, rng: random.Random) -> Iterator[Example]:
    """Yield examples of SelQA (Jurczyk et al., 2016, arXiv 1606.08513): sections with labelled sentences."""
    for row in read_rows(path):
        document, spans = _joined(row["sentences"], f"{row['title']}", f"{row['title']}\n{row['section']}")
        yield from of_question(
            "selqa", document, row["question"], [spans[place] for place in row["answers"]], rng, against=1
        )


def read_clapnq(path: Path, leave_out: set[str], rng: random.Random) -> Iterator[Example]:
    """Yield examples of CLAPNQ (Rosenthal et al., 2024, arXiv 2404.02103), except the questions to leave out."""
    for row in read_rows(path):
        passage = row["passages"][0]
        if row["input"].strip() in leave_out:
            continue
        sentences = passage["sentences"]
        document, spans = _joined([spaced(text) for text in sentences], row["id"], passage["title"])
        chosen = {text.strip() for output in row["output"] for text in output.get("selected_sentences") or []}
        answering = [span for span, text in zip(spans, sentences, strict=True) if text.strip() in chosen]
        yield from of_question("clapnq", document, row["input"], answering, rng, against=1 if answering else 2)


def read_squad(path: Path, leave_out: set[str], rng: random.Random) -> Iterator[Example]:
    """Yield examples of SQuAD 2.0 (Rajpurkar et al., 2018, arXiv 1806.03822), except the articles to leave out."""
    for article, document, asked in squad_paragraphs(path):
        for question, answer in asked if article not in leave_out else ():
            sentence = document.holding(answer)
            against = 1 if answer else 2
            yield from of_question("squad", document, question, sentence, rng, answer=answer, against=against)


def squad_paragraphs(path: Path) -> Iterator[tuple[str, SourceText, list[tuple[str, Span | None]]]]:
    """Yield the paragraphs of a file of SQuAD 2.0: the article's name, the text, the questions with their answers.

    The answer of a question that the paragraph does not answer is None.
    """
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        name = article["title"]
        for number, paragraph in enumerate(article["paragraphs"]):
            asked: list[tuple[str, Span | None]] = []
            for one in paragraph["qas"]:
                if one.get("is_impossible"):
                    asked.append((one["question"], None))
                elif one["answers"]:
                    first = one["answers"][0]
                    asked.append((one["question"], (first["answer_start"], first["answer_start"] + len(first["text"]))))
            yield name, SourceText(f"{name} {number}", name.replace("_", " "), paragraph["context"]), asked


def read_qed(path: Path, leave_out: Collection[str], rng: random.Random) -> Iterator[Example]:
    """Yield examples of QED (Lamm et al., 2021, arXiv 2009.06354), except the questions to leave out.

    Search queries of Natural Questions, each with a paragraph and the sentence of it that answers, if one does alone.
    """
    for row in read_rows(path):
        chosen = row["annotation"].get("selected_sentence")
        if chosen is None or row["question_text"].strip() in leave_out:
            continue
        starts = row["sentence_starts"]
        sentences = [row["paragraph_text"][start:end] for start, end in pairwise([*starts, None])]
        document, spans = _joined([spaced(one) for one in sentences], str(row["example_id"]), row["title_text"])
        answering = [spans[starts.index(chosen["start"])]]
        yield from of_question("qed", document, row["question_text"], answering, rng, against=1)


def read_own(path: Path, folder: Path, rng: random.Random) -> Iterator[Example]:
    """Yield examples of questions with verbatim quotes; see `data/README.md` for the format."""
    documents: dict[str, SourceText] = {}
    for row in read_rows(path):
        if row["doc"] not in documents:
            text = (folder / row["doc"]).read_text(encoding="utf-8")
            documents[row["doc"]] = SourceText(row["doc"], _title(row["doc"], text), text)
        document = documents[row["doc"]]
        spans = [found for quote in row["quotes"] if (found := find(document.text, quote))]
        if row["quotes"] and not spans:
            continue
        nearest = find(document.text, row["nearest"]) if row["nearest"] else None
        yield from of_question(path.parent.name, document, row["question"], spans, rng, nearest=nearest, against=1)


def find(text: str, quote: str) -> Span | None:
    """Return where a quote stands in a text; all white space counts as equal."""
    match = re.search(r"\s+".join(map(re.escape, quote.split())), text)
    return match.span() if match else None


def _title(name: str, text: str) -> str:
    first = text.lstrip().split("\n", 1)[0]
    return first.lstrip("# ").strip() if first.startswith("# ") else Path(name).stem.replace("_", " ").replace("-", " ")


def spaced(text: str) -> str:
    """Return text as people write it, from the tokenized form of Natural Questions, with spaces around punctuation."""
    text = text.replace("``", '"').replace("''", '"').replace("--", "–")
    text = re.sub(r"\s+(?=[.,;:?!%)\]]|'\w)|(?<=[(\[$])\s+|(?<=\w)\s(?=-\s\w)|(?<=\w\s-)\s(?=\w)", "", text)
    return text.strip()


def _joined(sentences: Sequence[str], name: str, title: str) -> tuple[SourceText, list[Span]]:
    spans, text = [], ""
    for sentence in sentences:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    document = SourceText(name, title, text)
    document.__dict__["units"] = [span for span in spans if span[0] < span[1]]
    return document, spans


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file with one a line."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
