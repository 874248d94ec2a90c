"""What counts as a right statement of a table, and that each drawn file is there."""

from bench.quality.pdf_tables.measure import HERE, drawn
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


def test_each_drawn_file_is_there_and_shows_known_tables() -> None:
    files = {name: (data, tables) for name, data, tables in drawn()}

    assert {path.stem for path in (HERE / "drawn").glob("*.pdf")} == files.keys()
    assert all(data.startswith(b"%PDF") and tables for data, tables in files.values())
