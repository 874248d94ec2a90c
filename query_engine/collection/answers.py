"""Answer questions about the collection, and small talk.

Flow: engine -> `recognition.py` -> **here**, from the catalogue, `naming.py` and `summary.py` -> events of a whole
answer, or nothing: then the question is searched for. Needs neither a language model nor the search. What comes from a
document is quoted and cited; titles, counts and greetings come from the catalogue and are not.
"""

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from index.corpus import Corpus
from index.documents.catalogue import DocumentName
from index.documents.store import TABLES, StoredDocument
from query_engine import steps
from query_engine.collection.extract import Extract
from query_engine.collection.naming import find_named
from query_engine.collection.recognition import NAMING, SMALL_TALK, Request, recognise
from query_engine.collection.summary import centroid, diverse, headings, summarise
from query_engine.collection.wording import WORDINGS, Wording
from query_engine.schema.events import Event, Retrieved
from query_engine.schema.passage import Passage
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.markdown_escape import as_quote, as_text

LISTED_DOCUMENTS = 50
OVERVIEW_DOCUMENTS, OVERVIEW_HEADINGS = 12, 6
# Documents of a large collection, evenly spread, among which representative ones are chosen.
COMPARED_DOCUMENTS = 300
SUMMARY_SENTENCES = 7
# With fewer sentences that name a year, a document tells no history.
LEAST_DATED = 3
# A summary has two sentences, and one more for this many leaves.
LEAVES_A_SENTENCE = 2
# A topic of so many words may describe one document, among the first few that hold most of it.
MIN_DESCRIBING_TERMS, DESCRIBED_DOCUMENTS = 3, 5

# A text, or quotes that share a citation mark.
Piece = str | Sequence[Extract]
Line = list[Piece]


def answer_about_collection(
    corpus: Corpus, answer: Answer, filters: Mapping[str, Any] | None, *, catalogue: bool = True
) -> Generator[Event, None, bool]:
    """Yield a whole answer if the question is small talk or about the collection; return whether it was.

    Args:
        corpus: the collection.
        answer: with the question; it grows.
        filters: only documents that meet this filter are there.
        catalogue: whether to answer from it; otherwise only small talk is answered.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    request = recognise(answer.question)
    if request is None:
        return False
    wording = WORDINGS[request.language]
    if request.kind in SMALL_TALK:
        yield steps.small_talk()
        answer.begin("small_talk")
        text = getattr(wording, request.kind).format(documents=wording.some(corpus.documents.count()))
        yield answer.add(text, 0)
        yield answer.done("generated_answer")
        return True
    names = corpus.catalogue.names(filters) if catalogue else ()
    lines = _lines(corpus, request, wording, names) if names else None
    if lines is None:
        return False
    yield steps.about_collection(request.kind, len(names))
    answer.passages = _passages(lines)
    answer.begin("extractive" if answer.passages else "catalogue")
    yield Retrieved(answer.passages)
    for place, line in enumerate(lines):
        yield answer.add(("\n" if place else "") + _written(line, answer), answer.citations.recorded)
    yield answer.done("generated_answer")
    return True


def _lines(corpus: Corpus, request: Request, wording: Wording, names: Sequence[DocumentName]) -> list[Line] | None:
    """Return the lines of an answer, each of texts and quotes; None if no document is meant."""
    if request.kind == "count":
        return [[_count(corpus, wording, names)]]
    if request.kind == "list":
        return _list(wording, names)
    chosen, several = names, wording.overview.format(documents=wording.some(len(names)))
    if request.kind in NAMING:
        chosen = _meant(corpus, request, names)
        several = wording.several if request.name else several
    if not chosen:
        return None
    if len(chosen) > 1:
        return _overview(corpus, chosen, several, wording)
    return _history(corpus, chosen[0]) if request.kind == "history" else _summary(corpus, chosen[0], wording)


def _meant(corpus: Corpus, request: Request, names: Sequence[DocumentName]) -> Sequence[DocumentName]:
    """Return the documents that a request for a summary, the contents or a history means; none if it means none."""
    if not request.name:
        return names if request.is_document else ()
    named = find_named(corpus, request.name, names)
    if not named.documents and request.is_document:
        return _about(corpus, request.name, names)
    if not named.documents and request.kind == "summary":
        return _described(corpus, request.name, names)
    surely = request.kind == "summary" or request.is_document or named.surely
    return named.documents if surely or (request.kind == "history" and len(named.documents) == 1) else ()


def _count(corpus: Corpus, wording: Wording, names: Sequence[DocumentName]) -> str:
    kinds = corpus.catalogue.statistics().content_types
    if len(names) != sum(kinds.values()):  # a filter leaves out some
        kinds = _kinds(names)
    told = ", ".join(f"{count} {as_text(kind)}" for kind, count in kinds.items())
    return wording.counted.format(documents=wording.some(len(names)), kinds=told)


def _kinds(names: Sequence[DocumentName]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        suffix = name.doc_id.rpartition("/")[2].rpartition(".")[2][:10].lower()
        counts[suffix] = counts.get(suffix, 0) + 1
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0])))


def _list(wording: Wording, names: Sequence[DocumentName]) -> list[Line]:
    lines: list[Line] = [[f"{wording.overview.format(documents=wording.some(len(names)))}\n"]]
    lines += [[f"- **{_title(name.title)}** ({as_text(name.place)})"] for name in names[:LISTED_DOCUMENTS]]
    if len(names) > LISTED_DOCUMENTS:
        lines.append([f"- {wording.more.format(count=len(names) - LISTED_DOCUMENTS)}"])
    return lines


def _overview(corpus: Corpus, names: Sequence[DocumentName], begins: str, wording: Wording) -> list[Line]:
    """Return a line for each document, or for a few representative ones."""
    shown = list(names)
    if len(shown) > OVERVIEW_DOCUMENTS:
        shown = shown[:: -(-len(shown) // COMPARED_DOCUMENTS)]
        parents = corpus.documents.parent_vectors(name.version for name in shown)
        documents = corpus.documents.get_versions(parents)
        there = [name for name in shown if name.version in documents]
        vectors = np.array([centroid(parents[name.version], documents[name.version]) for name in there], np.float32)
        shown = [there[place] for place in sorted(diverse(vectors, OVERVIEW_DOCUMENTS))]
    lines: list[Line] = [[f"{begins}\n"]]
    for document in _read(corpus, shown):
        title = f"- **{_title(document.title)}**"
        if _is_table(document):
            lines.append([f"{title}: {_columns(document, wording)}"])
        elif said := headings(document)[:OVERVIEW_HEADINGS] or summarise(corpus, document, 1):
            lines.append([f"{title}:", said])
        else:
            lines.append([title])
    if len(names) > len(shown):
        lines.append([f"- {wording.more.format(count=len(names) - len(shown))}"])
    return lines


def _summary(corpus: Corpus, name: DocumentName, wording: Wording) -> list[Line] | None:
    documents = _read(corpus, [name])
    if not documents:  # removed a moment ago
        return None
    document = documents[0]
    title = f"**{_title(document.title)}**"
    if _is_table(document):
        return [[f"{title}. {_columns(document, wording)}"]]
    parts = headings(document)
    lines: list[Line] = [[title], [""]]
    if parts:
        lines = [[f"{title}. {wording.parts}", parts], [""]]
    sentences = min(SUMMARY_SENTENCES, 2 + len(document.tree.leaves) // LEAVES_A_SENTENCE)
    for said in summarise(corpus, document, sentences):
        lines.append([f"- **{_title(said.heading)}**:" if said.heading else "-", [said]])
    return lines


def _history(corpus: Corpus, name: DocumentName) -> list[Line] | None:
    """Return what a document says happened, in its order; None if it has next to no dates."""
    documents = _read(corpus, [name])
    if not documents or _is_table(documents[0]):
        return None
    dated = summarise(corpus, documents[0], SUMMARY_SENTENCES, dated=True)
    if len(dated) < LEAST_DATED:
        return None
    lines: list[Line] = [[f"**{_title(documents[0].title)}**"], [""]]
    return lines + [["-", [extract]] for extract in dated]


def _is_table(document: StoredDocument) -> bool:
    return document.content_type in TABLES


def _columns(document: StoredDocument, wording: Wording) -> str:
    header, *rows = re.split(r"\n\n", document.text)
    return f"{wording.table.format(count=len(rows))} {as_text(header.replace(' | ', ', '))}."


def _about(corpus: Corpus, topic: str, names: Sequence[DocumentName]) -> Sequence[DocumentName]:
    """Return the document in whose text the words of a topic stand most, if it is in the catalogue."""
    return _by_words(corpus, topic, names)[:1]


def _described(corpus: Corpus, topic: str, names: Sequence[DocumentName]) -> Sequence[DocumentName]:
    """Return the only document that has every word of a topic of several: "the cold room failure at the food bank"."""
    index = corpus.lexical_index
    asked = set(index.query_terms(topic))
    if len(asked) < MIN_DESCRIBING_TERMS:
        return ()
    near = _by_words(corpus, topic, names)[:DESCRIBED_DOCUMENTS]
    fitting = {
        one.version
        for one in _read(corpus, near)
        if asked.issubset(index.terms(f"{one.title} {one.doc_id} {one.text}"))
    }
    return [name for name in near if name.version in fitting] if len(fitting) == 1 else ()


def _by_words(corpus: Corpus, topic: str, names: Sequence[DocumentName]) -> list[DocumentName]:
    """Return the documents that hold words of a topic, the one in whose text they stand most first."""
    index = corpus.lexical_index
    versions = {name.version: name for name in names}
    worth: dict[str, float] = {}
    for leaf, score in index.search({term: 1.0 for term in index.query_terms(topic)}, (), 20, list(versions)):
        version = leaf.rpartition(".")[0]
        worth[version] = worth.get(version, 0.0) + score
    return [versions[version] for version in sorted(worth, key=worth.__getitem__, reverse=True)]


def _read(corpus: Corpus, names: Iterable[DocumentName]) -> list[StoredDocument]:
    found = corpus.documents.get_versions([name.version for name in names])
    return [found[name.version] for name in names if name.version in found]


def _written(line: Line, answer: Answer) -> str:
    return " ".join(piece if isinstance(piece, str) else _cited(piece, answer) for piece in line)


def _cited(quotes: Sequence[Extract], answer: Answer) -> str:
    numbered = ((quote.text, answer.citations.cite(quote.passage, quote.start, quote.end)) for quote in quotes)
    return "; ".join(f"{as_quote(text)} [{number}]" for text, number in numbered)


def _passages(lines: Iterable[Line]) -> tuple[Passage, ...]:
    quotes = (quote for line in lines for piece in line if not isinstance(piece, str) for quote in piece)
    return tuple({(quote.passage.corpus, quote.passage.chunk_id): quote.passage for quote in quotes}.values())


def _title(title: str) -> str:
    return as_text(" ".join(title.split())).replace("*", "")
