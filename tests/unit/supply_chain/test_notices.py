"""The notices name every package with its licence, and say what a copyleft licence means here."""

import re
from importlib.metadata import distribution

import pytest

from supply_chain.notices import FILE, licence_of, notices, tables
from supply_chain.requirements import pinned

PAGE = FILE.read_text(encoding="utf-8")
COPYLEFT = PAGE.split("## Copyleft\n")[1].split("\n## ")[0]


def test_the_tables_are_what_is_installed() -> None:
    assert notices(PAGE) == PAGE


def test_every_package_has_a_licence() -> None:
    rows = [row for table in tables().values() for row in table.splitlines()[2:]]

    assert [row for row in rows if not re.fullmatch(r"\| [\w.-]+ \| .+ \|", row)] == []
    # DeepEval is in no constraint.
    named = {re.sub(r"[-_.]+", "-", row.split(" | ")[0][2:]).lower() for row in rows}
    assert (pinned("constraints.txt") | pinned("requirements-models.txt")).keys() - named == set()


def test_every_package_whose_metadata_name_the_gpl_is_explained() -> None:
    for package in (distribution(name) for name in pinned("constraints.txt")):
        stated = " ".join([licence_of(package), *package.metadata.get_all("Classifier", [])])
        if re.search(r"GPL|General Public", stated):
            assert f"| {package.metadata['Name']} |" in COPYLEFT


def test_a_heading_without_a_table_is_named() -> None:
    with pytest.raises(ValueError, match="The service"):
        notices(PAGE.replace("## The service\n", "## Another\n"))
