"""The bill of materials: a valid CycloneDX document with every package of the lock and its hashes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from settings import HOME
from supply_chain.requirements import pinned


@pytest.mark.slow
def test_the_bill_of_materials_is_valid_and_has_every_package_of_the_lock(tmp_path: Path) -> None:
    out = tmp_path / "sbom.json"
    command = [sys.executable, "-m", "cyclonedx_py", "requirements", "requirements.lock", "--output-file", str(out)]
    subprocess.run(command, cwd=HOME, check=True, capture_output=True, timeout=300)

    text = out.read_text()
    assert JsonStrictValidator(SchemaVersion.from_version(json.loads(text)["specVersion"])).validate_str(text) is None
    components = {one["name"]: one for one in json.loads(text)["components"]}
    assert {name: one["version"] for name, one in components.items()} == pinned("requirements.lock")
    for one in components.values():
        references = [found for found in one["externalReferences"] if found.get("hashes")]
        assert references, one["name"]
        assert one["purl"].startswith("pkg:pypi/")
