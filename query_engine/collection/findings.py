"""Quote what a study found: "What did the trial of quizzes find?" is answered from its abstract or conclusions.

Flow: engine, with the passages that were found -> **here** -> the section that says it, read before the passages, and
where no language model writes, the quotes. The reader looks for sentences that are like the question, and of a paper
these are the ones that say how the trial was made; what came of it stands in its own words, where papers put it.
English.
"""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from index.documents.span_tree import split_node_id
from index.documents.store import StoredDocument
from index.lexical.tantivy_index import search_words
from query_engine.prompting.builder import REFERENCE
from query_engine.retrieval.merging.group import Group
from query_engine.schema.passage import Passage
from query_engine.synthesis.quoting import Quote, QuotingSynthesizer
from query_engine.text.light_words import is_light
from query_engine.text.markdown_escape import as_text
from query_engine.text.sentences import split_sentences
from query_engine.text.term_weights import TermWeights

# A longer question asks for more than what was found.
MAX_CHARS = 300
# The study must be among the documents of so many of the best passages.
FIRST_PASSAGES = 3
# Of the question's words, the share that its title and section must hold.
LEAST_NAMED = 0.5
# A document's title may stand in its text alone.
HEADER_CHARS = 300
# An abstract stands at the beginning; a section is read no further than this.
ABSTRACT_WITHIN_CHARS, SECTION_CHARS = 6_000, 3_500
MAX_WORDS = 130
# What is shorter is a scrap of a footnote.
MIN_WORDS = 3

_STUDY = (
    r"(?:study|trial|paper|experiments?|research(?:ers?)?|authors?|scientists|investigation|survey|evaluation|analysis"
    r"|article|report|team)"
)
_ASKS = (
    re.compile(
        rf"(?:and )?what (?:did|does|do|has|have) (?P<topic>(?:[\w’'-]+ ){{0,8}}?{_STUDY}\b[^?]{{0,150}}?) (?:find"
        r"|found|shown?|concluded?|reveal(?:ed)?|discover(?:ed)?|demonstrated?|learn)(?: out)?"
        r"(?P<aspect> (?:about|on|regarding|concerning|for|as to) [^?]{1,150})?\W*",
        re.IGNORECASE,
    ),
    re.compile(
        r"what (?:was|were|is|are) the (?:(?:main|key|most important|overall|primary|central|principal) ){0,2}"
        r"(?:results?|findings?|conclusions?|outcomes?) (?:of|from|in) (?P<topic>(?:[\w’'-]+ ){0,8}?"
        rf"{_STUDY}\b[^?]{{0,150}}?)(?P<aspect> (?:about|regarding|concerning) [^?]{{1,150}})?\W*",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:what|which) (?:results|findings|conclusions?) (?:did|does|do) (?P<topic>(?:[\w’'-]+ ){{0,4}}?{_STUDY}\b"
        r"[^?]{0,150}?) (?:have|get|find|reach|draw|come to|report|obtain|present)\b(?P<aspect>)\W*",
        re.IGNORECASE,
    ),
)
_GENERIC = re.compile(rf"{_STUDY}|what|main|key|results?|findings?|conclusions?|outcomes?", re.IGNORECASE)
_NUMBER = r"(?:#{1,6}[ \t]+|\*\*)?(?:(?:\d{1,2}|[IVX]{1,4})\.?[ \t]+)?"
_ABSTRACT = re.compile(
    rf"^{_NUMBER}(?:abstract|(?:executive |structured )?summary|key (?:points|findings|messages|results)|highlights)"
    r"(?:\*\*)?[ \t]*(?:[—–:.-][ \t]*(?=\S)|$)",
    re.IGNORECASE | re.MULTILINE,
)
_CONCLUSIONS = re.compile(
    rf"^{_NUMBER}(?:conclusions?(?: and [\w ]{{1,30}})?|concluding remarks|(?:main )?findings"
    r"|summary and [\w ]{1,20})(?:\*\*)?[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_SECTION = re.compile(
    r"^(?:#{1,6}[ \t]|(?:\d{1,2}|[IVX]{1,4})\.?[ \t]+[A-Z][^.!?\n]{1,60}$|[A-Z][A-Z &-]{4,60}$"
    r"|(?i:introduction|background|references)[ \t]*$|\**(?i:key ?words?|index terms)\b)",
    re.MULTILINE,
)
# The parts of a structured abstract: "**Findings.** Learners scored ..."
_PART = re.compile(
    r"(?:^\**|(?<=[.!?] )\*\*)(?P<name>background|context|questions?|objectives?|aims?|purpose|introduction|setting"
    r"|design|participants|materials?|methods?(?: and [a-z]+)?|interventions?|measurements?|results?"
    r"|(?:main |key )?findings|conclusions?|interpretation|limitations?|implications)\**\s?[.:]\**\s+",
    re.IGNORECASE | re.MULTILINE,
)
_PART_FINDS = re.compile(r"results?|(?:main |key )?findings|conclusions?|interpretation", re.IGNORECASE)
_DID = re.compile(
    r"\b(?:we|i|this (?:paper|study|article|work)|the authors?) (?:then |also |first |here )?(?:tests?|tested|compare"
    r"|examine|stud(?:y|ied)|investigate|measure|collect|analy[sz]e|survey|ask|present|propose|introduce|describe"
    r"|evaluate|conduct|randomi[sz]e|assign|interview|review|develop|train|explore|consider|use|report on|identify"
    r"|follow|observe)(?:d|s|ed)?\b|\b(?:was|were) (?:then )?(?:assigned|allocated|randomi[sz]ed|measured|recorded"
    r"|collected|sampled|tested|recruited|drawn|interviewed|surveyed|invited)\b",
    re.IGNORECASE,
)
_SAYS_FOUND = re.compile(
    r"\bwe (?:\w+ly )?(?:find|found|show|demonstrate|conclude|achieve|recommend)\b|\b(?:show|find|suggest|reveal"
    r"|indicate|demonstrate|conclude)(?:s|ed|ing)? that\b|\bfound that\b|\b(?:results|findings|experiments|data)"
    r" (?:show|suggest|indicate|demonstrate|reveal|confirm)",
    re.IGNORECASE,
)
_FOUND = re.compile(
    r"\b(?:outperform\w*|surpass\w*|exceed\w*|achiev\w+|improv\w+|increas\w+|decreas\w+|reduc\w+|rose|fell|declin\w+"
    r"|lowered|lower|higher|fewer|better|worse|cheape\w+|faster|slower|larger|smaller|significant\w*"
    r"|differ(?:ed|s|ences?)?|against|than|compared (?:with|to)|no effect|scored|raised|gain\w*|lost|slow(?:s|ed)"
    r"|state[- ]of[- ]the[- ]art|by far|per cent|percent|accura\w+|correlat\w+|associated with)\b|\d ?%",
    re.IGNORECASE,
)
# Where to get it, what others found, and footnotes.
_ASIDE = re.compile(
    r"https?://|github|\b(?:code|data|models?)\b.{0,60}\bavailable\b|\b(?:release|share) (?:our|all|the)\b"
    r"|\bfor (?:code|data)\b|\A\d[A-Za-z]"
    r"|\A(?:recent|prior|previous|earlier) (?:work|studies|research)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a study found.

    Attributes:
        passage: the section that says it.
        spans: its sentences that do, rising offsets in the document; those that follow each other are one.
        named: the question names the study, and says no word about it that its title and this section do not hold.
    """

    passage: Passage
    spans: tuple[tuple[int, int], ...]
    named: bool


class FindingsSynthesizer(QuotingSynthesizer):
    """Quotes what a study found.

    Args:
        findings: of the study.
    """

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def quotes(self, question: str, passages: Sequence[Passage], stop: threading.Event) -> Iterator[Quote]:
        """Yield the sentences, in order."""
        del question, passages  # they decided which study it is
        passage = self._findings.passage
        for start, end in self._findings.spans:
            if stop.is_set():
                return
            words = " ".join(passage.text[start - passage.start : end - passage.start].split())
            yield Quote(passage, start, end, words, REFERENCE.sub(r"(\1)", as_text(words)))


def find_findings(
    question: str,
    passages: Sequence[Passage],
    documents: Callable[[Iterable[str]], Mapping[str, StoredDocument]],
    words: TermWeights,
) -> Findings | None:
    """Return what the study found that a question asks for; None if it asks for none, or nothing says it.

    Args:
        question: as it is searched for.
        passages: found for it, best first.
        documents: versions -> documents, as `DocumentStore.get_versions`.
        words: the corpus's terms.
    """
    asked = next((match for pattern in _ASKS if (match := pattern.fullmatch(question.strip()))), None)
    if asked is None or len(question) > MAX_CHARS:
        return None
    versions = dict.fromkeys(split_node_id(passage.node_id)[0] for passage in passages[:FIRST_PASSAGES])
    found = documents(versions)
    for document in (found[version] for version in versions if version in found):
        read = ((section, _spans(document.text, *section)) for section in _sections(document.text))
        section, spans = next(((section, spans) for section, spans in read if spans), ((0, 0), ()))
        if not spans:
            continue
        held = set(words.terms(f"{document.title}\n{document.text[:HEADER_CHARS]}\n{document.text[slice(*section)]}"))
        topic = _telling(f"{asked['topic']}{asked['aspect'] or ''}", words)
        if topic and len(topic & held) < LEAST_NAMED * len(topic):
            continue
        # What it found about one thing of several, the reader looks for.
        if (_telling(asked["aspect"] or "", words) - held) & set(words.terms(document.text)):
            return None
        return Findings(_passage(document, *section), spans, named=bool(topic) and topic <= held)
    return None


def _telling(text: str, words: TermWeights) -> set[str]:
    """Return the terms of the words that say which study it is, or about what."""
    kept = [word for word in search_words(text) if not is_light(word) and not _GENERIC.fullmatch(word)]
    return set(words.terms(" ".join(kept)))


def _sections(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the abstract stands, then the conclusions."""
    for heading in (_ABSTRACT.search(text, 0, ABSTRACT_WITHIN_CHARS), _CONCLUSIONS.search(text)):
        if heading is not None:
            following = _NEXT_SECTION.search(text, heading.end(), heading.end() + SECTION_CHARS)
            yield heading.end(), following.start() if following else min(len(text), heading.end() + SECTION_CHARS)


def _spans(text: str, start: int, end: int) -> tuple[tuple[int, int], ...]:
    """Return the sentences of a section that say what was found, at most `MAX_WORDS`; those in a row as one span."""
    spans: list[tuple[int, int]] = []
    room = MAX_WORDS
    for first, last in _of_parts(text, start, end) or _after_method(text, _sentences(text, start, end)):
        room -= len(text[first:last].split())
        if room < 0 and spans:
            break
        if spans and not text[spans[-1][1] : first].strip():
            spans[-1] = spans[-1][0], last
        else:
            spans.append((first, last))
    return tuple(spans)


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    return [(start + one.start, start + one.end) for one in split_sentences(text[start:end])]


def _of_parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the sentences of a structured abstract's results and conclusions, without the parts' names."""
    parts = list(_PART.finditer(text, start, end))
    return [
        sentence
        for part, following in pairwise([*parts, None])
        if part is not None and _PART_FINDS.fullmatch(part["name"])
        for sentence in _sentences(text, part.end(), following.start() if following else end)
    ]


def _after_method(text: str, sentences: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the sentences that say "we find", and those from the first result after what was done."""
    said = [" ".join(text[start:end].split()) for start, end in sentences]
    chosen = {place for place, one in enumerate(said) if _SAYS_FOUND.search(one)}
    did = {place for place, one in enumerate(said) if place not in chosen and _DID.search(one)}
    results = [place for place, one in enumerate(said) if place not in did and _FOUND.search(one)]
    # Where nothing was done, as among conclusions, all is result; what is proposed at the end is no method.
    before = max((place for place in did if results and place < results[-1]), default=-1)
    if before >= 0 or not did:
        first = min(chosen) if chosen and not did else next((place for place in results if place > before), len(said))
        chosen.update(range(first, len(said)))
    return [sentences[place] for place in sorted(chosen) if _is_sentence(said[place])]


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= MIN_WORDS and not _ASIDE.search(text)


def _passage(document: StoredDocument, start: int, end: int) -> Passage:
    leaf = document.tree.leaves[document.tree.ordinal_at(start)]
    return Group(document, leaf, start, end, merged="The section in which the study says what it found.").passage()
