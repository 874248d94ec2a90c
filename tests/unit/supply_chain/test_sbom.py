"""The bill of materials: a valid CycloneDX document with every package of the lock and its hashes."""

import json
import subprocess
from pathlib import Path

import pytest

from settings import HOME
from supply_chain.requirements import pinned

CYCLONEDX = HOME / ".venv-sbom/bin/cyclonedx-py"


@pytest.mark.slow
@pytest.mark.skipif(not CYCLONEDX.exists(), reason="there is no .venv-sbom: `make test-slow` makes it")
def test_the_bill_of_materials_is_valid_and_has_every_package_of_the_lock(tmp_path: Path) -> None:
    out = tmp_path / "sbom.json"
    command = [str(CYCLONEDX), "requirements", "requirements.lock", "--validate", "--output-file", str(out)]
    subprocess.run(command, cwd=HOME, check=True, capture_output=True, timeout=300)

    components = {one["name"]: one for one in json.loads(out.read_text())["components"]}
    assert {name: one["version"] for name, one in components.items()} == pinned("requirements.lock")
    for one in components.values():
        references = [found for found in one["externalReferences"] if found.get("hashes")]
        assert references, one["name"]
        assert one["purl"].startswith("pkg:pypi/")
