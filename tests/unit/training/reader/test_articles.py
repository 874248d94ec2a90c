"""Questions of others about SQuAD's articles find their article, and the sentence that answers."""

import json
from pathlib import Path

import pytest

from training.reader.articles import read_articles, rows_of_near_misses, rows_of_sentences, rows_of_squad

ARTICLES = {
    "Oats": "Oats are a cereal. They grow in Scotland.",
    "The_mill": "It stands there. The mill (built in 1820) ground oats. Nobody lives there.",
}


def test_articles_are_read_but_for_those_left_out(tmp_path: Path) -> None:
    for name, text in ARTICLES.items():
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")

    assert read_articles(tmp_path, {"Oats"}) == {"The_mill": ARTICLES["The_mill"]}


def test_the_sentence_that_holds_the_answer_is_the_quote(tmp_path: Path) -> None:
    text = ARTICLES["The_mill"]
    asked = [
        {"question": "When was it built?", "answers": [{"answer_start": text.index("1820"), "text": "1820"}]},
        {"question": "Who built it?", "answers": [], "is_impossible": True},
    ]
    article = {"title": "The_mill", "paragraphs": [{"context": text, "qas": asked}]}
    path = tmp_path / "squad.json"
    path.write_text(json.dumps({"data": [article, article | {"title": "Left_out"}]}), encoding="utf-8")

    assert list(rows_of_squad(path, ARTICLES)) == [
        {
            "question": "When was it built?",
            "doc": "The_mill.txt",
            "quotes": ["The mill (built in 1820) ground oats."],
        },
        {"question": "Who built it?", "doc": "The_mill.txt", "quotes": []},
    ]


def test_a_tokenized_sentence_is_found_in_its_article(tmp_path: Path) -> None:
    sentences, questions = tmp_path / "sentences", tmp_path / "questions"
    sentences.write_text("the mill -lrb- built in 1820 -rrb- ground oats .\nof another article .\n", encoding="utf-8")
    questions.write_text("what did the mill grind ?\nwhat is left out ?\n", encoding="utf-8")

    assert list(rows_of_sentences(sentences, questions, ARTICLES)) == [
        {
            "question": "what did the mill grind?",
            "doc": "The_mill.txt",
            "quotes": ["The mill (built in 1820) ground oats"],
        }
    ]


@pytest.fixture
def near_misses(tmp_path: Path) -> Path:
    asked = [
        *(f"Where do oats of number {letter} not grow ?" for letter in "ababab"),
        "What turns slowly on fields ?",
        *(f"What drives mills at river {letter} ?" for letter in "ababab"),
    ]
    path = tmp_path / "list.tsv"
    path.write_text("\n".join(["qid\tquestion\tword_att", *(f"id\t{one}\t0" for one in asked)]), encoding="utf-8")
    return path


def test_an_unanswerable_question_is_about_the_article_of_its_neighbours(near_misses: Path) -> None:
    oats = [f"Oats number {one} grow on wet fields of Scotland, {'and rain is what they need; ' * 5}" for one in "ab"]
    mills = [f"Mills stand at a river. Wheel {one} turns slowly, {'and the water drives it; ' * 6}" for one in "ab"]

    found = list(rows_of_near_misses(near_misses, {"Oats": "\n".join([*oats, "Short."]), "Mills": "\n".join(mills)}))

    assert [row["doc"] for row in found[:4]] == ["Oats.txt"] * 4
    assert [row["doc"] for row in found[-4:]] == ["Mills.txt"] * 4
    assert found[0] == {"question": "Where do oats of number a not grow?", "doc": "Oats.txt", "quotes": []}
