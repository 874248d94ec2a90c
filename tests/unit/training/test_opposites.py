"""The table of opposites from WordNet's files."""

from pathlib import Path

import pytest

from errors import RagError
from query_engine.reader.contrast import OPPOSITES
from training.opposites.__main__ import compared, main, opposites

ADJECTIVES = """\
  1 a line of the licence
00001 00 a 02 hard(p) 0 firm 0 001 ! 00002 a 0101 | not soft
00002 00 a 01 soft 0 001 ! 00001 a 0101 | not hard
00003 00 s 01 first 0 001 ! 00004 s 0101 | before all
00004 00 s 01 last 0 001 ! 00003 s 0101 | after all
00005 00 a 01 wide-awake 0 002 ! 00002 a 0101 & 00001 a 0000 | a word of two
"""
VERBS = "00001 29 v 01 rise 0 001 ! 00002 v 0101 01 + 02 00 | go up\n00002 29 v 01 drop 0 000 01 + 02 00 | go down\n"


@pytest.fixture
def wordnet(tmp_path: Path) -> Path:
    for name, text in (("data.adj", ADJECTIVES), ("data.adv", ""), ("data.verb", VERBS)):
        (tmp_path / name).write_text(text, encoding="latin-1")
    return tmp_path


def test_antonyms_and_their_comparatives(wordnet: Path) -> None:
    found = opposites(wordnet)

    assert {("hard", "soft"), ("harder", "softer"), ("hardest", "softest"), ("drop", "rise")} <= set(found)
    assert not any("first" in pair or "wide-awake" in pair for pair in found)
    assert found == sorted(found)
    assert all(one < other for one, other in found)


@pytest.mark.parametrize(
    ("adjective", "forms"),
    [
        ("large", ["larger", "largest"]),
        ("easy", ["easier", "easiest"]),
        ("big", ["bigger", "biggest"]),
        ("cold", ["colder", "coldest"]),
        ("narrow", []),
        ("expensive", []),
    ],
)
def test_comparatives(adjective: str, forms: list[str]) -> None:
    assert compared(adjective) == forms


def test_writes_the_table(wordnet: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "table.txt"

    assert main(["--wordnet", str(wordnet), "--out", str(out)]) == 0
    assert "hard soft" in out.read_text().splitlines()
    assert "pairs in" in capsys.readouterr().out


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RagError, match=r"data\.adj is missing\. Pass the folder `dict`"):
        opposites(tmp_path)


def test_the_packaged_table_has_pairs_of_words() -> None:
    pairs = [line.split() for line in OPPOSITES.read_text(encoding="utf-8").splitlines()]

    assert ["decrease", "increase"] in pairs
    assert all(len(pair) == 2 and pair == sorted(pair) for pair in pairs)
