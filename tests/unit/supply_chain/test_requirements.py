"""`requirements.lock`: what the image installs, whole and in step with the lists that people write."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest

from settings import HOME
from supply_chain.requirements import closure, pinned

LOCK = (HOME / "requirements.lock").read_text()
LOCKED = pinned("requirements.lock")
EXCLUDED = tomllib.loads((HOME / "pyproject.toml").read_text())["tool"]["uv"]["exclude-dependencies"]
# What may run at each start of Python: setuptools' stand-in for distutils, and the path of this checkout.
PTH = re.compile(r"distutils-precedence\.pth|__editable__\.treeline-[\d.]+\.pth")


def test_the_lock_has_the_versions_of_the_constraints() -> None:
    proven = pinned("constraints.txt") | pinned("requirements-models.txt")

    assert {name: proven.get(name) for name in LOCKED} == LOCKED


def test_the_lock_is_whole() -> None:
    required = {**pinned("requirements.txt"), **pinned("requirements-models.txt")}
    needed = closure(
        [f"{name}[standard]" if name == "uvicorn" else name for name in required],
        (pinned("constraints.txt") | pinned("requirements-models.txt")).keys() - set(EXCLUDED),
    )

    assert needed == LOCKED.keys()


def test_every_package_of_the_lock_has_hashes_and_no_index_is_named() -> None:
    entries = re.split(r"^(?=[\w.-]+==)", LOCK, flags=re.MULTILINE)[1:]

    assert len(entries) == len(LOCKED)
    for entry in entries:
        assert re.fullmatch(r"[\w.-]+==[\w.]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n", entry), entry[:80]
    assert "://" not in LOCK
    assert "--index" not in LOCK


def test_makefile_and_image_install_by_the_lock() -> None:
    for file_name in ("Makefile", "Dockerfile"):
        assert re.search(
            r"--no-deps .*--require-hashes -r requirements\.lock$", (HOME / file_name).read_text(), re.MULTILINE
        )


def test_pip_refuses_a_package_whose_hash_differs(tmp_path: Path) -> None:
    wheel = tmp_path / "tiny-1-py3-none-any.whl"
    made = tmp_path / "made"
    (made / "tiny-1.dist-info").mkdir(parents=True)
    (made / "tiny-1.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1\n")
    (made / "tiny-1.dist-info/WHEEL").write_text("Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    (made / "tiny-1.dist-info/RECORD").touch()
    shutil.make_archive(str(wheel), "zip", made)
    Path(f"{wheel}.zip").rename(wheel)
    lock = tmp_path / "lock"
    lock.write_text("tiny==1 --hash=sha256:" + "0" * 64 + "\n")

    command = [sys.executable, "-m", "pip", "install", "--isolated", "--no-deps", "--require-hashes", "--no-index"]
    run = subprocess.run(
        [*command, "--find-links", tmp_path, "--target", tmp_path / "out", "-r", lock],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip

    assert run.returncode != 0
    assert "HASH" in run.stderr.upper()


def test_nothing_runs_at_the_start_of_python_that_is_not_on_the_list() -> None:
    folders = {Path(str(one.locate_file(""))) for one in distributions()}
    found = {path.name for folder in folders for path in folder.glob("*.pth")}

    assert {name for name in found if not PTH.fullmatch(name)} == set()
    assert not [
        path for folder in folders for name in ("sitecustomize", "usercustomize") for path in folder.glob(f"{name}*")
    ]


@pytest.mark.parametrize("wanted", [[], ["no-such-package"]])
def test_a_closure_holds_only_what_is_known(wanted: list[str]) -> None:
    universe = ["sqlalchemy", "typing-extensions", "numpy"]

    assert closure([*wanted, "SQLAlchemy"], universe) == {"sqlalchemy", "typing-extensions"}
