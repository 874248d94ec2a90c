"""What is shown counts as written whatever became of its marks, and as changed otherwise."""

from dataclasses import replace

import pytest

from bench.quality.helpful.nuggets import NuggetCase
from bench.writer.oracle import MARKDOWN, Reply
from bench.writer.scoring import MEASURES, Shown, plain, scores
from eval.cases import Nugget, Region
from eval.rows import Quote
from tests.fakes.rows import answered

ANSWER = "The sun dries it. Workers rake it."
CASE = NuggetCase(
    id="1",
    corpus="salt",
    form="how",
    question="How is salt made?",
    answer=ANSWER,
    nuggets=(Nugget(text="sun", vital=True, any=("sun",)),),
    regions=(Region(doc="guides/salt.md", quote_start="The sun", quote_end="it"),),
)
NEAR_MISS = NuggetCase(id="2", corpus="salt", form="near_miss", question="Where?", answer=None)
MARKED = MARKDOWN.format(answer=ANSWER, marks="【1】【2】")


def told(
    text: str = f"{ANSWER} [1]", case_id: str | None = "1", found: int = 1, vital: int = 1, chars: int = 100
) -> Reply:
    return Reply(text, case_id, (1,), found, vital, found > 0, chars)


def shown(text: str | None, *replies: Reply, documents: tuple[str, ...] = (), case: NuggetCase = CASE) -> Shown:
    quotes = [Quote(number=1, doc_id=None if "://" in one else one, url=one) for one in documents]
    return Shown(case, answered(text, quotes), replies or (told(),))


@pytest.mark.parametrize(
    ("written", "text", "unchanged", "arrived"),
    [
        (f"{ANSWER} [1]", ANSWER, True, True),
        (f"{ANSWER} [1]", "The sun dries it [1].  Workers\nrake it [12][^3].", True, True),
        (f"{ANSWER} [1]", f"{ANSWER} [[1]](http://h/documents/salt.md?start=1#cited)", True, True),
        (f"{ANSWER} [1]", f"{ANSWER} [1]\n\n**Sources**\n\n1. [Salt](http://h/documents/salt.md)", True, True),
        (f"{ANSWER} [1]", f"{ANSWER} [1]\n\nReferences:\n[1] http://h/documents/salt.md", True, True),
        (f"{ANSWER} [1]", "The sun dries it. [1]", False, False),
        (f"{ANSWER} [1]", "Workers rake it. The sun dries it.", False, False),
        (f"{ANSWER} [1]", f"{ANSWER} Bring a hat. [1]", False, True),
        (f"{ANSWER} [1]", None, False, False),
        (MARKED, MARKED, True, True),
        (MARKED, MARKED.replace("【", " [").replace("】", "]"), True, True),
        (MARKED, MARKED.replace("<value>", "< value>"), False, True),
        (MARKED, MARKED.replace("https://", ""), False, True),
        (MARKED, MARKED.replace("a[0]", "a"), False, True),
        (MARKED, MARKED.replace("```sh", ""), False, True),
        (MARKED, MARKED.replace("| Option | Value |", ""), False, True),
        (MARKED, MARKED.partition("**")[2].partition("The sun")[0], False, False),
    ],
)
def test_marks_and_blanks_and_the_list_of_sources_are_no_change_and_all_else_is(
    written: str, text: str | None, unchanged: bool, arrived: bool
) -> None:
    one = shown(text, told(written))

    assert (one.unchanged, one.arrived) == (unchanged, arrived)


@pytest.mark.parametrize(
    ("replies", "right"),
    [
        ([told()], True),
        ([told(found=0, vital=2)], False),
        ([told("How?", found=0, vital=0), told(), told("I don't know.", found=0)], True),
        ([told(case_id="7")], False),
        ([told(case_id=None)], False),
    ],
)
def test_of_several_replies_the_one_whose_prompt_held_most_counts(replies: list[Reply], right: bool) -> None:
    assert (shown(ANSWER, *replies).right is not None, shown(ANSWER, *replies).arrived) == (right, right)


@pytest.mark.parametrize(
    ("documents", "share"),
    [
        ((), 0.0),
        (("salt.md",), 1.0),
        (("books/salt.md", "pepper.md", "salt.md.md", "salt"), 0.25),
        (("http://127.0.0.1/documents/guides/salt.md?corpus=a&start=1#cited", "http://h/documents/x.md"), 0.5),
        (("http://127.0.0.1/documents/guides%2Fsalt.md",), 1.0),
    ],
)
def test_citations_are_right_if_they_name_a_document_of_the_regions(documents: tuple[str, ...], share: float) -> None:
    assert shown(ANSWER, documents=documents).cited_right == share


def test_each_measure_is_taken_over_the_questions_that_allow_it() -> None:
    asked = [
        replace(shown(ANSWER, told(chars=100), documents=("salt.md", "pepper.md")), marked=("--dry",)),
        shown("The sun dries it.", told("How?", found=0, vital=0, chars=9), told(chars=200)),
        shown(None, told("I don't know.", found=0, chars=300)),
        shown(None, told("I don't know.", case_id="2", found=0, vital=0, chars=900), case=NEAR_MISS),
        shown("Peru.", case=NEAR_MISS),
    ]

    assert scores(asked) == {
        "n": 5,
        "in_prompt": 2 / 3,
        "unchanged": 0.5,
        "arrived": 1 / 3,
        "marked": 0.5,
        "cited_right": 0.5,
        "near misses declined": 0.5,
        "prompt, mean": 200.0,
        "prompt, p95": pytest.approx(290.0),
        "calls": 1.2,
    }


def test_what_no_question_allows_is_not_measured() -> None:
    assert scores([]).keys() == MEASURES.keys()
    assert [name for name, value in scores([shown("Peru.", case=NEAR_MISS)]).items() if value is None] == [
        "in_prompt",
        "unchanged",
        "arrived",
        "marked",
        "cited_right",
        "prompt, mean",
        "prompt, p95",
    ]


def test_marks_in_code_blocks_are_code() -> None:
    assert plain("Take it [1].\n```sh\nrun a[0] [1]\n```\n【2】") == "Take it. ```sh run a[0] [1] ```"
