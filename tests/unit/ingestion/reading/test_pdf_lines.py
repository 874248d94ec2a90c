"""Running lines and broken words on the pages of a PDF."""

import pytest

from ingestion.reading.pdf_lines import drop_running_lines, join_broken_words


def test_headers_and_footers_go_and_the_first_copy_of_a_header_stays() -> None:
    pages = [f"ACME Report 2024\nSection {name}\ntext of {name}\nPage {n} of 5" for n, name in enumerate("abcde", 1)]

    assert drop_running_lines(pages) == [
        "ACME Report 2024\nSection a\ntext of a",
        *(f"Section {name}\ntext of {name}" for name in "bcde"),
    ]


def test_several_running_lines_are_taken_off_from_the_outside_in() -> None:
    pages = [f"body {name}\n\nACME\n{n}" for n, name in enumerate("abcd", 1)]

    assert drop_running_lines(pages) == ["body a\n\nACME", "body b", "body c", "body d"]


def test_lines_on_half_of_the_pages_stay() -> None:
    mixed = ["Same\na", "Same\nb", "Other\nc", "Else\nd"]

    assert drop_running_lines(mixed) == mixed


@pytest.mark.fault("D20")
@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        (["Dam log 2024", "Dam log 2024"], ["Dam log 2024"]),
        (["1", "2"], []),
        (["Page 7 of 8", "Page 8 of 8"], []),
        (["- 1 -", "- 2 -", "- 3 -"], []),
        (["Dam log | 1/3", "Dam log | 2/3", "Dam log | 3/3"], ["Dam log | 1/3"]),
        (["11/28/26, 9:10 AM 1/2", "11/28/26, 9:10 AM 2/2"], ["11/28/26, 9:10 AM 1/2"]),
    ],
)
def test_running_lines_of_a_document_of_few_pages_go(lines: list[str], kept: list[str]) -> None:
    headed = drop_running_lines([f"{line}\ntext {name}" for line, name in zip(lines, "abc", strict=False)])
    footed = drop_running_lines([f"text {name}\n{line}" for line, name in zip(lines, "abc", strict=False)])

    assert [line for page in headed for line in page.split("\n") if not line.startswith("text")] == kept
    assert [line for page in footed for line in page.split("\n") if not line.startswith("text")] == kept


@pytest.mark.parametrize(
    "lines",
    [
        ["Valve 133 43", "Valve 170 80"],
        ["V-1 10", "V-2 11"],
        ["Total 4", "Total 7"],
        ["Same", "Other", "Else"],
        ["Same"],
    ],
)
def test_rows_that_are_alike_stay_in_a_document_of_few_pages(lines: list[str]) -> None:
    pages = [f"text {name}\n{line}" for line, name in zip(lines, "abc", strict=False)]

    assert drop_running_lines(pages) == pages


def test_a_page_that_is_a_copy_of_another_stays() -> None:
    pages = ["Heat moves from\nthe cold side."] * 2

    assert drop_running_lines(pages) == pages


def test_empty_pages_stay_in_place_and_do_not_count() -> None:
    assert drop_running_lines(["a\n1", "", "b\n2", "c\n3", "", "d\n4"]) == ["a", "", "b", "c", "", "d"]


def test_repeated_lines_inside_a_page_stay() -> None:
    pages = [f"{name}\nTotal\n{name}" for name in "abcd"]

    assert drop_running_lines(pages) == pages


@pytest.mark.parametrize(
    ("broken", "joined"),
    [
        ("a new repre\ufffesentation model", "a new representation model"),
        ("a left-to\uffferight model", "a left-to-right model"),
        ("they fine-tun\ufffeing. Tuning helps", "they fine-tuning. Tuning helps"),
        ("Berg\ufffeKirkpatrick", "Berg-Kirkpatrick"),
        ("SuperGLUE is Super\ufffeGLUE", "SuperGLUE is SuperGLUE"),
        ("a rate of 1.0e\ufffe4", "a rate of 1.0e-4"),
        ("long term or long\ufffeterm", "long term or long-term"),
        ("pre-train and pre\ufffetrain", "pre-train and pre-train"),
        ("pretrain and pre\ufffetrain", "pretrain and pretrain"),
        ("\ufffe\ufffe", "--"),
    ],
)
def test_a_word_broken_at_a_line_end_is_joined_as_the_document_writes_it(broken: str, joined: str) -> None:
    assert join_broken_words([broken]) == [joined]


def test_other_pages_are_part_of_the_dictionary() -> None:
    assert join_broken_words(["a cross\ufffelingual model", "cross-lingual"]) == [
        "a cross-lingual model",
        "cross-lingual",
    ]
