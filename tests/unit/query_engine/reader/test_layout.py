"""How a stretch of a document is laid out in blocks and units."""

from index.documents.guess import column_names, guessed_blocks, split_row
from index.documents.structure import Structure
from query_engine.reader.headings import heading_paths
from query_engine.reader.layout import BlockKind, Layout, lay_out

MINUTES = """# Board meeting

Present were Ada and Bo. The meeting began at 18:30.

## Decisions

The following was decided:

- Ada signs the contract. She has time until May.
- Bo orders posters.

1. Open the gate.
2. Close the gate.

| Item | Price | Stock |
|---|---|---|
| Rope | 12.50 | 3 |
| Bell | 40.00 | 1 |

Contacts
Reception: ext. 10
Workshop: ext. 11
"""


def laid_out(text: str) -> tuple[Layout, list[tuple[BlockKind, list[str]]]]:
    layout = lay_out(text, Structure(guessed_blocks(text)), 0, len(text))
    shown = [
        (block.kind, [text[layout.units[place].start : layout.units[place].end] for place in block.units])
        for block in layout.blocks
    ]
    return layout, shown


def test_paragraphs_lists_steps_tables_and_records_are_told_apart() -> None:
    _, blocks = laid_out(MINUTES)

    assert blocks == [
        ("heading", ["Board meeting"]),
        ("paragraph", ["Present were Ada and Bo.", "The meeting began at 18:30."]),
        ("heading", ["Decisions"]),
        ("paragraph", ["The following was decided:"]),
        ("list", ["Ada signs the contract.", "She has time until May.", "Bo orders posters."]),
        ("steps", ["1. Open the gate.", "2. Close the gate."]),
        ("table", ["| Item | Price | Stock |", "| Rope | 12.50 | 3 |", "| Bell | 40.00 | 1 |"]),
        ("paragraph", ["Contacts"]),
        ("record", ["Reception: ext. 10", "Workshop: ext. 11"]),
    ]


def test_a_list_knows_the_line_that_leads_it_in_and_a_table_its_header() -> None:
    layout, _ = laid_out(MINUTES)
    list_, table = (next(block for block in layout.blocks if block.kind == kind) for kind in ("list", "table"))

    assert list_.lead is not None
    assert MINUTES[layout.units[list_.lead].start :].startswith("The following was decided:")
    assert [layout.units[place].label for place in table.units] == [True, False, False]
    assert layout.units[table.units[-1]].columns == ("Item", "Price", "Stock")
    assert [layout.units[place].item for place in list_.units] == [0, 0, 1]


def test_headings_headers_rules_questions_and_short_lines_are_labels() -> None:
    layout, _ = laid_out(f"{MINUTES}\nWho may come?\n")

    assert [MINUTES[unit.start : unit.end] for unit in layout.units if unit.label and unit.end < len(MINUTES)] == [
        "Board meeting",
        "Decisions",
        "| Item | Price | Stock |",
        "Contacts",
    ]
    assert layout.units[-1].label


def test_a_number_and_capitals_alone_are_a_heading_and_shouted_steps_are_none() -> None:
    heading, _ = laid_out("Shell is dumped.\n\n6. LIMITATIONS\n\nAll shell came from one cannery.")
    steps, _ = laid_out("In case of fire:\n\n1. RAISE THE ALARM\n2. LEAVE BY THE STAIRS")

    assert [unit.label for unit in heading.units] == [False, True, False]
    assert [unit.label for unit in steps.units] == [False, False, False]


def test_rows_without_outer_bars_stand_apart_from_the_line_before_them() -> None:
    text = "The ranges are these:\nMaterial | Light | Heat\nPaper | 50 lux | 18 °C\nWood | 180 lux | 20 °C"
    layout, blocks = laid_out(text)

    assert blocks[0] == ("paragraph", ["The ranges are these:"])
    assert blocks[1][0] == "table"
    assert layout.units[layout.blocks[1].units[-1]].columns == ("Material", "Light", "Heat")


def test_a_table_of_names_and_values_has_no_header() -> None:
    layout, _ = laid_out("Chair | Ada\nTreasurer | Bo\nMinutes | Cy")

    assert {unit.columns for unit in layout.units} == {()}


def test_a_record_beside_one_with_the_same_keys_is_one_row() -> None:
    _, blocks = laid_out("item: rope\nstock: 3\n\nitem: bell\nstock: 1\n")

    assert blocks == [("record", ["item: rope\nstock: 3"]), ("record", ["item: bell\nstock: 1"])]


def test_a_row_of_lines_may_have_long_ones_and_keys_with_a_stop() -> None:
    rows = [
        f"Item no.: {n}\nItem: rope\nStock: 3\nPrice: 9\nNotes: {'Strong. Handle with care. ' * 8}now" for n in (1, 2)
    ]
    talk = "\n".join(f"{name}: {'That is what I think of it. ' * 7}now" for name in ("Ana", "Bo", "Ana", "Bo"))

    _, blocks = laid_out("\n\n".join((*rows, talk)))

    assert blocks[:2] == [("record", [row]) for row in rows]
    assert {kind for kind, _ in blocks[2:]} == {"paragraph"}


def test_steps_may_have_bare_numbers() -> None:
    _, blocks = laid_out("1 Announce that we close\n2 Walk through the\ngalleries\n3 Lock the door")

    assert blocks == [("steps", ["1 Announce that we close", "2 Walk through the\ngalleries", "3 Lock the door"])]


def test_units_of_a_span_are_those_of_which_most_lies_in_it() -> None:
    layout, _ = laid_out(MINUTES)
    start = MINUTES.index("Present")
    units = [layout.units[place] for place in layout.inside(start, start + 30)]

    assert [MINUTES[unit.start : unit.end] for unit in units] == ["Present were Ada and Bo."]


def test_list_items_with_colons_are_no_record() -> None:
    _, blocks = laid_out("- Orla: sign the contract\n- Dario: ask the fund\n")

    assert blocks == [("list", ["Orla: sign the contract", "Dario: ask the fund"])]


def test_code_is_one_block_though_it_has_blank_lines() -> None:
    _, blocks = laid_out("Run:\n\n```\na | b\n\nc | d\n```\n\nDone it is.")

    assert [kind for kind, _ in blocks] == ["paragraph", "code", "paragraph"]


LEASE = """# Lease

2. Term
The lease begins in May.

2.1 Notice
Notice is given in writing.

Before you leave:
1. Lock the door
2. Leave the key
Thank you.
"""


def test_a_numbered_line_above_its_text_is_a_heading_and_steps_are_none() -> None:
    _, blocks = laid_out(LEASE)
    under_term, under_notice = heading_paths(
        Structure(guessed_blocks(LEASE)), LEASE, [LEASE.index("The lease"), LEASE.index("Lock")]
    )

    assert ("heading", ["Term"]) in blocks
    assert ("steps", ["1. Lock the door", "2. Leave the key"]) in [(kind, units[:2]) for kind, units in blocks]
    assert (under_term.titles, under_term.marked) == (("Lease", "Term"), 1)
    assert under_notice.titles == ("Lease", "Term", "Notice")


SHEET = """Name           Role        Phone
Edith Marlowe  Manager     ext. 11
Samir Haddad   Caretaker   on leave
"""


def test_a_table_may_be_set_with_blanks_or_tabs() -> None:
    layout, blocks = laid_out(SHEET)
    tabs, _ = laid_out("Name\tRole\tPhone\nEdith\tManager\text. 11\n")

    assert [kind for kind, _ in blocks] == ["table"]
    assert layout.units[-1].columns
    assert tabs.units[-1].columns == ("Name", "Role", "Phone")
    assert [unit.label for unit in layout.units] == [True, False, False]
    assert split_row("Samir Haddad   Caretaker   on leave") == ["Samir Haddad", "Caretaker", "on leave"]
    assert split_row("| a | | c |") == ["a", "", "c"]


def test_a_key_with_a_comma_has_a_figure_as_its_value() -> None:
    _, blocks = laid_out("Monthly fee: 1,180.00\nWindows, each time: 145.00\n")

    assert [kind for kind, _ in blocks] == ["record"]
    assert laid_out("Dear Ada, dear Bo: please come\nDear Cy, dear Di: please stay")[1][0][0] == "paragraph"


def test_dots_lead_from_a_key_to_its_value_and_indented_lines_continue_it() -> None:
    contacts = """Dishwasher ............ Brakstad Repairs, 0555 01 6218.
                        We pay for each visit, so ask first.
Milk .................. Fenwick Dairy
Address: 4 Mill Lane
  Brakstad
"""

    _, blocks = laid_out(contacts)

    dishwasher, _, rest = contacts.partition("\nMilk")
    milk, _, address = ("Milk" + rest).strip().partition("\n")
    assert blocks == [("record", [dishwasher, milk, address])]


def test_code_ends_with_its_fence_wherever_blank_lines_are() -> None:
    text = "Run this:\n```\npip install x\n\n```\n\nThe deposit is not refunded unless the tenant\ngives notice.\n"

    kinds = {kind: units for kind, units in laid_out(text)[1]}

    assert kinds["code"] == ["pip install x"]
    assert kinds["paragraph"][-1].startswith("The deposit is not refunded")


def a_wide_table(columns: int) -> str:
    """Return a table as it is read from CSV: a record of `column: value` lines for each row."""
    rows = [[f"Hotel: Hotel {name}", *(f"Column {k}: value {k} of it" for k in range(columns))] for name in "ABC"]
    return "\n\n".join("\n".join(row) for row in rows)


def test_a_row_is_one_unit_unless_it_is_long() -> None:
    narrow, _ = laid_out(a_wide_table(3))
    wide, _ = laid_out(a_wide_table(40))

    assert [len(block.units) for block in narrow.blocks] == [1, 1, 1]
    assert [len(block.units) for block in wide.blocks] == [41, 41, 41]
    assert [block.row for block in narrow.blocks] == [None, None, None]
    assert [block.row for block in wide.blocks] == [block.units.start for block in wide.blocks]


def test_a_line_deep_in_a_long_row_knows_the_line_that_names_it() -> None:
    text = a_wide_table(120)
    place = text.index("Column 118: value", text.index("Hotel B"))
    layout = lay_out(text, Structure(guessed_blocks(text)), place, place + 20)

    (unit,) = layout.inside(place, place + 20)
    row = layout.block_of(unit).row
    assert row is not None
    assert text[layout.units[row].start : layout.units[row].end] == "Hotel: Hotel B"


def test_a_leaf_within_one_unit_still_holds_it() -> None:
    text = "a sentence that goes on " * 20 + "and ends."
    layout, _ = laid_out(text)

    assert layout.inside(100, 150) == range(1)


def test_a_long_line_with_a_gap_is_prose() -> None:
    line = "The town has a thousand people.   Many of them work in the mill by the river. " * 8

    assert {kind for kind, _ in laid_out(line)[1]} == {"paragraph"}


def header_of(text: str) -> str | None:
    """Return the last row of a table that is marked as its header."""
    layout, _ = laid_out(text)
    headers = [unit for unit in layout.units if unit.label]
    return text[headers[-1].start : headers[-1].end] if headers else None


def test_years_name_columns_above_other_figures() -> None:
    assert header_of("2018\t2019\nNet sales\t72\t92") == "2018\t2019"
    assert header_of("In millions\t2018\t2019\nNet sales\t72\t92") == "In millions\t2018\t2019"
    assert header_of("2018\tAda\n2019\tBo") is None


def test_dates_above_the_years_are_no_rows() -> None:
    for above in ("January 28,\tJanuary 29,\n2023\t2022", "Restated\tAudited\tAudited\n2021\t2022\t2023"):
        layout, _ = laid_out(f"{above}\nNet sales\t72\t92\t95")

        assert [unit.label for unit in layout.units] == [True, True, False]


def test_a_row_may_stand_alone_where_others_have_as_many_columns() -> None:
    _, blocks = laid_out("Net sales\t7\t9\nCosts\t1\t2\nBefore tax:\nIncome\t6\t7\nPer share:\nBasic\t5")

    assert [kind for kind, _ in blocks] == ["table", "paragraph", "table", "paragraph"]


def test_a_header_may_have_digits_within_its_words() -> None:
    assert header_of("Model\tSST-2\tAverage\nELMo\t91.5\t68.7") == "Model\tSST-2\tAverage"
    assert header_of("E1\tfan blocked\tclear it\nE2\ttank full\tempty it") is None


def test_a_table_goes_on_behind_a_line_between_its_rows() -> None:
    text = "2018\t2019\nNet income\t30\t10\n{}\nInventories\t(3)\t(1)\nUnearned revenue\t7\t1"
    layout, blocks = laid_out(text.format("Changes in assets:"))

    assert [kind for kind, _ in blocks] == ["table", "paragraph", "table"]
    assert layout.units[-1].columns == ("", "2018", "2019")
    for between in ("One.\nTwo.\nThree.", "A long line of prose between the two. " * 4):
        layout, _ = laid_out(text.format(between))

        assert layout.units[-1].columns == ()


def test_names_of_columns_fit_the_cells_of_a_row() -> None:
    assert column_names(["Item", "Price"], 2) == ["Item", "Price"]
    assert column_names(["2018", "2019"], 3) == ["", "2018", "2019"]
    assert column_names(["2018", "2019"], 5) == ["", "2018", "", "2019", ""]
    assert column_names(["In millions", "2018", "2019"], 5) == ["In millions", "2018", "", "2019", ""]
    assert column_names(["Item", "Price"], 5) == column_names(["2018", "2019"], 4) == []
