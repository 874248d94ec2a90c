"""The zoo of formats: what it holds, and what counts as harm."""

import random
import zipfile
from io import BytesIO

import pytest

from bench.speed.formats import faults_of
from ingestion.reading.format_table import FORMATS, IMAGES
from ingestion.reading.sandbox import KILLED, TOO_LONG
from ingestion.schema import Summary
from tests.zoo.damage import damaged
from tests.zoo.kinds import KINDS, PICTURES

WHOLE = "Beginq one, two endq."


def test_every_suffix_that_is_read_has_a_file() -> None:
    refused = {name for name, kind in FORMATS.items() if kind == "ole"}
    further_sections = {f".{section}" for section in range(2, 10)}

    assert {*FORMATS, *IMAGES} - refused - further_sections <= {*KINDS, *PICTURES, ".jpeg", ".tif"}


def test_damage_is_the_same_for_the_same_seed_and_leaves_the_original_alone() -> None:
    data = random.Random(1).randbytes(500)
    copies = dict(damaged({".a": data, ".b": b"other"}, 2, 7))

    assert copies == dict(damaged({".a": data, ".b": b"other"}, 2, 7))
    assert len({copies[f"wrong{number}.a"] for number in (0, 1)} - {data}) == 2
    assert data.startswith(copies["half.a"])
    assert not copies["empty.a"]
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(BytesIO(dict(damaged({".zip": KINDS[".zip"]("T", ["x"])}, 0, 7))["half.zip"]))


def test_a_file_that_is_read_or_refused_is_no_fault() -> None:
    summary = Summary("zoo", failed=[{"source": "bad.md", "reason": "No."}])

    assert not faults_of(summary, {"a.md": WHOLE, "odd.md": "x"}, {"a.md": "q"}, {"bad.md": ".md", "odd.md": ".md"})


@pytest.mark.parametrize(
    ("texts", "failed"),
    [
        ({}, {}),
        ({"a.md": "Beginq one,"}, {"bad.md": "No."}),
        ({"a.md": WHOLE}, {"a.md": "No.", "bad.md": "No."}),
        ({"a.md": WHOLE}, {}),
        ({"a.md": WHOLE}, {"bad.md": f"Parsing {KILLED}."}),
        ({"a.md": WHOLE, "bad.md": "x"}, {"bad.md": f"Parsing {TOO_LONG} 1 s."}),
    ],
    ids=["lost", "in part", "healthy refused", "unreported", "killed", "hung"],
)
def test_harm_is_a_fault(texts: dict[str, str], failed: dict[str, str]) -> None:
    summary = Summary("zoo", failed=[{"source": source, "reason": reason} for source, reason in failed.items()])

    assert faults_of(summary, texts, {"a.md": "q"}, {"bad.md": ".md"})
