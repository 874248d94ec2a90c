"""What a study found is read from its abstract or conclusions, whatever form these have."""

import threading

import pytest

from index.documents.store import StoredDocument
from index.lexical.tantivy_index import LexicalIndex
from query_engine.collection.findings import Findings, FindingsSynthesizer, find_findings
from query_engine.retrieval.merging.group import Group
from tests.fakes.corpora import stored

PLAIN = """# Wool as a mulch for tomatoes

## Abstract

Coarse wool is often burned. We tested it as a mulch on four farms. Plots with wool gave 5.1 kg of fruit, against
3.9 kg on bare soil. Slugs were not deterred. The data are available at https://example.org/wool.

## Methods

We found that 91 % of the planned plots were mulched, and 4 % of the growers used straw.
"""
IN_PARTS = """NAPS AT NIGHT

SUMMARY

**Background.** Call takers get tired. **Methods.** They napped for 20 minutes. **Results.** Lapses fell from 5 to 3 per
test. **Conclusion.** Naps make call takers more alert.

1. BACKGROUND

Sleep matters.
"""
RUN_IN = """Small models of language

Abstract—Models are large. We propose a smaller one. It outperforms the large one by 4 %. We release our code.
Index Terms—language, models

I. INTRODUCTION

Models are everywhere.
"""
CONCLUSIONS = """Shell in mortar

1. INTRODUCTION

Shell is dumped.

2. CONCLUSIONS

Up to 40 % of the sand can be replaced by shell. The shell must be rinsed three times.
"""


def find(question: str, text: str, *more: str) -> Findings | None:
    documents = [stored(f"{place}.md", one, title=one.splitlines()[0]) for place, one in enumerate((text, *more))]
    by_version = {document.version: document for document in documents}

    def versions(wanted: object) -> dict[str, StoredDocument]:
        assert set(wanted) <= set(by_version)  # type: ignore[call-overload]
        return by_version

    leaves = [document.tree.leaves[-1] for document in documents]
    passages = [
        Group(document, leaf, document.tree[leaf].start, document.tree[leaf].end).passage()
        for document, leaf in zip(documents, leaves, strict=True)
    ]
    words = LexicalIndex(None)
    words.add((str(place), "v", document.text, "") for place, document in enumerate(documents))
    return find_findings(question, passages, versions, words)


def quoted(found: Findings | None) -> list[str]:
    assert found is not None
    return [quote.words for quote in FindingsSynthesizer(found).quotes("", (), threading.Event())]


@pytest.mark.parametrize(
    ("question", "text", "quotes"),
    [
        (
            "What did the trial of wool mulch find?",
            PLAIN,
            ["Plots with wool gave 5.1 kg of fruit, against 3.9 kg on bare soil. Slugs were not deterred."],
        ),
        (
            "What were the main results of the study on naps?",
            IN_PARTS,
            ["Lapses fell from 5 to 3 per test.", "Naps make call takers more alert."],
        ),
        ("What does the paper on small models show?", RUN_IN, ["It outperforms the large one by 4 %."]),
        (
            "What did the researchers conclude about shell?",
            CONCLUSIONS,
            ["Up to 40 % of the sand can be replaced by shell. The shell must be rinsed three times."],
        ),
        ("Which conclusions did the authors of the mortar paper draw?", CONCLUSIONS, None),
    ],
    ids=["abstract", "structured", "run-in", "conclusions", "draw"],
)
def test_what_was_found_is_quoted(question: str, text: str, quotes: list[str] | None) -> None:
    found = find(question, text)

    assert quotes is None or quoted(found) == quotes
    assert found is not None
    assert found.named
    for start, end in found.spans:
        assert found.passage.text[start - found.passage.start : end - found.passage.start] == text[start:end]


@pytest.mark.parametrize(
    "question",
    [
        "What did the study find about straw?",
        "How was the wool study made?",
        "What did the paper on lung cancer screening find?",
        "What did Madsen find on the neck of his daughter?",
        "Who paid for the study?",
    ],
)
def test_other_questions_are_left_to_the_reader(question: str) -> None:
    assert find(question, PLAIN) is None


def test_a_document_without_findings_has_none() -> None:
    assert find("What did the study find?", "Minutes\n\nThe board met. The study was not discussed.") is None


def test_the_study_need_not_be_the_best_passage_s_document() -> None:
    found = find("What did the study of naps find?", "News of wool\n\nA study of wool was published.", IN_PARTS)

    assert quoted(found)[0] == "Lapses fell from 5 to 3 per test."


def test_a_study_that_is_not_named_is_uncertain() -> None:
    found = find("What did the study find?", PLAIN)

    assert found is not None
    assert not found.named
