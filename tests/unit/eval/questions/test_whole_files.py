"""SQuAD's and Doc2Dial's files are one JSON value each: questions, and the documents that come with them."""

import json
from pathlib import Path
from typing import Any

import pytest

from eval.cases import BadCasesError
from eval.nuggets import find_region, fold
from eval.questions.reading import documents_of, read_questions

NORMANS = "The Normans were the people who in the 10th and 11th centuries gave their name to Normandy, in France."
SQUAD: dict[str, Any] = {
    "version": "v2.0",
    "data": [
        {
            "title": "Normans",
            "paragraphs": [
                {
                    "context": NORMANS,
                    "qas": [
                        {
                            "id": "56ddde6b",
                            "question": "When were the Normans in Normandy?",
                            "answers": [
                                {"text": "10th and 11th centuries", "answer_start": 40},
                                {"text": "in the 10th and 11th centuries", "answer_start": 33},
                                {"text": "10th and 11th centuries", "answer_start": 40},
                            ],
                            "is_impossible": False,
                        },
                        {
                            "plausible_answers": [{"text": "Normandy", "answer_start": 84}],
                            "question": "Who gave their name to Normandy in the 1000's?",
                            "id": "5ad39d53",
                            "answers": [],
                            "is_impossible": True,
                        },
                    ],
                },
                {"context": "A second paragraph without questions.", "qas": []},
            ],
        }
    ],
}
TEXT = (
    "Top 5 Mistakes\n\nForgetting to Update Address\nBy statute, you must report a change of address within ten days."
)
DOCUMENT = {
    "doc_id": "Top 5 DMV Mistakes#3_0",
    "title": "Top 5 DMV Mistakes#3",
    "domain": "dmv",
    "doc_text": TEXT,
    "spans": {
        "4": {
            "id_sp": "4",
            "tag": "u",
            "start_sp": 49,
            "end_sp": 110,
            "text_sp": "By statute, you must report a change of address within ten days. ",
            "title": "Forgetting to Update Address",
            "id_sec": "2",
            "start_sec": 20,
            "text_sec": TEXT.partition("\n\n")[2],
            "end_sec": 110,
        }
    },
    "doc_html_ts": "",
    "doc_html_raw": "",
}
DOCUMENTS = {"doc_data": {"dmv": {DOCUMENT["doc_id"]: DOCUMENT}}}


def dialogue(name: str, answer: str, act: str, *spans: str) -> dict[str, Any]:
    user = {"turn_id": 1, "role": "user", "da": "query_solution", "references": [], "utterance": "I moved. What now?"}
    found = [{"sp_id": span, "label": "solution", "doc_id": DOCUMENT["doc_id"]} for span in spans]
    agent = {"turn_id": 2, "role": "agent", "da": act, "references": found, "utterance": answer}
    later = {"turn_id": 3, "role": "user", "da": "query_solution", "references": [], "utterance": "And then?"}
    return {"dial_id": name, "doc_id": DOCUMENT["doc_id"], "domain": "dmv", "turns": [user, agent, later]}


DIALOGUES = [
    dialogue("a", "Report it within ten days.", "respond_solution", "4"),
    dialogue("b", "Did you move abroad?", "query_condition", "4"),
    dialogue("c", "I do not know.", "respond_no_solution"),
]


def written(folder: Path, value: object, name: str = "questions", **options: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(value, **options))
    return path


@pytest.mark.parametrize("indent", [None, 2])
def test_squad_is_read_with_its_answers_paragraph_and_near_misses(tmp_path: Path, indent: int | None) -> None:
    path = written(tmp_path, SQUAD, indent=indent)

    answered, impossible = read_questions(path)

    assert answered.answer == "10th and 11th centuries"
    assert answered.alternatives == ("in the 10th and 11th centuries",)
    assert answered.nuggets[0].any == (answered.answer, *answered.alternatives)
    assert answered.relevant_docs == ("Normans",)
    ((title, text),) = documents_of(path).items()
    span = find_region(fold(text), answered.regions[0])
    assert title == "Normans"
    assert span is not None
    assert fold(text)[slice(*span)] == fold(NORMANS)
    assert impossible.unanswerable


def test_squad_1_has_no_near_misses_and_is_told_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, {"data": SQUAD["data"], "version": "1.1"})

    assert len(read_questions(path, limit=1)) == 1


@pytest.mark.parametrize("by_document", [True, False], ids=["Doc2Dial", "MultiDoc2Dial"])
def test_first_turns_that_the_agent_answers_are_read(tmp_path: Path, by_document: bool) -> None:
    group = {DOCUMENT["doc_id"]: DIALOGUES} if by_document else DIALOGUES
    path = written(tmp_path, {"dial_data": {"dmv": group}})
    written(tmp_path, DOCUMENTS, "doc2dial_doc.json" if by_document else "multidoc2dial_doc.json")

    answered, unanswered = read_questions(path)

    assert (answered.id, answered.question) == ("a", "I moved. What now?")
    assert answered.answer == "Report it within ten days."
    assert answered.reference_contexts == (DOCUMENT["spans"]["4"]["text_sp"].strip(),)  # type: ignore[index]
    assert find_region(fold(TEXT), answered.regions[0])
    assert (unanswered.id, unanswered.unanswerable) == ("c", True)
    assert list(documents_of(path).values()) == [TEXT]


def test_dialogues_without_their_documents_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match=r"doc2dial_doc\.json"):
        read_questions(written(tmp_path, {"dial_data": {"dmv": DIALOGUES}}))


def test_a_file_of_another_shape_says_where_it_differs(tmp_path: Path) -> None:
    with pytest.raises(BadCasesError, match=r"SQuAD.*data\.0\.paragraphs"):
        read_questions(written(tmp_path, {"data": [{"title": "Normans"}]}))
