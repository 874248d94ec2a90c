"""Read a stream of `POST /run` as a row, liberally: services of others keep MMU-RAG's contract in part.

Flow: `http.py` -> **here** -> `asking.py`. Pure. Whether the contract is kept is what `eval check-run` judges.

Read are `data:` lines and bare ones, `is_complete` for `complete`, one JSON object over several lines, and plain text,
which is then the answer. As in the arena each record replaces the one before, null changes nothing, and nothing after
the complete record counts. An empty `error` is not a failure here.
"""

from typing import Any

from pydantic_core import from_json

from eval.asking.target import NoReplyError
from eval.rows import Quote, Row, says_unknown

END = "[DONE]"
_OTHER_FIELDS = (":", "event:", "id:", "retry:")
UNFINISHED = "stream_unfinished: The stream ended without a record that says it is complete."


class StreamReply:
    """One stream while it is read.

    Attributes:
        complete: a record said so; what follows is passed over.
        steps: the intermediate steps so far, as they came.
        late_steps: they changed after the answer had begun.
    """

    def __init__(self) -> None:
        self.complete = False
        self.steps = ""
        self.late_steps = False
        self._text: list[str] = []
        self._report: str | None = None
        self._urls: list[str] = []

    def take(self, line: str) -> None:
        """Take the next line, without its end.

        Raises:
            NoReplyError: the service says that it failed.
        """
        if self.complete or line.startswith(_OTHER_FIELDS):
            return
        said = line.removeprefix("data:").removeprefix(" ")
        record = _object(said)
        if record is not None:
            self._record(record)
        elif said.strip() == END:
            self.complete = True
        else:
            self._text.append(said)

    def row(self, case_id: str, seconds: float, first_record_s: float | None) -> Row:
        """Return the row of the stream, which is over.

        Args:
            case_id: of the question.
            seconds: from the question to the end.
            first_record_s: from the question to the first line.

        Raises:
            NoReplyError: it holds no answer, or says that the service failed.
        """
        text = "\n".join(self._text).strip()
        streamed = self._report is not None
        if not streamed and (whole := _object(text)) is not None:
            self._record(whole)
            text = ""
        answer = (text if self._report is None else self._report).strip()
        if not answer:
            raise NoReplyError("The stream holds no answer.", "Mend the service.", lasting=True)
        return Row(
            id=case_id,
            outcome="declined" if says_unknown(answer) else "answered",
            answer=answer,
            citations=tuple(Quote(number=number, url=url) for number, url in enumerate(self._urls, start=1)),
            warnings=(UNFINISHED,) if streamed and not self.complete else (),
            seconds=seconds,
            first_record_s=first_record_s,
        )

    def _record(self, record: dict[str, Any]) -> None:
        if error := record.get("error"):
            raise NoReplyError(f"The service says: {str(error)[:200]}", "Ask it again, or mend it.")
        report, urls, steps = (record.get(key) for key in ("final_report", "citations", "intermediate_steps"))
        if isinstance(steps, str) and steps != self.steps:
            self.steps, self.late_steps = steps, self.late_steps or bool(self._report)
        if isinstance(report, str):
            self._report = report
        if isinstance(urls, list):
            self._urls = [url for url in urls if isinstance(url, str)]
        self.complete = record.get("complete") is True or record.get("is_complete") is True


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = from_json(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
