import os
from pathlib import Path

import pytest

from api.security.ingest_paths import locate
from errors import IngestRefusedError, UnknownPathError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with a file and a folder, links that stay in it, links that leave it, and a neighbour."""
    root = tmp_path / "docs"
    (root / "wind").mkdir(parents=True)
    (root / "wind" / "onshore.md").write_text("Wind.")
    (root / "odd %2e%2e name.md").write_text("Odd.")
    (tmp_path / "docs-private").mkdir()
    (tmp_path / "docs-private" / "key.md").write_text("secret")
    (root / "inner.md").symlink_to(root / "wind" / "onshore.md")
    (root / "outer.md").symlink_to(tmp_path / "docs-private" / "key.md")
    (root / "outer").symlink_to(tmp_path / "docs-private")
    (root / "up").symlink_to("..")
    (root / "dangling.md").symlink_to("/nowhere/at/all.md")
    (root / "loop").symlink_to("loop")
    return root


def outside(name: str) -> list[str]:
    """Return ways to name a neighbour of the root, or a file of the system."""
    return [
        "..",
        "../",
        f"../{name}",
        f"../{name}/key.md",
        f"wind/../../{name}/key.md",
        f"./.././{name}/key.md",
        f"wind//..//..//{name}",
        "../../../../../../../../etc/passwd",
        "wind/../../../../../../etc/shadow",
        "../nothing-is-here",
        "/",
        "//",
        "/etc/passwd",
        "//etc/passwd",
        "/proc/self/environ",
        "/proc/self/root",
        f"/proc/self/cwd/{'../' * 20}etc/passwd",
        "/proc/1/../self/environ",
        "/dev/zero",
        "/nowhere/at/all",
        "outer.md",
        "outer",
        "outer/",
        "outer/key.md",
        "outer/nothing",
        "wind/../outer/key.md",
        "up",
        f"up/{name}/key.md",
        "up/../../etc",
        "dangling.md",
    ]


NOWHERE = [
    "%2e%2e/docs-private/key.md",
    "%2e%2e%2fdocs-private",
    "..%2fdocs-private",
    "..%5cdocs-private",
    "..\\docs-private\\key.md",
    "....//docs-private",
    "\uff0e\uff0e/docs-private",
    "~/docs",
    "$HOME",
    "file:///etc/passwd",
    "wind/onshore.md\0.txt",
    "\0",
    "wind/\ud800.md",
    "x" * 300,
    "x/" * 2000,
    "wind/onshore.md/more",
    "loop",
    "loop/onshore.md",
    "missing",
    "*",
]


@pytest.mark.promise("E30")
@pytest.mark.fault("E1")
@pytest.mark.parametrize("given", outside("docs-private"))
def test_what_lies_outside_is_refused_whether_it_exists_or_not(root: Path, given: str) -> None:
    with pytest.raises(IngestRefusedError, match="leads out of the folders") as caught:
        locate([root], given)

    assert str(root.parent) not in str(caught.value)


def test_an_absolute_path_beside_the_root_is_refused(root: Path) -> None:
    with pytest.raises(IngestRefusedError):
        locate([root], f"{root}-private/key.md")


@pytest.mark.parametrize("given", NOWHERE, ids=range(len(NOWHERE)))
def test_a_name_that_no_file_has_is_unknown(root: Path, given: str) -> None:
    with pytest.raises(UnknownPathError, match="below RAG_INGEST__ROOT"):
        locate([root], given)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (".", "."),
        ("wind", "wind"),
        ("wind/", "wind"),
        ("./wind/../wind/onshore.md", "wind/onshore.md"),
        ("inner.md", "wind/onshore.md"),
        ("odd %2e%2e name.md", "odd %2e%2e name.md"),
    ],
)
def test_a_path_below_the_root_is_found_with_its_links_resolved(root: Path, given: str, found: str) -> None:
    assert locate([root], given) == (root / found).resolve()


def test_an_absolute_path_below_the_root_is_found(root: Path) -> None:
    assert locate([root], str(root / "wind")) == root / "wind"


def test_the_root_may_be_a_link_itself_and_be_relative(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(root)
    monkeypatch.chdir(tmp_path)

    assert locate([Path("link")], "wind") == root / "wind"
    assert locate([Path("link")], f"{tmp_path}/link/wind") == root / "wind"


def test_of_two_roots_the_first_that_holds_a_relative_path_counts(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "wind").mkdir(parents=True)
    (other / "wind" / "offshore.md").write_text("Sea.")

    assert locate([root, other], "wind") == root / "wind"
    assert locate([root, other], "wind/offshore.md") == other / "wind" / "offshore.md"
    assert locate([root, other], str(other)) == other
    with pytest.raises(IngestRefusedError):
        locate([root, other], str(tmp_path / "docs-private"))


def test_a_path_relative_to_the_working_directory_is_found_below_a_root_alone(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root.parent)

    assert locate([root], "docs") == root
    assert locate([root], "docs-private/../docs/wind") == root / "wind"
    with pytest.raises(UnknownPathError):
        locate([root], "docs-private/key.md")
    monkeypatch.chdir(root / "wind")
    assert locate([root], "wind/onshore.md") == root / "wind" / "onshore.md"


def test_without_a_root_everything_is_refused_with_the_remedy() -> None:
    with pytest.raises(IngestRefusedError, match="Set RAG_INGEST__ROOT"):
        locate([], "wind")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may look into every folder")
def test_a_folder_that_may_not_be_looked_into_is_unknown(root: Path) -> None:
    (root / "wind").chmod(0)
    try:
        with pytest.raises(UnknownPathError):
            locate([root], "wind/onshore.md")
    finally:
        (root / "wind").chmod(0o700)
