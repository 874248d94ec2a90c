"""A run's answers as TREC's RAG track takes them, and the judges of TREC AutoJudge (`autojudge-base`) read them.

Flow: a run's folder -> **here** -> `command.py`. One JSON object a line and question: `metadata`, the documents cited
as `references`, and `answer`, sentences with the places of their documents in `references`. Questions without a reply
have no line. Marks of the citations are left out of the sentences, and headings are no sentences.
"""

import json
from typing import Any

from errors import RagError
from eval.rows import Row
from eval.run_folder import RunFolder
from eval.scoring.offline.citations import MOST_CHARS, marked_sentences

TEAM = "treeline"


def answer_lines(folder: RunFolder) -> str:
    """Return the answers, one a line.

    Raises:
        RagError: an answer is too long to be cut into sentences.
    """
    rows, questions = folder.rows(), {case.id: case.question for case in folder.cases()}
    about = {"team_id": TEAM, "run_id": folder.path.name, "run_desc": folder.header().target, "type": "automatic"}
    lines = (
        {"metadata": {**about, "narrative_id": row.id, "narrative": questions[row.id]}, **_answer(row)}
        for row in rows.values()
        if row.answer is not None
    )
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _answer(row: Row) -> dict[str, Any]:
    text = row.answer or ""
    if len(text) > MOST_CHARS:
        fact = f"The answer to {row.id} has {len(text)} characters; up to {MOST_CHARS} are cut into sentences."
        raise RagError(fact, "Ask for shorter answers, or leave this question out.", "not_converted")
    of_number = {one.number: one.doc_id or one.url for one in row.citations}
    sentences = [
        (one.text, [doc for number in one.numbers if (doc := of_number.get(number))]) for one in marked_sentences(text)
    ]
    references = list(dict.fromkeys(doc for _, docs in sentences for doc in docs))
    cited = [
        {"text": said, "citations": [references.index(doc) for doc in dict.fromkeys(docs)]} for said, docs in sentences
    ]
    return {"references": references, "answer": cited}
