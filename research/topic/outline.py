"""Take a topic apart: the topic itself, and the headings under which the documents speak of it.

Flow: topic -> one search -> **here** -> `survey.py` asks. Headings are the corpus's own words, in its language; a
document without any gives its title. Only sections that name the topic count: a heading always has an answer, but there
must be none about a topic that no document knows. Where there are few, a name is asked about in general, in English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import dropwhile, groupby

from index.documents.span_tree import split_node_id
from index.documents.store import DocumentStore
from index.lexical.language import function_words, joining_words, question_language
from query_engine.inquiry import Inquiry
from query_engine.runtime.threads import in_thread
from query_engine.schema.passage import Passage
from query_engine.text.content_words import content_stems
from research.schema import Engine
from settings import RetrievalSettings

# Of what is asked about, the share of words that a passage has to hold: of "deep sea mining" not only the sea.
NAMED_SHARE = 2 / 3
# Of the best passage's score, the share from which a passage is about the topic.
NEAR_SHARE = 0.6
# Asked beside an English topic where the documents offer no more than as many questions.
GENERAL = ("What is known about {}?", "What are the limits of {}?")
# A longer topic says more than a name.
MAX_NAME_WORDS = 3
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_MARKS = re.compile(r"[`*]|(?<!\w)_|_(?!\w)")


@dataclass(frozen=True, slots=True)
class Subquestion:
    """One thing to ask.

    Attributes:
        text: what is asked.
        again: the other wording, asked where the first one has no answer; empty if there is none.
        about: what an answer's passages have to name; empty if that is not known.
    """

    text: str
    again: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True)
class _Section:
    """What stands under one heading in a passage; under none but the document's title where `heading` is empty."""

    title: str
    heading: str
    text: str

    @property
    def name(self) -> str:
        return self.heading or self.title

    def subquestion(self, topic: str, about: str) -> Subquestion:
        if not self.heading:
            return Subquestion(self.title, about=about)
        whole = f"{self.title}: {self.heading}"
        # "Advantages of heat pumps" says what it is about, "History" does not.
        by_itself = content_stems(self.heading) & content_stems(f"{topic} {self.title}")
        return Subquestion(*((self.heading, whole) if by_itself else (whole, self.heading)), about=about)


async def outline(engine: Engine, inquiry: Inquiry, options: RetrievalSettings, count: int) -> list[Subquestion]:
    """Return 1 to `count` different sub-questions of the inquiry's text, the most important first.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    return await in_thread(partial(_outlined, engine, inquiry, options, count))


def _outlined(engine: Engine, inquiry: Inquiry, options: RetrievalSettings, count: int) -> list[Subquestion]:
    topic = " ".join(inquiry.text.split())
    passages = engine.retrieve(inquiry, options).passages
    sections = list(_sections(passages, engine.corpus.documents))
    about = _about(topic, sections)
    headings = [
        one.subquestion(topic, about)
        for one in sections
        if is_named(about or topic, f"{one.title}\n{one.heading}\n{one.text}")
    ]
    halves = [Subquestion(half, about=half) for half in _halves(topic)]
    different: dict[object, Subquestion] = {}
    for one in [Subquestion(topic, about if about != topic else "", about), *halves, *headings]:
        different.setdefault(content_stems(one.text) or one.text.casefold(), one)
    asked = list(different.values())
    if len(asked) <= len(GENERAL) and not topic.endswith("?") and question_language(topic) == "en":
        asked += [Subquestion(text.format(topic), about=about or topic) for text in GENERAL]
    titles = list(dict.fromkeys(one.title for one in sections))
    return [one if one.again else replace(one, again=_reworded(one.text, titles)) for one in asked[:count]]


def _halves(topic: str) -> list[str]:
    """Return the two names that a topic joins: "heat pumps and wind turbines"; none where it is said otherwise."""
    language, words = question_language(topic), topic.split()
    joined = [at for at, word in enumerate(words) if word.casefold() in joining_words(language)]
    if len(joined) != 1 or topic.endswith("?"):
        return []
    halves = words[: joined[0]], words[joined[0] + 1 :]
    bare = function_words(language).isdisjoint(word.casefold() for half in halves for word in half)
    return [" ".join(half) for half in halves] if all(halves) and bare else []


def _reworded(text: str, titles: Sequence[str]) -> str:
    """Return a question without the words by which it asks; a name below the title of the best document."""
    asking = function_words(question_language(text))
    bare = " ".join(dropwhile(lambda word: word.casefold() in asking, text.rstrip("?").split()))
    others = (bare, *(f"{title}: {text}" for title in titles))
    return next((one for one in others if one and one.casefold() != text.casefold()), "")


def _about(topic: str, sections: Sequence[_Section]) -> str:
    """Return the name of what a topic is about: the longest title or heading in it, or a short topic itself.

    What the documents call by another name cannot be looked for by this one.
    """
    wanted = content_stems(topic)
    titles = {name for one in sections for name in (one.title, one.heading) if content_stems(name)}
    named = [name for name in titles if content_stems(name) <= wanted]
    if named:
        return max(named, key=lambda name: (len(content_stems(name)), name))
    is_name = len(topic.split()) <= MAX_NAME_WORDS and not topic.endswith("?")
    return topic if is_name and wanted & content_stems("\n".join(one.text for one in sections)) else ""


def _sections(passages: Sequence[Passage], documents: DocumentStore) -> Iterator[_Section]:
    """Yield the sections of the passages that are about as good as the best one, in order."""
    known = documents.get_versions({split_node_id(one.node_id)[0] for one in passages})
    for passage in passages:
        document = known.get(split_node_id(passage.node_id)[0])
        if document is None or passage.score < passages[0].score * NEAR_SHARE:
            continue
        structure, text = document.structure, document.text
        blocks = structure.between(passage.start, passage.end)
        for above, held in groupby(blocks, structure.headings_above):
            heading = _plain(text[slice(*structure.blocks[above[-1]].inner)]) if above else ""
            own = [structure.blocks[position] for position in held]
            yield _Section(
                document.title,
                "" if content_stems(heading) == content_stems(document.title) else heading,
                text[max(own[0].start, passage.start) : min(own[-1].end, passage.end)],
            )


def _plain(heading: str) -> str:
    """Return a heading without Markdown's links and marks."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", heading)).split())


def is_named(topic: str, text: str) -> bool:
    """Say whether a text holds most of a topic's words."""
    wanted = content_stems(topic)
    return len(wanted & content_stems(text)) >= len(wanted) * NAMED_SHARE
