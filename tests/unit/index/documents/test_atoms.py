"""What no boundary may fall into."""

import pytest

from index.documents.atoms import is_date_alone, splits_atom


@pytest.mark.parametrize(
    "atom",
    [
        "70.44",
        "70,44",
        "1.234,56",
        "1 234.5",
        "1 234 567",
        "12.03.2024",
        "2024-03-12",
        "12. March 2024",
        "12. März 2024",
        "March 12, 2024",
        "May 2020",
        "3.11.4",
        "70.44 EUR",
        "EUR 70",
        "\u20ac 70",
        "12 %",
        "5 km",
        "12:30",
        "No. 5",
    ],
)
def test_no_boundary_falls_into_it(atom: str) -> None:
    text = f"It says: {atom}, or so."
    start = text.index(atom)

    assert all(splits_atom(text, place) for place in range(start + 1, start + len(atom)))
    assert not splits_atom(text, start)
    assert not splits_atom(text, start + len(atom))


@pytest.mark.parametrize("text", ["in 1984. Then it", "the year 1990; later", "had 12 rivers", "It may 5"])
def test_words_beside_a_number_stay_words(text: str) -> None:
    place = max(text.find(word) for word in ("Then", "later", "rivers", "may"))

    assert not splits_atom(text, place)


@pytest.mark.parametrize("text", ["1984", "12 March 1984", "1984–1991", "March 12, 1984", "ca. 1890", "12"])
def test_a_date_by_itself(text: str) -> None:
    assert is_date_alone(text, 0, len(text))


@pytest.mark.parametrize("text", ["It was 1984", "Founded 1984", "", "Itaipu", "In May 1984"])
def test_more_than_a_date(text: str) -> None:
    assert not is_date_alone(text, 0, len(text))
