"""Without a model questions come from what the structure knows: headings, lists, definitions, tables."""

from eval.drafting.by_structure import KINDS, Verbs, candidates
from tests.unit.eval.drafting.documents import sections, stored

TABLE = """# Rivers

| River | Length | Remark |
|---|---|---|
| Oder | flat | 840 km |
| Ems | slow | 362 km |

The table of the rivers that the club may sail, with the length of each of them.
"""


def asked(*texts: str) -> dict[str, list[str]]:
    documents = [stored(text, doc_id=f"{number}.md") for number, text in enumerate(texts)]
    found = candidates(sections(*documents), KINDS)
    return {one.question: [phrase for fact in one.nuggets for phrase in fact.any] for one in found}


def test_the_guide_is_asked_about_in_each_way() -> None:
    guide = stored().text + "\nYou may want to mend it again. If you have to mend more, ask.\n"

    found = asked(guide)

    assert found["How do I mend the hull?"][2] == "Fill the crack with warm pitch"
    assert found["What is a tar kettle?"] == ["an iron pot that keeps pitch"]
    assert len(found["What are the kinds of oars?"]) == 3
    assert found["Who may sail at night?"] == ["Only members with a lamp and"]


def test_a_heading_that_stands_in_several_places_asks_nothing() -> None:
    text = "# Kinds of oars\n\n- Sculls are short and used.\n- Sweeps are long and used.\n- Paddles have no rowlock.\n"

    assert "What are the kinds of oars?" in asked(text)
    assert not asked(text, text)


def test_a_cell_with_a_figure_is_asked_for_by_its_row_and_column() -> None:
    assert asked(TABLE) == {"What is the remark of Ems?": ["362 km"]}


def test_a_table_of_two_columns_is_about_the_document() -> None:
    rows = "| Figure | Value |\n|---|---|\n| Length | 7 m |"
    text = f"# Figures\n\n{rows}\n\nThe figures of the boat, as it was measured by the club in spring.\n"

    assert asked(text) == {"What is the length of Boat guide?": ["7 m"]}


def test_the_corpus_tells_verbs_from_nouns() -> None:
    verbs = Verbs(["To set the sail, to set it again, to set more. A kettle, the kettle. He wants to kettle."])

    assert verbs.base("Setting") == "set"
    assert verbs.base("set") == "set"
    assert verbs.base("Kettle") is None
