import json
import random
from pathlib import Path

import pytest
from sklearn.metrics import roc_auc_score

import training.reader
from training.reader.examples import (
    SourceText,
    find,
    of_question,
    read_own,
)

DATA = Path(training.reader.__file__).with_name("data")
SHED = SourceText(
    "shed.md",
    "The bike shed",
    "# Keys\n\nThe shed has two keys. Batteries must not be charged there.\n\n# Bikes\n\n"
    + " ".join(f"Bike {number} stands on the left side of the long wall beside the door." for number in range(40)),
)


@pytest.fixture
def rng() -> random.Random:
    return random.Random(1)


def test_a_question_has_a_passage_that_answers_and_others_that_do_not(rng: random.Random) -> None:
    span = find(SHED.text, "Batteries must not\nbe charged there.")
    assert span is not None

    first, *others = of_question("own", SHED, "Where may I charge batteries?", [span], rng)

    assert [first.text[slice(*first.units[place])] for place in first.answering] == [
        "Batteries must not be charged there."
    ]
    assert first.title == "The bike shed"
    assert others[0].title == "The bike shed\nBikes"
    assert len(others) == 2
    assert not any(one.answering for one in others)


def test_a_near_miss_is_asked_of_the_passage_that_looks_like_an_answer(rng: random.Random) -> None:
    nearest = find(SHED.text, "The shed has two keys.")

    first, *_ = of_question("own", SHED, "Who has the keys of the shed?", [], rng, nearest=nearest, against=1)

    assert "The shed has two keys." in first.text
    assert not first.answering


@pytest.mark.parametrize("folder", ["office", "web"])
def test_the_length_of_a_passage_does_not_tell_whether_it_answers(folder: str, rng: random.Random) -> None:
    examples = list(read_own(DATA / folder / "rows.jsonl", DATA / folder / "docs", rng))

    told = roc_auc_score([bool(one.answering) for one in examples], [len(one.text) for one in examples])

    assert 0.4 < told < 0.6


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in DATA.glob("*/docs")))
def test_every_row_s_passages_stand_in_its_document(folder: str) -> None:
    rows = [json.loads(line) for line in (DATA / folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    docs = DATA / folder / "docs"
    texts = {path.relative_to(docs).as_posix(): path.read_text(encoding="utf-8") for path in docs.rglob("*.*")}
    passages = [row.get("quotes", row.get("regions")) for row in rows]

    lost = [
        row["question"]
        for row, own in zip(rows, passages, strict=True)
        for passage in own
        if find(texts[row["doc"]], passage) is None
    ]

    assert lost == []
    assert all(bool(own) == (row["form"] != "near_miss") for row, own in zip(rows, passages, strict=True))


def test_a_passage_is_found_by_its_first_and_its_last_words_whatever_its_markup() -> None:
    text = "Before. Run *this* `command` first.\n\n    tool --all\n\nThen wait."

    span = find(text, ["Run this command", "tool --all"])

    assert span is not None
    assert text[slice(*span)] == "Run *this* `command` first.\n\n    tool --all"
    assert find(text, ["Run this command", "nowhere"]) is None
    assert find(text, ["nowhere", "tool --all"]) is None
