"""Score what the answer was written from: is the right document there, how high, and what of the answer can be read?

Flow: `build.py` -> **here** -> `stage.py`. The arithmetic is `eval/metrics.py`'s, the same for the measurements of
`bench/`; here it is decided what a row lacks. Only passages that the service reports are scored.
"""

from eval.cases import Case
from eval.cells import failed, not_applicable, scored
from eval.metrics import BUDGETS_CHARS, distinct_docs, hit_at, read_within, score_passages, shingle_recall
from eval.rows import Row
from eval.scoring.catalogue import names_of
from eval.scoring.stage import Cells, failed_for

_OF_PAGES = tuple(f"page@{budget}" for budget in BUDGETS_CHARS)
_OF_DOCUMENTS = ("doc@1", "doc@3", "doc@10", "mrr", "ndcg@10", *_OF_PAGES)
_CASE_LACKS = {
    **dict.fromkeys(("doc", "mrr"), "the case names no relevant document"),
    "ndcg": "the case grades no documents",
    **dict.fromkeys(("evidence", "page"), "the case names no evidence"),
}


def score_retrieval(case: Case, row: Row) -> Cells:
    """Return every retrieval metric of one row."""
    case = _with_relevant_docs(case)
    scores = {} if case.unanswerable else score_passages(case, row.passages)
    if case.relevant_docs and not case.unanswerable:
        scores["doc@10"] = hit_at(distinct_docs(row.passages), case.relevant_docs, 10)
    if case.references and not case.evidence and not case.unanswerable:
        for budget in BUDGETS_CHARS:
            scores[f"context@{budget}"] = shingle_recall(read_within(row.passages, budget)[0], case.references)
    cells: Cells = {}
    for name in names_of("retrieval"):
        if name not in scores:
            cells[name] = not_applicable(_lacking(case, name))
        elif row.outcome == "failed":
            cells[name] = failed(failed_for(row))
        elif untold := _untold(row, name):
            cells[name] = not_applicable(untold)
        else:
            cells[name] = scored(scores[name])
    return cells


def _with_relevant_docs(case: Case) -> Case:
    """Graded documents are relevant ones too, unless their gain is 0."""
    graded = tuple(doc for doc, gain in case.relevance.items() if gain > 0)
    return case if case.relevant_docs or not graded else case.model_copy(update={"relevant_docs": graded})


def _lacking(case: Case, name: str) -> str:
    kind = name.partition("@")[0]
    if case.unanswerable:
        return "the corpus does not answer the question"
    if kind in _CASE_LACKS:
        return _CASE_LACKS[kind]
    if kind == "context" and not case.references:
        return "the case has no reference context"
    if case.evidence:
        return "the case's evidence is looked for instead"
    return "the case's answer is not of that length" if case.answer else "the case has no reference answer"


def _untold(row: Row, name: str) -> str:
    """Why the row cannot tell, although it has a reply; empty if it can."""
    if not row.passages:
        # A service with a fingerprint also sends passages: there were none.
        return "" if row.fingerprint else "the service reports no passages"
    if name in _OF_DOCUMENTS and not any(passage.doc_id for passage in row.passages):
        return "the service does not tell the passages' documents"
    if name in _OF_PAGES and not any(passage.pages for passage in row.passages):
        return "the service does not tell the passages' pages"
    return ""
