"""Every metric against a value computed by hand."""

from math import log2

import pytest

from eval.cases import Case, Evidence
from eval.cells import Mean
from eval.metrics import (
    contains,
    crag_score,
    distinct_docs,
    exact_match,
    hit_at,
    mean_scores,
    ndcg,
    read_within,
    reciprocal_rank,
    score_passages,
    shingle_recall,
    spoken,
    token_f1,
    word_recall,
    words,
)
from tests.fakes.eval_rows import Found


def case(**known: object) -> Case:
    return Case.model_validate({"id": "q", "question": "Q?", **known})


@pytest.mark.parametrize(
    ("text", "recall"),
    [
        ("The rotor turns a generator.", 2 / 3),
        ("ROTOR, generator & gearbox", 1.0),
        ("nothing of it", 0.0),
        ("", 0.0),
    ],
    ids=["two of three", "all, in any case", "none", "no text"],
)
def test_word_recall_counts_distinct_content_words(text: str, recall: float) -> None:
    assert word_recall(text, "the rotor, the gearbox and the generator of the rotor") == recall


def test_word_recall_of_a_reference_of_stop_words_is_0() -> None:
    assert word_recall("it is", "it is") == 0.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("built in the Netherlands, 1991", 1.0),
        ("built in  netherlands", 1.0),
        ("netherlandsish", 0.0),
        ("", 0.0),
    ],
    ids=["with another article and case", "without article", "inside a word", "no text"],
)
def test_containment_ignores_case_punctuation_and_articles_but_not_word_ends(text: str, found: float) -> None:
    assert contains(text, "The Netherlands") == found


def test_containment_wants_the_words_next_to_each_other() -> None:
    assert contains("solar heat and power", "solar power") == 0.0


def test_shingle_recall_counts_runs_of_eight_words() -> None:
    reference = "one two three four five six seven eight nine ten"  # 3 runs; the text below holds the first two

    assert shingle_recall("zero one two three four five six seven eight nine x ten", [reference]) == 2 / 3


def test_a_short_reference_is_one_run_among_the_others() -> None:
    long_reference = "a b c d e f g h"

    assert shingle_recall("a b c d e f g h", [long_reference, "net sales"]) == 0.5
    assert shingle_recall("net sales", ["net sales"]) == 1.0
    assert shingle_recall("total net sales", ["net sales"]) == 0.0


def test_documents_rank_by_their_best_passage() -> None:
    assert distinct_docs([Found("b"), Found("a"), Found("b"), Found("c")]) == ["b", "a", "c"]


def test_a_hit_counts_distinct_documents_and_compares_file_names() -> None:
    docs = ["x.txt", "folder/y.txt", "z.txt"]

    assert hit_at(docs, ["y.txt"], 1) == 0.0
    assert hit_at(docs, ["y.txt"], 3) == 1.0
    assert reciprocal_rank(docs, ["z.txt", "y.txt"]) == 1 / 2
    assert reciprocal_rank(docs, ["other.txt"]) == 0.0


def test_ndcg_weighs_grades_by_rank() -> None:
    gains = {"a": 3.0, "b": 1.0}
    best = 7 / log2(2) + 1 / log2(3)

    assert ndcg(["a", "b"], gains) == 1.0
    assert ndcg(["other", "b", "a"], gains) == pytest.approx((1 / log2(3) + 7 / log2(4)) / best)
    assert ndcg([], gains) == 0.0


def test_ndcg_looks_at_k_documents_on_both_sides() -> None:
    gains = {"a": 1.0, "b": 1.0, "c": 1.0}

    assert ndcg(["a", "b", "x"], gains, k=2) == 1.0
    assert ndcg(["x", "y", "a"], gains, k=2) == 0.0
    assert ndcg(["a"], {"a": 0.0}) == 0.0


def test_a_passage_that_crosses_the_budget_is_cut_there_and_its_pages_do_not_count() -> None:
    passages = [Found("d/one.pdf", "abcd", (0,)), Found("two.pdf", "efghij", (1, 2)), Found("three.pdf", "k", (3,))]

    assert read_within(passages, 8) == (" abcd efg", {("one.pdf", 0)})
    assert read_within(passages, 11) == (" abcd efghij", {("one.pdf", 0), ("two.pdf", 1), ("two.pdf", 2)})


def test_an_empty_ranking_reads_nothing() -> None:
    assert read_within([], 10) == ("", set())


def test_a_case_is_scored_only_by_what_it_knows() -> None:
    passages = [Found("a.txt", "It was flamines.")]

    assert score_passages(case(), passages) == {}
    assert score_passages(case(answer=None), passages) == {}
    assert score_passages(case(relevant_docs=("a.txt",)), passages) == {"doc@1": 1.0, "doc@3": 1.0, "mrr": 1.0}
    assert score_passages(case(relevance={"a.txt": 2}), passages) == {"ndcg@10": 1.0}
    assert score_passages(case(answer="Flamines"), passages) == dict.fromkeys(
        ("answer@2000", "answer@4000", "answer@8000"), 1.0
    )


def test_a_long_answer_is_scored_by_its_words_within_each_budget() -> None:
    filler = "x" * 2500
    passages = [Found("a", "rotor gearbox"), Found("a", filler), Found("a", "generator tower blade nacelle hub yaw")]

    assert score_passages(case(answer="rotor gearbox generator tower blade nacelle hub yaw"), passages) == {
        "recall@2000": 0.25,
        "recall@4000": 1.0,
        "recall@8000": 1.0,
    }


def test_evidence_replaces_the_answer_that_is_computed_from_it() -> None:
    evidence = (Evidence(doc="r.pdf", page_index=4, text="net sales 12"),)
    passages = [Found("reports/r.pdf", "net sales 12", (4,))]

    scores = score_passages(case(answer="93.86", evidence=evidence), passages)

    assert scores == {f"{metric}@{n}": 1.0 for metric in ("evidence", "page") for n in (2000, 4000, 8000)}


def test_a_right_page_of_another_document_is_no_hit() -> None:
    evidence = (Evidence(doc="r.pdf", page_index=4, text="net sales 12"),)

    assert score_passages(case(evidence=evidence), [Found("other.pdf", "x", (4,))])["page@8000"] == 0.0


def test_a_mean_counts_the_cases_that_allow_its_metric() -> None:
    means = mean_scores(
        [
            score_passages(case(relevant_docs=("a",)), [Found("a", "bell")]),
            score_passages(case(relevant_docs=("b",)), [Found("a"), Found("b")]),
            score_passages(case(answer="bell"), []),
        ]
    )

    assert means["doc@1"] == Mean(0.5, n=2, of=2)
    assert means["mrr"] == Mean(0.75, n=2, of=2)
    assert means["answer@2000"] == Mean(0.0, n=1, of=1)


@pytest.mark.parametrize(
    ("text", "f1", "exact"),
    [
        ("The Bath County plant", 2 * (2 / 3) * (2 / 2) / (2 / 3 + 2 / 2), 0),
        ("bath, COUNTY!", 1, 1),
        ("the the Bath County", 1, 1),
        ("bath bath", 2 * (1 / 2) * (1 / 2) / (1 / 2 + 1 / 2), 0),
        ("elsewhere", 0, 0),
        ("", 0, 0),
    ],
    ids=["a word too much", "case and punctuation", "articles", "a word said twice", "another", "nothing"],
)
def test_tokens_count_as_often_as_they_are_said(text: str, f1: float, exact: float) -> None:
    assert token_f1(text, "Bath County") == pytest.approx(f1)
    assert exact_match(text, "Bath County") == exact


def test_not_knowing_is_neither_right_nor_wrong() -> None:
    assert [crag_score(said, ["Betz"]) for said in (None, "I don't know.", " I don’t know", "Betz", "Newton")] == [
        0,
        0,
        0,
        1,
        -1,
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Don't panic: 3.5 MW_peak", ["don", "t", "panic", "3", "5", "mw", "peak"]),
        ("Fuß, ÜBER, naïve", ["fuß", "über", "naïve"]),
        ("efﬁcient m² ９０", ["efficient", "m2", "90"]),
        ("柏林 is ドイツ", ["柏", "林", "is", "ド", "イ", "ツ"]),
        ("베를린은 수도", ["베를린은", "수도"]),
        ("Это Берлин", ["это", "берлин"]),
        ("هذه برلين", ["هذه", "برلين"]),
        ("… ☂ —", []),
    ],
    ids=["English", "umlauts", "typography", "Chinese and Japanese", "Korean", "Russian", "Arabic", "no word"],
)
def test_words_are_those_of_any_script(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_marks_and_bold_signs_are_not_spoken() -> None:
    assert spoken("It was **Betz** [1][2], in 1919. [3]") == "It was Betz, in 1919."
    assert len(spoken(" " * 1_000_000 + "x")) == 1
