import json
import random
import re
from pathlib import Path

import pytest
from sklearn.metrics import roc_auc_score

import training.reader
from training.reader.examples import (
    Example,
    SourceText,
    find,
    of_question,
    read_own,
    read_qed,
    with_exchanged_names,
    with_exchanged_words,
    without_giveaways,
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


def test_a_question_about_another_name_is_not_answered(rng: random.Random) -> None:
    asked = [_an_example(f"When did {name} open?", f"{name} opened in 1900.") for name in ("Arlen", "Bodmin")]

    exchanged = list(with_exchanged_names(asked, 1.0, rng))

    assert [one.question for one in exchanged] == ["When did Bodmin open?", "When did Arlen open?"]
    assert not any(one.answering for one in exchanged)


@pytest.mark.parametrize(
    ("sort", "question", "text", "pattern"),
    [
        ("opposite", "Which is the hardest wood?", "Oak is.", r"Which is the (?:softest|easiest) wood\?"),
        ("opposite", "Which room is least used?", "The hall is least used.", r"Which room is most used\?"),
        ("figure", "What opened in 1900?", "The mill opened in 1900.", r"What opened in (?!1900)\d{4}\?"),
        ("word", "Who oils the wheels?", "The miller oils the wheels.", r"Who (?:oils the peels|peels the wheels)\?"),
        ("not", "What is made of steel?", "Towers are.", r"What is not made of steel\?"),
    ],
)
def test_a_question_with_a_word_exchanged_is_not_answered(
    sort: str, question: str, text: str, pattern: str, rng: random.Random
) -> None:
    asked = [_an_example(question, text), _an_example("What oats do peels hold?", "None.", group="own/b")]

    exchanged = [one for _ in range(60) for one in with_exchanged_words(asked, rng) if one.text == text]

    assert not any(one.answering for one in exchanged)
    found = [one.question for one in exchanged if one.source == f"own, {sort}"]
    assert found
    assert all(re.fullmatch(pattern, one) for one in found)


def test_questions_that_their_words_give_away_are_thinned_out(rng: random.Random) -> None:
    given_away = [_an_example(f"How many were there in {year}?", "", group=f"a/{year % 20}") for year in range(200)]
    alike = [_an_example(f"Why did it fail in {year}?", "", group=f"b/{year % 20}") for year in range(300, 320)]
    answered = [_an_example(f"Why did it fail in {year}?", "It broke.", group=f"c/{year % 20}") for year in range(200)]

    kept = without_giveaways([*given_away, *alike, *answered], rng)

    assert sum(one in given_away for one in kept) < 60
    assert sum(one in alike for one in kept) > 10
    assert [one for one in kept if one.answering] == answered


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in DATA.glob("*/docs")))
def test_every_row_s_quotes_stand_in_its_document(folder: str) -> None:
    rows = [json.loads(line) for line in (DATA / folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {path.name: path.read_text(encoding="utf-8") for path in (DATA / folder / "docs").iterdir()}

    lost = [row["question"] for row in rows for quote in row["quotes"] if find(texts[row["doc"]], quote) is None]

    assert lost == []
    assert all(bool(row["quotes"]) == (row["form"] != "near_miss") for row in rows)


def _an_example(question: str, answer: str, *, group: str = "own/a") -> Example:
    units = ((0, len(answer)),) if answer else ((0, 4),)
    return Example("own", group, question, "A title", answer or "None", units, frozenset({0} if answer else ()))


def answering(one: Example) -> list[str]:
    return [one.text[slice(*one.units[place])] for place in sorted(one.answering)]


def test_search_queries_have_the_sentence_that_was_selected(tmp_path: Path, rng: random.Random) -> None:
    text = "The mill was built in 1820 . It ground oats ( not wheat ) . It burnt down later . "
    row = {
        "example_id": 7,
        "title_text": "The mill",
        "question_text": "what did the mill grind",
        "paragraph_text": text,
        "sentence_starts": [0, 29, 60],
        "annotation": {"selected_sentence": {"start": 29, "end": 60}},
    }
    left_out = {**row, "question_text": "who burnt the mill"}
    several = {**row, "question_text": "why did it burn", "annotation": {"explanation_type": "multi_sentence"}}
    path = tmp_path / "qed.jsonlines"
    path.write_text("\n".join(map(json.dumps, (row, left_out, several))), encoding="utf-8")

    (one,) = read_qed(path, {"who burnt the mill"}, rng)

    assert (one.question, one.title) == ("what did the mill grind", "The mill")
    assert answering(one) == ["It ground oats (not wheat)."]
