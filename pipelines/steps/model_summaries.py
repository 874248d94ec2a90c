"""Let the language model write summaries, and tell what of them no document holds.

Flow: `summaries.py` gives documents as passages -> the generative synthesizer of `query_engine/synthesis/`, with its
prompt for summaries -> **here** -> text with `[n]`, what it cites, warnings.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from errors import LLMError
from index.documents.sentences import split_sentences
from pipelines.handler import StepHandler
from pipelines.state import Row
from pipelines.steps.language_model import NOTHING_OF_USE, ModelCalls
from query_engine.schema.citations import Citations
from query_engine.schema.events import Citation, Restarted
from query_engine.schema.passage import Passage
from query_engine.schema.source import Source
from query_engine.synthesis.build import build_synthesizer
from query_engine.synthesis.generative import GenerativeSynthesizer
from query_engine.synthesis.unsupported import Held, unsupported

PROMPT = "summary"
"""The wording, among `query_engine/prompting/prompts/`."""

_MARKS = re.compile(r"(?:\s?\[\d{1,4}\])*")
_MARK = re.compile(r"\s?\[\d{1,4}\]")


@dataclass(frozen=True, slots=True)
class Summary:
    """What was written.

    Attributes:
        text: with `[n]` marks; empty where the model declined.
        citations: for each quote `number`, `doc_id`, `title`, `url`, `start`, `end`, `quote`.
        warnings: what was left out.
    """

    text: str
    citations: list[Row]
    warnings: list[str]

    @property
    def unmarked(self) -> str:
        """The text without marks."""
        return _MARK.sub("", self.text)


class SummaryWriter:
    """Writes summaries with the language model of the service.

    Args:
        handler: of the step.
        sentences: of a summary, at most.

    Attributes:
        name: of the model and its place, with what else decides a summary; for the row cache.
    """

    def __init__(self, handler: StepHandler, sentences: int) -> None:
        self._handler = handler
        self._sentences = sentences
        self._calls = ModelCalls(handler)
        settings = handler.services.settings
        # Of the settings, what decides the text beside model and prompt.
        self.name = [self._calls.name, PROMPT, settings.answer.max_context_chars, sentences]

    def summaries(self, rows: Sequence[Any], name: list[Any]) -> list[Summary]:
        """Return a summary for each row, from the row cache where it is there.

        Args:
            rows: what it is about, and the documents, each `[id, doc_id, title, url, start, text]`.
            name: of the step, for the row cache.

        Raises:
            LLMError: the model failed.
            OutOfTimeError: it took too long.
        """
        values = self._handler.each(rows, [*name, *self.name], self._written)
        return [Summary(**value) for value in values]

    def _written(self, rows: list[Any]) -> Iterator[dict[str, Any]]:
        services = self._handler.services
        llm = services.settings.llm.model_copy(update={"prompt": PROMPT})
        settings = services.settings.model_copy(update={"llm": llm})
        writer = build_synthesizer(settings, self._calls.model)
        for request, documents in rows:
            yield asdict(self._one(writer, request, documents))

    def _one(self, writer: GenerativeSynthesizer, request: str, documents: list[Any]) -> Summary:
        # Named by their places, so that two rows of one document are told apart.
        passages = [_passage(str(place), one) for place, one in enumerate(documents) if one[-1].strip()]
        if not passages:
            return Summary("", [], [])
        citations = Citations()
        try:
            text, recorded = self._read(writer, request, passages, citations)
        except LLMError as error:
            if error.code not in NOTHING_OF_USE:
                raise
            return Summary("", [], [f"A summary was left out. {error}"])
        text = _first_sentences(text.strip(), self._sentences)
        quotes = [one for one in citations.all(recorded) if f"[{one.number}]" in text]
        warnings = [warning.text for warning in citations.warnings()]
        held = Held([request, *(f"{one.title}\n{one.text}" for one in passages)])
        if loose := dict.fromkeys(one.text for one in unsupported(text, held)):
            warnings.append(f"In no document: {', '.join(loose)}")
        if not text:
            warnings.append("A summary was left out: the language model finds nothing to say.")
        return Summary(text, [_row(one, documents[int(one.doc_id)]) for one in quotes], warnings)

    def _read(
        self, writer: GenerativeSynthesizer, request: str, passages: list[Passage], citations: Citations
    ) -> tuple[str, int]:
        """Return what the model wrote, one sentence more than wanted at most, and how many quotes it had by then."""
        deadline, text = self._calls.deadline(), ""
        for piece in writer.write(request, [*map(Source, passages)], citations, self._handler.stop):
            deadline.check("while the language model was writing a summary")
            if isinstance(piece, Restarted):
                text = ""
            elif isinstance(piece, str):
                text += piece
            if len(split_sentences(text)) > self._sentences:
                return text, citations.recorded
        self._handler.check()  # the writer falls silent when the task is cancelled
        return text, citations.recorded  # what ends with the text is cited after it


def _first_sentences(text: str, count: int) -> str:
    """Return the first sentences, with the marks behind the last one."""
    sentences = split_sentences(text)
    if len(sentences) <= count:
        return text
    marks = _MARKS.match(text, sentences[count - 1].end)
    return text[: marks.end() if marks else sentences[count - 1].end]


def _row(citation: Citation, document: Sequence[Any]) -> Row:
    _, doc_id, title, url, _, _ = document
    place = {"start": citation.start, "end": citation.end, "quote": citation.quote}
    return {"number": citation.number, "doc_id": doc_id, "title": title, "url": url, **place}


def _passage(name: str, document: Sequence[Any]) -> Passage:
    chunk_id, _, title, _, start, text = document
    return Passage(
        node_id=chunk_id,
        chunk_id=chunk_id,
        doc_id=name,
        title=title,
        url=None,
        level="span",
        start=start,
        end=start + len(text),
        pages=(),
        score=1.0,
        scores={},
        text=text,
    )
