"""The sheet of faults, its tests and its page agree; a fault that nothing tries is said to be one."""

import json
import re
from pathlib import Path

import pytest

from tests.faults.sheet import FAILS, HOLDS, NOT_TRIED, faults, joined, to_json
from tests.marked import marked

ROOT = Path(__file__).parents[2]
REPORT = """<testsuites><testsuite>
<testcase classname="a" name="one"><properties><property name="fault" value="A1"/></properties></testcase>
<testcase classname="a" name="two"><properties><property name="fault" value="A1"/><property name="fault" value="A2"/>
<property name="figure" value="0 of 7 lost"/></properties></testcase>
<testcase classname="a" name="three"><properties><property name="fault" value="A2"/></properties>
<failure message="lost"/></testcase>
<testcase classname="a" name="four"><properties><property name="fault" value="A4"/></properties>
<skipped message="needs root"/></testcase>
<testcase classname="a" name="five"/>
</testsuite></testsuites>"""


def test_tests_name_faults_of_the_sheet_and_it_says_what_no_test_tries() -> None:
    declared = marked("fault")

    assert declared.keys() <= faults().keys()
    assert [name for name, texts in faults().items() if name not in declared and "gap" not in texts] == []


def test_the_page_has_exactly_the_faults_that_are_tried() -> None:
    rows = json.loads((ROOT / "reference" / "reliability.json").read_text(encoding="utf-8"))["faults"]
    page = re.findall(
        r"^\| ([A-Z]\d+) \|", (ROOT / "reference" / "reliability.md").read_text(encoding="utf-8"), re.MULTILINE
    )

    assert page == [row["id"] for row in rows] == list(faults())
    assert {row["id"] for row in rows if row["tests"]} == marked("fault").keys()
    assert [row["id"] for row in rows if row["result"] == FAILS] == []


def test_a_row_is_what_its_tests_made_of_it(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT)

    rows = {row["id"]: row for row in to_json(joined([tmp_path / "report.xml"]))}

    assert (rows["A1"]["result"], rows["A1"]["tests"], rows["A1"]["figures"]) == (HOLDS, 2, ["0 of 7 lost"])
    assert (rows["A2"]["result"], rows["A2"]["failed"]) == (FAILS, ["a::three"])
    assert (rows["A4"]["result"], rows["A4"]["skipped"]) == (NOT_TRIED, ["needs root"])
    assert rows["A3"]["result"] == NOT_TRIED


def test_a_fault_that_the_sheet_lacks_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(REPORT.replace("A4", "Z9"))

    with pytest.raises(KeyError, match="Z9"):
        joined([tmp_path / "report.xml"])
