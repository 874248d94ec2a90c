"""Find the documents that a question calls by their name: "the lease", "minutes of February", "cafe-agreement.docx".

Flow: `recognition.py` cuts the name out of the question -> **here**, against titles and paths in the catalogue ->
`answers.py` sums them up. Titles and paths are compared by the index's own terms, so that "policies" finds "policy";
a mistyped word finds the term nearest to it.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from index.corpus import Corpus
from index.documents.catalogue import DocumentName

MIN_MISTYPED_CHARS = 5
MIN_LIKENESS = 0.8
# Of two titles that contain the name, the much longer one is not meant.
NEARLY_BEST = 0.6
# So much of the only title that fits: "Lady Thessaly" of "PS Lady Thessaly".
MOSTLY_SAID = 0.65
# A name of so many words may have one that the document does not: "the accident at the print shop".
MIN_TERMS_BUT_ONE = 3
_AFTER_HEAD = re.compile(r"\b(?:of|at|in|on|from|for|about|to|by|with)\b", re.IGNORECASE)
_SUFFIX = re.compile(r"\.[a-z]\w{1,5}\Z", re.IGNORECASE)
# What a document is called by its kind; "what is in the lease?" asks for a document, "what is in bread?" for none.
_KINDS = (
    "agreement article bill book booklet brochure catalogue certificate chapter contract decision directive document "
    "email "
    "essay faq file flyer form glossary guide guideline guidelines handbook instructions inventory invoice lease "
    "leaflet "
    "letter list log mail manual memo memorandum minutes newsletter note notes notice offer order overview page "
    "paper plan "
    "policy presentation procedure proposal protocol readme receipt record regulation report resume rules sheet slides "
    "spreadsheet statement statutes study summary survey table terms thesis thread transcript treaty will "
    "anleitung antrag bericht brief handbuch mietvertrag ordnung plan protokoll rechnung satzung vertrag "
    "bail compte-rendu contrat facture guide lettre manuel procès-verbal rapport règlement "
    "acta carta contrato factura guía informe manual reglamento"
).split()


@dataclass(frozen=True, slots=True)
class Named:
    """Documents that a name fits.

    Attributes:
        documents: those that it fits best, in the catalogue's order; more than one where it fits several alike.
        surely: it is the whole title, or most of the only one that fits, or says the kind of the document: nothing but
            a document can be meant.
    """

    documents: tuple[DocumentName, ...] = ()
    surely: bool = False


def find_named(corpus: Corpus, name: str, documents: Sequence[DocumentName]) -> Named:
    """Return the documents whose title or path holds all words of `name`, else the only one that holds all but one.

    Args:
        corpus: whose terms are compared.
        name: as the question has it.
        documents: among which it is looked for.
    """
    index = corpus.lexical_index
    called = name.casefold()
    if exact := [
        one for one in documents if called in (one.doc_id.casefold(), _file_name(one.doc_id), one.title.casefold())
    ]:
        return Named(tuple(exact), surely=True)
    asked = index.query_terms(_SUFFIX.sub("", name))
    if not asked:
        return Named()
    # "The rescue team's finances" is not a document about the team.
    head = next((term for term in reversed(index.terms(_AFTER_HEAD.split(name)[0])) if term in asked), asked[0])
    fitting: list[tuple[float, DocumentName]] = []
    nearly: list[DocumentName] = []
    for document in documents:
        terms = index.name_terms(document.title, document.doc_id)
        held = [_held(term, terms.names) for term in asked]
        if None in held:
            if len(asked) >= MIN_TERMS_BUT_ONE and held.count(None) == 1 and _held(head, terms.names):
                nearly.append(document)
            continue
        found = {term for term in held if term}
        # How much of the title was said, "of" and "the" left out.
        said = len(found & terms.title) / (len(set(index.query_terms(document.title))) or 1)
        fitting.append((said, document))
    if not fitting:
        return Named(tuple(nearly) if len(nearly) == 1 else ())
    best = max(said for said, _ in fitting)
    whole = best >= 1
    chosen = [document for said, document in fitting if said >= (1 if whole else NEARLY_BEST * best)]
    kinds = {term for kind in _KINDS for term in index.terms(kind)}
    mostly = len(chosen) == 1 and best >= MOSTLY_SAID and len(asked) > 1
    surely = whole or mostly or bool(kinds & set(asked))
    return Named(tuple(chosen), surely)


def _file_name(doc_id: str) -> str:
    return doc_id.rpartition("/")[2].casefold()


def _held(term: str, names: Collection[str]) -> str | None:
    """Return the term of a name that is meant, or None."""
    if term in names:
        return term
    if len(term) < MIN_MISTYPED_CHARS or not term.isalpha():
        return None
    near = process.extractOne(term, names, scorer=OSA.normalized_similarity, score_cutoff=MIN_LIKENESS)
    return None if near is None else str(near[0])
