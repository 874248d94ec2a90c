"""What a study found, and what a meeting decided, is read where such documents say it, whatever their form."""

import threading

import pytest

from index.documents.store import StoredDocument
from index.lexical.tantivy_index import LexicalIndex
from query_engine.collection.outcomes import Outcome, OutcomeSynthesizer, find_outcome
from query_engine.retrieval.merging.group import Group
from query_engine.schema.citations import Citations
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


MINUTES = """Minutes of the committee meeting of 3 May

1. Last meeting
The minutes of 2 April were approved.

2. Landing stage
Three firms were asked. The committee accepted the quotation of Corrick.

3. Subscriptions
Piet proposed 215 for adults. Dov had doubts. After discussion the proposal was carried by four votes to one.
"""


BOAT = """Minutes of the boat committee

Anna proposed to buy a new boat. The cost was discussed at length. The committee agreed to ask three yards. The motion
was carried by five votes to two.
"""
REPORT = """Annual report of the port

Executive summary

Costs of fuel rose by 12 % in the year. The staff were content, and the customers too.

Customer survey

Four in five customers were satisfied.
"""


def find(question: str, text: str, *more: str) -> Outcome | None:
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
    return find_outcome(question, passages, versions, words)


def quoted(found: Outcome | None) -> list[str]:
    assert found is not None
    return [quote.words for quote in OutcomeSynthesizer(found).quotes("", (), threading.Event())]


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
        (
            "What did they find out in the wool trial?",
            PLAIN,
            ["Plots with wool gave 5.1 kg of fruit, against 3.9 kg on bare soil. Slugs were not deterred."],
        ),
        ("What does the paper on small models show?", RUN_IN, ["It outperforms the large one by 4 %."]),
        (
            "What did the researchers conclude about shell?",
            CONCLUSIONS,
            ["Up to 40 % of the sand can be replaced by shell. The shell must be rinsed three times."],
        ),
        (
            "What was the aim of the wool trial?",
            PLAIN,
            ["We tested it as a mulch on four farms."],
        ),
        (
            "What was decided at the committee meeting in May?",
            MINUTES,
            [
                "The committee accepted the quotation of Corrick.",
                "Piet proposed 215 for adults. Dov had doubts. After discussion the proposal was carried by four votes "
                "to one.",
            ],
        ),
        (
            "What did the committee decide about the landing stage?",
            MINUTES,
            ["The committee accepted the quotation of Corrick."],
        ),
        ("Which conclusions did the authors of the mortar paper draw?", CONCLUSIONS, None),
        (
            "What are the limitations of the wool trial?",
            f"{PLAIN}\n\n## Limits\n\nThe summer was dry. Slugs were counted once.\n\n## Thanks\n\nWe thank the farms.",
            ["The summer was dry. Slugs were counted once."],
        ),
        (
            "What were the weak spots of the wool trial?",
            f"{PLAIN}\n\n## Discussion\n\nWool is cheap.\n\nIt works. Some cautions apply. The summer was dry.",
            ["Some cautions apply. The summer was dry."],
        ),
    ],
    ids=[
        "abstract",
        "structured",
        "they",
        "run-in",
        "conclusions",
        "aim",
        "decisions",
        "one decision",
        "draw",
        "limits",
        "cautions",
    ],
)
def test_what_was_found_is_quoted(question: str, text: str, quotes: list[str] | None) -> None:
    found = find(question, text)

    assert quotes is None or quoted(found) == quotes
    assert found is not None
    assert found.named
    for said in found.said:
        assert said.passage.text == text[said.passage.start : said.passage.end]
        assert said.passage.start <= said.start < said.end <= said.passage.end


def test_limits_are_quoted_whole_from_a_text_without_blank_lines() -> None:
    text = "Some cautions apply to the wool trial. It was dry.\n## Methods\nBeds were weighed.\n## Results\nIt grew."

    assert quoted(find("What are the limits of the wool trial?", text))[0].startswith("Some cautions apply")


def test_decisions_are_a_list_under_what_they_are_about() -> None:
    outcome = find("What was decided at the committee meeting?", MINUTES)

    assert outcome is not None
    synthesizer = OutcomeSynthesizer(outcome)
    text = "".join(synthesizer.write("", (), Citations(), threading.Event()))
    assert text == (
        "- **Landing stage**: The committee accepted the quotation of Corrick. [1]\n"
        "- **Subscriptions**: Piet proposed 215 for adults. Dov had doubts. After discussion the proposal was carried "
        "by four votes to one. [2]"
    )


@pytest.mark.parametrize(
    "question",
    [
        "Who has to do what after the boat meeting?",
        "After the boat meeting, who has to do what?",
        "what are the action points from the boat meeting",
        "Which actions were agreed at the boat meeting?",
    ],
)
def test_actions_are_a_list_a_table_s_without_its_bars(question: str) -> None:
    outcome = find(
        question, f"{BOAT}\nACTIONS\n\n| Who | What |\n|---|---|\n| Anna | ask yards |\n| Bo | sell oars |\n"
    )

    assert outcome is not None
    text = "".join(OutcomeSynthesizer(outcome).write("", (), Citations(), threading.Event()))
    assert text == "- Anna, ask yards [1]\n- Bo, sell oars [2]"


def test_only_minutes_have_actions() -> None:
    assert find("Who has to do what?", "Notes on films\n\nACTIONS\n\nRun: away from the bear\n") is None


def test_what_a_decision_points_back_to_is_quoted_once_and_in_order() -> None:
    found = find("What did the boat committee decide?", BOAT)

    assert quoted(found) == [" ".join(BOAT.split("\n\n")[1].split())]


def test_a_decision_far_down_is_found_by_what_it_is_about() -> None:
    filler = "".join(
        f"\n{n}. Item {n}\nIt was agreed to {'look again at all that was said ' * 10}.\n" for n in range(1, 12)
    )
    text = f"Minutes of the council\n{filler}\n12. Hall\nIt was agreed to paint the hall.\n"
    one, all_ = find("What was decided about the hall?", text), find("What did the council decide?", text)

    assert quoted(one) == ["It was agreed to paint the hall."]
    assert all_ is not None
    assert all_.left > 0
    told = "".join(OutcomeSynthesizer(all_).write("", (), Citations(), threading.Event()))
    assert told.endswith(f"- and {all_.left} more")


@pytest.mark.parametrize(
    "question",
    [
        "What did the customer survey find?",
        "What did the investigation of the fuel costs find?",
    ],
)
def test_a_report_is_no_study(question: str) -> None:
    assert find(question, REPORT) is None


@pytest.mark.parametrize(
    "question",
    [
        "What was decided at the meeting in May and who was present?",
        "What was decided about the boat house?",
        "What was decided at the meeting of the board of Siemens in Munich?",
        "Who attended the committee meeting?",
        "What did the committee study find?",
    ],
)
def test_minutes_tell_nothing_else(question: str) -> None:
    assert find(question, MINUTES) is None


@pytest.mark.parametrize(
    "question",
    [
        "What did the study find about straw?",
        "What was the aim of the wool trial and who paid for it?",
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
