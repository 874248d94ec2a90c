"""Guides name what exists: files, headings, settings. Decisions in `docs/adr/` are history: only their links count."""

import re
from pathlib import Path

import pytest

from settings import variables

ROOT = Path(__file__).parents[2]
PAGES = [page for pattern in ("*.md", "docs/**/*.md", "reference/*.md", "data/*.md") for page in ROOT.glob(pattern)]
GUIDES = [page for page in PAGES if page.parent.name != "adr" and page.name != "CHANGELOG.md"]
FOLDERS = (
    "api|bench|data|deploy|docs|eval|index|ingestion|pipelines|query_engine|reference|research|sources|supply_chain|tests"
    "|training|treeline"
)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors_of(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)|^\[[^\]]+\]: (\S+)$", page.read_text(), re.MULTILINE)
    lost = []
    for link in (first or second for first, second in links):
        if re.match(r"https?:|mailto:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            lost.append(link)

    assert lost == []


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_file_of_the_tree_that_is_named_exists(page: Path) -> None:
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", page.read_text())

    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    known = set(variables())
    named = re.findall(r"\bRAG_[A-Z0-9_]+(?:\*|…)?", page.read_text())

    def is_known(name: str) -> bool:
        stem = name.rstrip("*…")
        return stem in known or (stem.endswith("_") and any(one.startswith(stem) for one in known))

    assert [name for name in named if not is_known(name)] == []


def test_the_change_requests_name_what_stands_in_the_file() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text().split("## Which file?")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][1:]

    assert rows
    for row in rows:
        file = ROOT / re.findall(rf"`((?:{FOLDERS})/[\w./]+)`", row)[0]
        names = re.findall(r"`([A-Z_]{4,})`", row)
        assert file.is_dir() or all(name in file.read_text() for name in names), row


@pytest.mark.parametrize("page", GUIDES, ids=name_of)
def test_no_heading_stands_twice_on_a_page(page: Path) -> None:
    headings = re.findall(r"^#+ .+$", re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL), re.MULTILINE)

    assert sorted(headings) == sorted(set(headings))


def test_the_rooms_are_the_folders_of_the_tree() -> None:
    rooms = (ROOT / "CONTRIBUTING.md").read_text().split("## The rooms")[1].split("\n\n")[1]
    parents: list[str] = []
    named = []
    for line in rooms.splitlines():
        indent, folder, about = re.fullmatch(r"    ((?:  )*)(\w+/) +(.*)", line).groups()  # type: ignore[union-attr]
        parents[len(indent) // 2 :] = [folder]
        named += ["".join(parents) + inner for inner in ["", *re.findall(r"\b\w+/", about)]]

    python = {file.parent.relative_to(ROOT) for top in FOLDERS.split("|") for file in (ROOT / top).rglob("*.py")}
    rooms_of_code = {f"{folder}/" for folder in python if folder.parts[0] not in ("data", "tests")}

    assert [folder for folder in named if not (ROOT / folder).is_dir()] == []
    assert sorted(rooms_of_code - set(named)) == []
