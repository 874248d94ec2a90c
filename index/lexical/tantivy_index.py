"""BM25 over the leaves: tantivy, on disk, committed crash-safe.

Flow: ingestion adds each leaf's text and its document's names; the lexical retriever searches. Derived from
`documents/store.py`. The only file, beside `analyzers.py`, that knows tantivy. Its analyzer also defines what a "term"
is for everything that weighs words (the gate, the extractive synthesizer), so that all of them agree; for questions in
other languages than English `foreign_words.py` does.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import tantivy

from index.disk import failure
from index.hits import Hits, best, side_by_side
from index.lexical.analyzers import index_analyzer
from index.lexical.document_names import document_names
from index.lexical.foreign_words import ForeignWords, words_in
from index.lexical.language import function_words, question_language
from index.lexical.term_index import NameTerms, TermQuery
from index.lexical.unspaced import pairs_for_runs
from index.plain_letters import plain_letters

ANALYZER = "treeline_en"
# "m^2" is written m², too; behind a longer word or a number it is a power.
_UNIT_POWER = re.compile(r"(?<![^\W\d_]{4})(?<=[^\W\d_])\^(?=\d)")
# A name is short: a hit in it says less about the leaf than a hit in its own text.
NAMES_BOOST = 0.5
MAX_QUERY_TERMS = 64
# Sums of that many different powers of two are exact in a score's 24 bits.
MARKS = 24
KEPT_NAMES = 20_000
# A run that was asked to stop does so between batches of this size.
ADDED_ROWS = 500
# What a term's frequency multiplies its weight by at most: k1 + 1 of tantivy's BM25, whose k1 is 1.2.
MAX_FREQUENCY_FACTOR = 2.2
# Few: no search finds a word that is left out here. `query_engine/text/content_words.py` adds those that say nothing.
STOP_WORDS = frozenset(
    "a about an and any are as at be been but by can could did do does for from had has have how i if in into is it "
    "its me my no not of on or our should so such than that the their them then there these they this those to was we "
    "were what when where which who whom whose why will with would you your".split()
)


class LexicalIndex:
    """Leaves of one corpus by their words, or of several (`joined`). One process writes; many threads may search.

    Args:
        path: folder of the index; made when missing. None keeps it in memory.
        read_only: another process writes; what it had committed when this was opened is seen, and nothing later.

    Every method raises IndexDamagedError where the index is damaged, StorageError where the disk is full or refuses.
    """

    def __init__(self, path: Path | None, *, read_only: bool = False) -> None:
        self._analyzer = index_analyzer()
        self._schema = _schema()
        self._path = path
        if read_only and path and not path.exists():
            path = None  # nothing is written yet
        with self._failures():
            if path:
                path.mkdir(parents=True, exist_ok=True)
            self._index = tantivy.Index(self._schema, path=str(path) if path else None)
            self._index.register_tokenizer(ANALYZER, self._analyzer)
            if read_only:
                self._index.config_reader(reload_policy="manual")  # else it follows the writer within a question
            self._index.reload()
        self._is_stored = path is not None
        self._parts: Sequence[LexicalIndex] = (self,)
        self._hidden: Sequence[str] = ()
        self._hidden_leaves = 0
        self._name_terms = lru_cache(KEPT_NAMES)(self._analyze_names)
        self._foreign = lru_cache(None)(self._words_in)

    @classmethod
    def joined(cls, members: Sequence["LexicalIndex"]) -> "LexicalIndex":
        """Return several indexes as one, to search only.

        Scores of BM25 are comparable once every term weighs the same everywhere: its rarity is counted over the leaves
        of all. Only the average length of a leaf, which BM25 divides by, stays each index's own.
        """
        joined = copy(members[0])
        joined._parts = members
        joined._foreign = lru_cache(None)(joined._words_in)
        return joined

    def without(self, versions: Collection[str]) -> "LexicalIndex":
        """Return the index as if it did not hold the leaves of these document versions, to search only."""
        view = copy(self)
        view._hidden, view._hidden_leaves = list(versions), self.count_versions(versions)
        view._parts = (view,)
        view._foreign = lru_cache(None)(view._words_in)
        return view

    def add(self, leaves: Iterable[tuple[str, str, str, str]], stopping: Callable[[], bool] = lambda: False) -> None:
        """Add (node id, version, text, names) rows and commit; none of them once `stopping` returns true."""
        with self._writer() as writer:
            for place, (node_id, version, text, names) in enumerate(leaves):
                if place % ADDED_ROWS == 0 and stopping():
                    writer.rollback()
                    return
                fields = {"text": _searchable(text), "names": _searchable(names)}
                writer.add_document(tantivy.Document(node_id=node_id, version=version, **fields))

    def delete(self, versions: Sequence[str]) -> None:
        """Remove all leaves of these document versions and commit; unknown versions are not an error."""
        if not versions:
            return
        with self._writer() as writer:
            for version in versions:
                writer.delete_documents_by_term("version", version)

    def probe(self) -> None:
        """Open the files once more: what is open goes on reading those that were deleted or replaced."""
        if self._is_stored:
            with self._failures():
                tantivy.Index.open(str(self._path)).searcher()

    def count(self) -> int:
        """Number of leaves."""
        return sum(int(part._index.searcher().num_docs) - part._hidden_leaves for part in self._parts)

    def versions(self) -> set[str]:
        """Return the document versions of all leaves, and some that were removed lately."""
        with self._failures():
            return {term for term, _ in self._index.searcher().terms_with_prefix("version", "")}

    def count_versions(self, versions: Collection[str]) -> int:
        """Number of leaves of these document versions."""
        if not versions:
            return 0
        return self._count(tantivy.Query.term_set_query(self._schema, "version", list(versions)))

    def terms(self, text: str) -> list[str]:
        """Return the terms of `text` in order: lower-case, without accents, stemmed; stop words included.

        Ligatures, wide letters and subscripts are plain ones, and so are superscripts, but for powers: 10⁶ is 10 and 6.

        Chinese and Japanese are cut into overlapping pairs of characters.
        """
        return list(self._analyzer.analyze(_searchable(text)))

    def name_terms(self, title: str, doc_id: str) -> NameTerms:
        """Return the terms of a document's names; those asked for last are kept."""
        return self._name_terms(title, doc_id)

    def query_terms(self, question: str) -> list[str]:
        """Return the distinct terms worth searching, at most 64, rarest first.

        Stop words are left out unless the question has nothing else.
        """
        distinct = dict.fromkeys(self.terms(" ".join(search_words(question))) or self.terms(question))
        return sorted(distinct, key=self.weight, reverse=True)[:MAX_QUERY_TERMS]

    def weight(self, term: str) -> float:
        """Inverse document frequency of a term over the leaves: ln(1 + (N - n + 0.5) / (n + 0.5)), above 0.

        The idf of Robertson and Sparck Jones as BM25 uses it; a term that no leaf holds weighs most.
        """
        return self._weight("text", term)

    def name_weight(self, term: str) -> float:
        """Return what `weight` returns, counted over the names of the leaves' documents."""
        return self._weight("names", term)

    def words_of(self, question: str) -> "LexicalIndex | ForeignWords":
        """Return these words as the language of a question sees them: of English, as they are."""
        return self._foreign(question_language(question))

    def any_of(self, forms: Sequence[str]) -> TermQuery:
        """Return what finds the leaves that hold at least one of these terms; each scores as all together would."""
        if len(forms) == 1:
            weight = self.weight(forms[0])
        else:
            weight = self._idf(
                self._count(tantivy.Query.disjunction_max_query([self._term_query(form) for form in forms]))
            )
        return TermQuery(lambda part: part._scored(forms, weight), weight)

    def any_with(self, character: str) -> TermQuery:
        """Return what finds the leaves that hold a Chinese character, in whichever pair."""
        pairs = tantivy.Query.regex_query(self._schema, "text", f"{character}.?|.{character}")
        weight = self._idf(self._count(pairs))
        return TermQuery(lambda _: tantivy.Query.const_score_query(pairs, weight), weight)

    def beginning_with(self, letters: str) -> list[str]:
        """Return the terms of all leaves that begin so, sorted."""
        found: set[str] = set()
        for part in self._parts:
            with part._failures():
                terms = [term for term, _ in part._index.searcher().terms_with_prefix("text", letters)]
            found.update(term for term in terms if not part._hidden or part._holding("text", term))
        return sorted(found)

    def has(self, term: str) -> bool:
        """Say whether a leaf, or the name of a document, holds a term."""
        return any(self.containing(field, term) for field in ("text", "names"))

    def search(
        self, terms: Mapping[str, float], names: Iterable[str], top_k: int, versions: Collection[str] | None = None
    ) -> Hits:
        """Return (node id, BM25 score) of the best leaves, best first; `[]` when no word occurs.

        Args:
            terms: term -> weight above 0, looked for in the leaves' text.
            names: terms looked for in the names of their documents, where they count half.
            top_k: how many leaves.
            versions: only leaves of these document versions, None meaning all; scores are the same with all others.
        """
        queries = [(self.any_of([term]).query, weight) for term, weight in terms.items()]
        return self.search_queries(queries, names, top_k, versions)

    def search_queries(
        self,
        queries: Iterable[tuple[Any, float]],
        names: Iterable[str],
        top_k: int,
        versions: Collection[str] | None = None,
    ) -> Hits:
        """Return what `search` returns, for (`TermQuery.query`, weight above 0)."""
        weighed, called = list(queries), {term: self.name_weight(term) for term in names}
        if not weighed and not called:
            return []

        def search(part: LexicalIndex) -> Hits:
            clauses = [_clause(query(part), weight) for query, weight in weighed]
            for term, weight in called.items():
                named = tantivy.Query.term_query(self._schema, "names", term)
                clauses.append(_clause(named, NAMES_BOOST * weight / part.name_weight(term)))
            with part._failures():
                searcher = part._index.searcher()
                query = part._within(tantivy.Query.boolean_query(clauses), versions)
                hits = searcher.search(query, limit=top_k, count=False).hits
                return [(str(searcher.doc(address)["node_id"][0]), float(score)) for score, address in hits]

        return best(side_by_side(search, self._parts), top_k)

    def held(self, terms: Iterable[str], node_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return leaf -> those of `terms` that its text holds; none for a leaf that is not there.

        No text is read: each term scores a different power of two, so a leaf's score tells its terms.
        """
        return self.held_queries({term: self.any_of([term]).query for term in terms}, node_ids)

    def held_queries(self, terms: Mapping[str, Any], node_ids: Collection[str]) -> dict[str, frozenset[str]]:
        """Return what `held` returns, for terms with their `TermQuery.query`."""
        found: dict[str, frozenset[str]] = dict.fromkeys(node_ids, frozenset())
        distinct = list(terms) if found else []
        leaves = tantivy.Query.term_set_query(self._schema, "node_id", list(found))
        for part, start in product(self._parts, range(0, len(distinct), MARKS)):
            marked = distinct[start : start + MARKS]
            clauses = [(tantivy.Occur.Must, tantivy.Query.const_score_query(leaves, 0.0))]
            for bit, term in enumerate(marked):
                score = float(1 << bit)
                clauses.append((tantivy.Occur.Should, tantivy.Query.const_score_query(terms[term](part), score)))
            with part._failures():
                searcher = part._index.searcher()
                hits = searcher.search(tantivy.Query.boolean_query(clauses), limit=len(found), count=False).hits
                for score, address in hits:
                    there = frozenset(term for bit, term in enumerate(marked) if int(score) >> bit & 1)
                    found[str(searcher.doc(address)["node_id"][0])] |= there
        return found

    def holding(self, text: str, versions: Collection[str] | None = None) -> list[str]:
        """Return the node ids of all leaves that hold every term of `text`; `[]` where it has none."""
        terms = dict.fromkeys(self.terms(text))
        clauses = [(tantivy.Occur.Must, self._term_query(term)) for term in terms]
        found: list[str] = []
        for part in self._parts if terms else ():
            with part._failures():
                searcher = part._index.searcher()
                if searcher.num_docs:
                    query = part._within(tantivy.Query.boolean_query(clauses), versions)
                    hits = searcher.search(query, limit=searcher.num_docs, count=False).hits
                    found += [str(searcher.doc(address)["node_id"][0]) for _, address in hits]
        return found

    def _analyze_names(self, title: str, doc_id: str) -> NameTerms:
        return NameTerms(frozenset(self.terms(title)), frozenset(self.terms(document_names(title, doc_id))))

    def _term_query(self, term: str) -> Any:
        return tantivy.Query.term_query(self._schema, "text", term)

    def _scored(self, forms: Sequence[str], weight: float) -> Any:
        """Return the query for any of these terms, with the score of a term of this weight."""
        queries = [_boosted(self._term_query(form), weight / self.weight(form)) for form in forms]
        return queries[0] if len(queries) == 1 else tantivy.Query.disjunction_max_query(queries)

    def _words_in(self, language: str) -> "LexicalIndex | ForeignWords":
        return words_in(self, language) or self

    def _count(self, query: Any) -> int:
        counts = 0
        for part in self._parts:
            with part._failures():
                # Its stub leaves `count` out.
                found: Any = part._index.searcher().search(part._within(query, None), limit=1)
                counts += int(found.count)
        return counts

    def _within(self, query: Any, versions: Collection[str] | None) -> Any:
        clauses = [(tantivy.Occur.Must, query)]
        if versions is not None:
            scope = tantivy.Query.term_set_query(self._schema, "version", list(versions))
            # At 0, so that being in the scope adds nothing to a score.
            clauses.append((tantivy.Occur.Must, tantivy.Query.const_score_query(scope, 0.0)))
        if self._hidden:
            hidden = tantivy.Query.term_set_query(self._schema, "version", list(self._hidden))
            clauses.append((tantivy.Occur.MustNot, hidden))
        return tantivy.Query.boolean_query(clauses) if clauses[1:] else query

    def containing(self, field: str, term: str) -> int:
        """Return how many leaves hold a term, in their `text` or in the `names` of their documents."""
        return sum(part._holding(field, term) for part in self._parts)

    def _holding(self, field: str, term: str) -> int:
        if self._hidden:
            return self._count(tantivy.Query.term_query(self._schema, field, term))
        searcher = self._index.searcher()
        return min(int(searcher.doc_freq(field, term)), int(searcher.num_docs))

    def _weight(self, field: str, term: str) -> float:
        return self._idf(self.containing(field, term))

    def _idf(self, containing: int) -> float:
        return math.log(1 + (self.count() - containing + 0.5) / (containing + 0.5))

    def ids(self) -> Iterator[str]:
        """Yield the node id of every leaf."""
        with self._failures():
            searcher = self._index.searcher()
            total = searcher.num_docs
            if total:
                for _, address in searcher.search(tantivy.Query.all_query(), limit=total, count=False).hits:
                    yield str(searcher.doc(address)["node_id"][0])

    @contextmanager
    def _writer(self) -> Iterator[Any]:
        """Commit what is written within. tantivy's own context does so, too, but hides that a commit failed."""
        with self._failures():
            writer = self._index.writer(heap_size=64_000_000, num_threads=1)
            try:
                # A commit that was cut off leaves files under names that the same commit would give again, and fail.
                writer.garbage_collect_files()
                yield writer
                writer.commit()
            finally:
                writer.wait_merging_threads()
            self._index.reload()
            self._foreign.cache_clear()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (ValueError, OSError, RuntimeError) as error:  # tantivy raises these for any cause
            raise failure("The word index", error, self._path) from error


def search_words(question: str) -> list[str]:
    """Return the question's words, as written, without the stop words of its language and possessive endings."""
    language = question_language(question)
    stop = STOP_WORDS if language == "en" else STOP_WORDS | function_words(language)
    return [word for word in question.replace("'s", " ").split() if word.strip("?!.,;:()\"'¿¡").lower() not in stop]


def _searchable(text: str) -> str:
    return pairs_for_runs(_UNIT_POWER.sub("", plain_letters(text)))


def _boosted(query: Any, boost: float) -> Any:
    return query if boost == 1 else tantivy.Query.boost_query(query, boost)


def _clause(query: Any, boost: float) -> tuple[Any, Any]:
    return tantivy.Occur.Should, _boosted(query, boost)


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("node_id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("version", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("text", tokenizer_name=ANALYZER, index_option="freq")
    builder.add_text_field("names", tokenizer_name=ANALYZER, index_option="freq")
    return builder.build()
