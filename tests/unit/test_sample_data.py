"""The sample's questions fit its documents: what they cite exists, and their evidence stands there word for word."""

import re
from functools import cache
from pathlib import Path

import pytest

from eval.cases import Case
from eval.questions.files import read_cases
from index.documents.store import Document
from ingestion.reading.formats import read_file
from ingestion.reading.options import ReadOptions

DATA = Path(__file__).parents[2] / "data"
CORPUS = DATA / "corpus"
CASES = read_cases(DATA / "questions.jsonl")
OPTIONS = ReadOptions(max_bytes=1_000_000, max_chars=1_000_000)


@cache
def texts() -> dict[str, str]:
    """Return doc_id -> the text as ingestion reads it, with single spaces."""
    found = {}
    for path in sorted(path for path in CORPUS.rglob("*") if path.is_file()):
        for item in read_file(path, path.relative_to(CORPUS).as_posix(), OPTIONS):
            assert isinstance(item, Document), f"{path} cannot be read: {item}"
            found[item.doc_id] = " ".join(item.text.split())
    return found


def sentences(case: Case) -> list[str]:
    return re.split(r"(?<=[.!?:]) ", case.reference_context or "")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_evidence_stands_word_for_word_in_the_documents_named(case: Case) -> None:
    if case.unanswerable:
        assert (case.relevant_docs, case.reference_context) == ((), None)
        return

    named = {doc_id: texts()[doc_id] for doc_id in case.relevant_docs}
    assert named
    assert [piece for piece in sentences(case) if not any(piece in text for text in named.values())] == []
    unused = [doc for doc, text in named.items() if not any(piece in text for piece in sentences(case))]
    assert case.category != "multi_hop" or unused == [], "every document is needed"


def test_the_readme_counts_the_documents_and_questions_that_are_there() -> None:
    readme = (DATA / "README.md").read_text()
    files = [path for path in CORPUS.rglob("*") if path.is_file()]
    kinds = {case.category for case in CASES}

    assert f"{len(files)} files" in readme
    assert f"{len(texts())} documents" in readme
    assert f"{len(CASES)} questions" in readme
    for kind in kinds:
        assert f"`{kind}` ({sum(case.category == kind for case in CASES)})" in readme


def test_the_pdfs_are_made_from_their_sources() -> None:
    for source in (DATA / "pdf_sources").glob("*.md"):
        _, front, body = source.read_text().split("---\n", 2)
        made = texts()[re.findall(r"output: (.*)", front)[0]]
        headings = re.findall(r"^#+ (.*)", body, re.MULTILINE)

        assert [heading for heading in headings if heading not in made] == []
