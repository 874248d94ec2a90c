"""Which retrieval metrics a row gets, and why not the others."""

import pytest

from eval.cells import Cell, not_applicable, scored
from eval.scoring.catalogue import names_of
from eval.scoring.offline.retrieval import score_retrieval
from tests.fakes.eval_rows import answered, case, declined, seen, unreplied

PASSAGES = (seen("one", "other.pdf"), seen("net sales 12", "folder/report.pdf", pages=(3,)))


@pytest.mark.promise("G15")
def test_relevant_documents_are_looked_for_by_rank() -> None:
    cells = score_retrieval(case(relevant_docs=["report.pdf"]), answered("12", passages=PASSAGES))

    assert [cells[name] for name in ("doc@1", "doc@3", "doc@10", "mrr")] == [*map(scored, (0, 1, 1, 0.5))]
    assert cells["ndcg@10"] == not_applicable("the case grades no documents")


def test_graded_documents_are_relevant_ones_unless_they_gain_nothing() -> None:
    cells = score_retrieval(case(relevance={"other.pdf": 0, "report.pdf": 1}), answered("12", passages=PASSAGES))

    assert cells["doc@1"] == scored(0)
    assert cells["mrr"] == scored(0.5)
    assert cells["ndcg@10"].score == pytest.approx(0.6309, abs=1e-4)  # 1 / log2(3)


def test_evidence_is_looked_for_as_text_and_as_a_page() -> None:
    evidence = [{"doc": "report.pdf", "page_index": 3, "text": "Net sales: 12."}]
    row = answered("12", passages=PASSAGES[1:])

    cells = score_retrieval(case(answer="12", evidence=evidence), row)

    assert cells["evidence@2000"] == cells["page@2000"] == scored(1)
    assert cells["answer@2000"] == not_applicable("the case's evidence is looked for instead")


def test_a_declined_question_is_scored_by_what_was_found() -> None:
    assert score_retrieval(case(answer="12"), declined(passages=PASSAGES))["answer@2000"] == scored(1)


def test_a_service_that_tells_no_passages_is_not_measured_by_them() -> None:
    told = score_retrieval(case(answer="12"), answered("12"))["answer@2000"]
    nameless = score_retrieval(case(relevant_docs=["a"]), answered("12", passages=[seen("12")]))["mrr"]

    assert told == not_applicable("the service reports no passages")
    assert nameless == not_applicable("the service does not tell the passages' documents")


def test_a_service_that_told_its_fingerprint_and_found_nothing_scores_0() -> None:
    assert score_retrieval(case(answer="12"), declined(fingerprint="f0"))["answer@2000"] == scored(0)


def test_pages_are_not_measured_where_none_are_told() -> None:
    evidence = [{"doc": "report.pdf", "page_index": 3, "text": "Net sales: 12."}]
    cells = score_retrieval(case(evidence=evidence), answered("12", passages=[seen("net sales 12", "report.pdf")]))

    assert cells["page@2000"] == not_applicable("the service does not tell the passages' pages")
    assert cells["evidence@2000"] == scored(1)


def test_a_row_without_reply_has_failed_in_what_its_case_allows_and_nothing_else() -> None:
    cells = score_retrieval(case(relevant_docs=["a"]), unreplied())

    assert cells["mrr"] == Cell(failed="no reply: the service took more than 5 s")
    assert {name for name, cell in cells.items() if cell.failed} == {"doc@1", "doc@3", "doc@10", "mrr"}


def test_every_metric_has_a_cell_in_every_row() -> None:
    names = list(names_of("retrieval"))

    for row in (answered("12", passages=PASSAGES), declined(), unreplied()):
        assert list(score_retrieval(case(answer=None), row)) == names
        assert {cell.not_applicable for cell in score_retrieval(case(answer=None), row).values()} == {
            "the corpus does not answer the question"
        }


def test_reference_contexts_are_looked_for_by_their_runs_of_words() -> None:
    eight, other = "the rotor turns a shaft that drives generators", "nobody knows what the wind does at night"
    row = answered("12", passages=[seen("x " * 1000), seen(f"Here {eight}.")])

    cells = score_retrieval(case(reference_contexts=[eight, other]), row)

    assert [cells[f"context@{budget}"].score for budget in (2000, 4000, 8000)] == [0, 0.5, 0.5]
    assert score_retrieval(case(answer="12"), row)["context@2000"] == not_applicable(
        "the case has no reference context"
    )
