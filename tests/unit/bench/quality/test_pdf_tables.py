"""What counts as a right statement of a table, and that the drawn files say what they should."""

from bench.quality.pdf_tables.drawn import drawn
from bench.quality.pdf_tables.scoring import Score, Table, score
from index.documents.structure import Block

TABLE = Table((("",), ("2023", "Year 2023"), ("2022",)), (("Sales", "5", "4"), ("Costs", "3", "-")))


def rows(*columns: str, text: str) -> list[Block]:
    blocks, start = [], 0
    for line in text.split("\n"):
        cells, place = [], start
        for cell in line.split("|"):
            cells.append((place, place + len(cell)))
            place += len(cell) + 1
        blocks.append(
            Block("row", start, start + len(line), (start, start + len(line)), cells=tuple(cells), columns=columns)
        )
        start += len(line) + 1
    return blocks


def scored(text: str, *columns: str) -> Score:
    return score([TABLE], text, rows(*columns, text=text))


def test_statements_are_right_wrong_or_missing() -> None:
    assert scored("Sales|5|4\nCosts|3|-", "", "Year 2023", "2022") == Score(4, 4, 0)
    assert scored("Sales|5|4", "", "2023", "2022") == Score(4, 2, 0)
    assert scored("Sales|5|4", "", "2022", "2023") == Score(4, 0, 2)
    assert scored("Sales|5|4\nCosts|3|-") == Score(4, 0, 0)


def test_a_row_about_something_else_says_nothing_right() -> None:
    assert scored("Profit|5|4", "", "2023", "2022") == Score(4, 0, 2)


def test_the_drawn_files_are_many_and_the_same_each_time() -> None:
    files = list(drawn())

    assert len({one.name for one in files}) == len(files) >= 40
    assert [one.data for one in drawn()] == [one.data for one in files]
