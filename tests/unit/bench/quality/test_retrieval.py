"""Systems are asked the same questions, and the table says what was compared."""

from collections.abc import Sequence
from dataclasses import replace

from bench.quality.retrieval import compare, table
from eval.cases import Case, Evidence
from eval.cells import Mean
from tests.fakes.eval_rows import Found
from tests.fakes.tables import plain_rows


def always(*found: Found) -> "Retriever":
    return Retriever(found)


class Retriever:
    """Finds the same for every question, and remembers the questions."""

    def __init__(self, found: Sequence[Found]) -> None:
        self.found = found
        self.asked: list[str] = []

    def __call__(self, question: str) -> Sequence[Found]:
        self.asked.append(question)
        return self.found


CASES = [
    Case(id="1", question="First?", relevant_docs=("a.txt",)),
    Case(id="2", question="Second?", relevant_docs=("b.txt",)),
]


def test_every_system_is_asked_every_question_and_scored() -> None:
    stock, ours = always(Found("a.txt")), always(Found("b.txt"), Found("a.txt"))

    comparison = compare("wind", CASES, {"stock": stock, "ours": ours})

    assert stock.asked == ours.asked == ["First?", "Second?"]
    assert comparison.means["stock"]["mrr"] == Mean(0.5, n=2, of=2)
    assert comparison.means["ours"]["mrr"] == Mean(0.75, n=2, of=2)
    assert comparison.scores["ours"]["1"]["mrr"] == 0.5
    assert comparison.median_ms.keys() == {"stock", "ours"}


def test_a_system_without_pages_is_not_measured_by_them() -> None:
    case = Case(id="1", question="Q?", evidence=(Evidence(doc="r.pdf", page_index=0, text="net sales"),))
    paged, unpaged = always(Found("r.pdf", "net sales", (0,))), always(Found("r.pdf", "net sales"))

    comparison = compare("reports", [case], {"stock": unpaged, "ours": paged})

    assert comparison.means["ours"]["page@2000"] == Mean(1.0, n=1, of=1)
    assert "page@2000" not in comparison.means["stock"]
    rows = plain_rows(table([comparison]))
    assert "| reports | page@2000 | 1 | – | 1.000 |  |" in rows
    assert "| **reports** | **mean** | 3 metrics | 1.000 | 1.000 |  |" in rows


def test_a_paged_system_that_finds_nothing_once_scores_0_there() -> None:
    evidence = (Evidence(doc="r.pdf", page_index=0, text="net sales"),)
    cases = [Case(id="1", question="Known?", evidence=evidence), Case(id="2", question="Lost?", evidence=evidence)]

    def retrieve(question: str) -> list[Found]:
        return [Found("r.pdf", "net sales", (0,))] if question == "Known?" else []

    assert compare("reports", cases, {"ours": retrieve}).means["ours"]["page@2000"] == Mean(0.5, n=2, of=2)


def test_the_table_shows_each_metric_with_n_and_the_difference_in_questions() -> None:
    comparison = compare("wind", CASES, {"stock": always(), "ours": always(Found("a.txt"))})

    assert plain_rows(table([replace(comparison, median_ms={"stock": 20.0, "ours": 16.04})])) == [
        "| set | metric | n | stock | ours | diff |",
        "| wind | doc@1 | 2 | 0.000 | 0.500 | +1.0 |",
        "| wind | doc@3 | 2 | 0.000 | 0.500 | +1.0 |",
        "| wind | mrr | 2 | 0.000 | 0.500 | +1.0 |",
        "| **wind** | **mean** | 3 metrics | 0.000 | 0.500 |  |",
        "| wind | one retrieval, p50, ms | 2 | 20.0 | 16.0 |  |",
    ]


def test_budgets_stand_in_rising_order_and_several_sets_have_a_mean_over_all() -> None:
    short = compare("names", [Case(id="1", question="Q?", answer="Bell")], {"ours": always(Found("a", "Bell"))})
    docs = compare("wind", CASES[:1], {"ours": always()})

    rows = plain_rows(table([short, docs]))

    assert [row.split(" | ")[1] for row in rows[1:4]] == ["answer@2000", "answer@4000", "answer@8000"]
    assert rows[-1] == "| **all** | **mean** | 6 metrics | 0.500 |  |"
