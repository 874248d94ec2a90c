"""The zoo of formats: what it holds."""

import random
import zipfile
from io import BytesIO

import pytest

from ingestion.reading.format_table import FORMATS, IMAGES
from tests.zoo.damage import damaged
from tests.zoo.kinds import KINDS, PICTURES


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
