from bench.speed.pipelines import LIMITS_MS, NoCorpora, Overhead, measure, table
from pipelines.build import without_models
from settings import Settings


def test_every_size_is_measured() -> None:
    services = without_models(NoCorpora(), Settings()).services

    measured = measure(services, 1)

    assert [one.rows for one in measured] == list(LIMITS_MS)
    assert all(min(one.plain_ms, one.filling_ms, one.hitting_ms, one.kept_ms) > 0 for one in measured)


def test_the_table_shows_the_limit() -> None:
    assert "| 10,000 | 4.16 | 52.15 | 37.03 | 38.96 | 60 |" in table(
        [Overhead(10_000, 4.16, 52.15, 37.03, 38.96, 60.0)]
    )
