"""Facts found by their phrasings, and quotes on the topic."""

import pytest

from eval.cases import Nugget, Region
from eval.nuggets import find_region, fold, is_on_topic, precision, recalls

DOCUMENT = fold("Salt pans. The sun dries the pans in June; workers rake the salt by hand. Tickets cost four pounds.")
REGIONS = [Region(doc="guides/salt.md", quote_start="The sun dries", quote_end="by hand.")]


@pytest.mark.parametrize(
    ("quote", "on_topic"),
    [
        ("the PANS in june: workers", True),
        ("rake the salt by hand. Tickets cost", True),
        ("by hand. Tickets cost four pounds.", False),
        ("Workers sell salt, tickets, tea.", False),
        ("Sun dries pans; workers rake", True),
        ("—", False),
    ],
    ids=["case and punctuation", "most inside", "most outside", "few words shared", "most words shared", "no word"],
)
def test_half_of_a_quote_must_lie_in_a_region(quote: str, on_topic: bool) -> None:
    assert is_on_topic(quote, DOCUMENT, REGIONS) is on_topic


def test_overlapping_regions_count_once() -> None:
    doubled = [Region(doc="salt.md", quote_start="by", quote_end="hand")] * 2

    assert not is_on_topic("by hand. Tickets cost four pounds", DOCUMENT, doubled)


def test_quotes_of_a_pdf_are_compared_with_the_text_of_the_region() -> None:
    regions = [Region(doc="salt.pdf", quote_start="The sun", quote_end="June", text="The sun dries the pans in June")]

    assert is_on_topic("The sun dries the p\u00adans", None, regions)
    assert not is_on_topic("Tickets cost four pounds", None, regions)


def test_a_region_ends_where_its_last_words_first_follow_and_may_not_be_long() -> None:
    far = fold(f"The sun dries {'x ' * 2000} by hand. The sun dries all by hand.")

    assert is_on_topic("The sun dries all", far, REGIONS)
    assert not is_on_topic("x x x x x x x x", far, REGIONS)


def test_a_row_of_a_table_is_found_under_the_names_of_its_columns() -> None:
    rows = fold("code: A-1\nobject: bell\nvalue_gbp: 630.96\n\ncode: A-2\nobject: bell\nvalue_gbp: 75.20")
    row = [Region(doc="stock.csv", quote_start="A-2,bell", quote_end="75.20")]

    assert is_on_topic("code: A-2\nobject: bell\nvalue_gbp: 75.20", rows, row)
    assert not is_on_topic("code: A-1\nobject: bell\nvalue_gbp: 630.96", rows, row)
    assert find_region(rows, Region(doc="stock.csv", quote_start="A-3,bell", quote_end="75.20")) is None
    assert find_region(rows, Region(doc="stock.csv", quote_start="—", quote_end="75.20")) is None


def test_a_phrasing_counts_in_any_case_through_bold_and_line_breaks() -> None:
    nuggets = [Nugget(text="sun", vital=True, any=("Sun  dries",)), Nugget(text="rake", vital=False, any=("rake",))]

    assert recalls(nuggets, "The **sun**\ndries it.") == (1.0, 0.5)
    assert recalls(nuggets[1:], "Rake it.") == (None, 1.0)


def test_an_answer_that_says_more_than_it_quotes_is_less_precise() -> None:
    one, other = "a" * 20, "b" * 30
    assert precision(f"{one} [1] {other} [2]", [one, other], [1]) == pytest.approx(3 / 5)
    assert precision("x" * 100, ["ab"], [0]) == pytest.approx(2 / 80)
    assert precision("", [], []) == 0
