"""An answer as a chat over a task's results shows it: text with the numbers of documents.

Flow: the `Done` of `sources/given_pages.py` -> **here** -> `GET /task/chat/{chat_id}`. Pure.
"""

from errors import OutOfTimeError
from index.lexical.language import question_language
from query_engine import steps
from query_engine.schema.events import Done
from query_engine.text.markdown_escape import REFERENCE
from query_engine.translations import in_language


def to_chat_text(done: Done, message: str) -> str:
    """Return what the person reads: each `[n]` names its document, `[Doc 3]` for the third row of the table.

    Where the documents do not answer it is one fixed sentence, in the language of the message.
    """
    if done.answer is None:
        if not is_whole(done):
            return done.message
        return in_language(steps.NO_ANSWER, question_language(message))
    named = {citation.number: citation.doc_id for citation in done.citations}

    def marks(numbers: list[int]) -> str:
        return " ".join(dict.fromkeys(f"[{named[number]}]" for number in numbers))

    return REFERENCE.sub(lambda mark: marks(found) if (found := _known(mark[1], named)) else mark[0], done.answer)


def is_whole(done: Done) -> bool:
    """Say whether the documents were read to the end: answers cut by a time or size limit are not kept as turns."""
    return done.answer is not None or all(warning.code != OutOfTimeError.code for warning in done.warnings)


def _known(mark: str, named: dict[int, str]) -> list[int]:
    """Return the numbers of a mark, `1` or `1, 3`, all of which are citations; nothing for other brackets."""
    numbers = [int(part) for part in mark.replace(";", ",").split(",") if part.strip().isdecimal()]
    return numbers if numbers and all(number in named for number in numbers) else []
