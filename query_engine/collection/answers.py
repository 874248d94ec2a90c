"""Answer questions about the collection.

Flow: engine -> `recognition.py` -> **here**, from the catalogue -> events of a whole answer, or nothing: then the
question is searched for. Needs neither a language model nor the search; titles and counts are not cited.
"""

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from index.corpus import Corpus
from index.documents.catalogue import DocumentName
from query_engine import steps
from query_engine.collection.languages import Language
from query_engine.collection.listing import LISTED
from query_engine.collection.recognition import recognise
from query_engine.schema.events import Event, Retrieved
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.markdown_escape import as_text


def answer_about_collection(
    corpus: Corpus, answer: Answer, filters: Mapping[str, Any] | None
) -> Generator[Event, None, bool]:
    """Yield a whole answer if the question is about the collection and there are documents; return whether it was.

    Args:
        corpus: the collection.
        answer: with the question; it grows.
        filters: only documents that meet this filter are there.

    Raises:
        FilterError: the filter is empty or has no meaning.
    """
    asked = recognise(answer.question)
    names = corpus.catalogue.names(filters) if asked else ()
    if asked is None or not names:
        return False
    kind, language = asked
    yield steps.about_collection(kind, len(names))
    answer.begin("catalogue")
    yield Retrieved(())
    yield answer.add(_counted(names, language) if kind == "count" else _listed(names, language), 0)
    yield answer.done("generated_answer")
    return True


def _counted(names: Sequence[DocumentName], language: Language) -> str:
    kinds = Counter(name.content_type for name in names)
    formats = ", ".join(f"{kinds[kind]} {as_text(kind)}" for kind in sorted(kinds, key=lambda one: (-kinds[one], one)))
    return language.counted.format(documents=language.some(len(names)), kinds=formats)


def _listed(names: Sequence[DocumentName], language: Language) -> str:
    lines = [f"{language.listed.format(documents=language.some(len(names)))}\n"]
    lines += [f"- **{_title(name.title)}** ({as_text(name.place)})" for name in names[:LISTED]]
    if len(names) > LISTED:
        lines.append(f"- {language.more.format(count=len(names) - LISTED)}")
    return "\n".join(lines)


def _title(title: str) -> str:
    return as_text(" ".join(title.split())).replace("*", "")
