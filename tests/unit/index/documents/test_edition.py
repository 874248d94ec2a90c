"""Which documents are editions of one thing, which of two is later, and what people are told of when it was written."""

import pytest

from index.documents.edition import edition


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("tariff-2023.md", "tariff-2024.md"),
        ("tariff_2023-11.md", "tariff_2024-02.pdf"),
        ("2023/tariff.md", "2024/tariff.md"),
        ("logs/2024-03-09.md", "logs/2024-03-10.md"),
        ("logs/9.3.2024.md", "logs/10.3.2024.md"),
        ("20240309 minutes.md", "20240310 minutes.md"),
        ("plan 2023-24.md", "plan 2024-25.md"),
        ("manual-1.9.md", "manual-1.10.md"),
        ("manual-v2.md", "manual-v11.md"),
    ],
)
def test_names_that_differ_in_a_date_or_a_version_are_in_order(older: str, newer: str) -> None:
    first, second = (edition(title, doc_id, {}) for title, doc_id in (("A", older), ("B", newer)))

    assert second.is_newer(first)
    assert not first.is_newer(second)


def test_the_same_title_at_other_times_is_in_order_of_the_moments() -> None:
    morning, evening = "2024-03-04T09:00:00+05:00", "2024-03-04T08:00:00+01:00"
    first, second = (edition("Room", f"{name}.eml", {"date": at}) for name, at in (("a", morning), ("b", evening)))

    assert second.is_newer(first)
    assert first.is_beside(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Dogs", "dogs-2023.md", {}), ("Cats", "cats-2024.md", {})),
        (("One", "chapter-1.md", {}), ("Two", "chapter-2.md", {})),
        (("Quay", "north.md", {}), ("Quay", "south.md", {})),
        (("Quay", "quay.md", {}), ("Quay", "quay-2024.md", {})),
        (("Log", "2024-13-40.md", {}), ("Book", "2024-13-41.md", {})),
        (("2023", "a.md", {}), ("2024", "b.md", {})),
    ],
)
def test_others_have_no_order(one: tuple[str, str, dict[str, str]], other: tuple[str, str, dict[str, str]]) -> None:
    assert not edition(*one).is_beside(edition(*other))


@pytest.mark.parametrize(
    ("doc_id", "metadata", "date"),
    [
        ("a.md", {"date": "2024-05-31"}, "2024-05-31"),
        ("a.eml", {"date": "2024-05-31T10:00:00+02:00"}, "2024-05-31"),
        ("a.md", {"date": 2024}, "2024"),
        ("a.md", {"published": "31.5.2024"}, "2024-05-31"),
        ("a.md", {"updated": "last spring"}, "last spring"),
        ("fees-2024.md", {}, "2024"),
        ("fees-2024.md", {"date": "2024-05-31"}, "2024-05-31"),
        ("fees-2024.pdf", {"date": "2025-01-02"}, "2024"),
        ("manual-1.9.md", {}, ""),
    ],
)
def test_the_date_is_the_documents_own_or_that_in_its_name(doc_id: str, metadata: dict[str, object], date: str) -> None:
    assert edition("Title", doc_id, metadata).date == date
