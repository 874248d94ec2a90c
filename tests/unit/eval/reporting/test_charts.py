import pytest

from eval.reporting.charts import histogram
from eval.tables import duration, figure, moment, quantile


def test_shares_are_sorted_into_tenths_and_one_belongs_to_the_last() -> None:
    counts, edges = histogram([0.0, 0.05, 0.3, 0.95, 1.0])

    assert counts == [2, 0, 0, 1, 0, 0, 0, 0, 0, 2]
    assert (edges[0], edges[-1]) == (0, 1)


def test_zeros_and_ones_have_a_bar_each() -> None:
    assert histogram([0.0, 1.0, 1.0])[0] == [1, 2]


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([3.0, 412.0], (0, 500)),
        ([-1.0, 0.0, 1.0], (-1, 1)),
        ([-0.2, 0.7], (-0.2, 1)),
        ([7.0], (0, 8)),
        ([-3.0], (-3, 0)),
    ],
)
def test_other_scores_reach_to_round_numbers(values: list[float], ends: tuple[float, float]) -> None:
    counts, edges = histogram(values)

    assert (edges[0], edges[-1]) == pytest.approx(ends)
    assert sum(counts) == len(values)


def test_times_below_a_second_have_a_scale_of_their_own() -> None:
    assert histogram([0.05, 0.24], shares=False)[1][-1] == pytest.approx(0.3)
    assert sum(histogram([0.0, 0.0], shares=False)[0]) == 2


def test_percentiles_are_values_that_were_measured() -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2
    assert quantile([float(n) for n in range(1, 101)], 0.95) == 95
    assert quantile([7.0], 0.95) == 7


def test_numbers_are_spelt_in_the_digits_they_deserve() -> None:
    assert [figure(value) for value in (0.12345, -0.00001, 56.78, 12345.6, -1, None)] == [
        "0.123", "0.000", "56.8", "12,346", "−1.000", "–",
    ]  # fmt: skip
    assert [duration(value) for value in (0.079, 1.234, 75.0)] == ["79 ms", "1.23 s", "75.0 s"]


def test_times_are_spelt_in_utc_and_what_is_no_time_stays() -> None:
    assert moment("2026-03-01T12:00:00.5+02:00") == "2026-03-01 10:00:00 UTC"
    assert moment("yesterday") == "yesterday"
