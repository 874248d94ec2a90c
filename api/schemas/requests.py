"""The bodies that clients send, checked before any work begins.

Flow: JSON -> **here** -> routes. What is wrong becomes a 422 in `errors.py`; messages never repeat the input.

`/run` and `/evaluate` ignore unknown fields, because strangers' clients send extras; elsewhere an unknown field is a
mistake and refused.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from errors import QuestionError
from index.feedback.store import Target
from ingestion.folder_changes import MAX_CHANGES
from ingestion.reading import fields
from ingestion.schema import RunOptions
from query_engine.question.validation import clean_question
from query_engine.retrieval.expansion.steering import Steering
from settings import CORPUS_NAME, Form, Mode
from sources.given_pages import GivenPage

MAX_NODE_ID_CHARS = 5000
MAX_FEEDBACK_CHARS = 2000
# Any way to write a day and an hour.
MAX_QUERY_TIME_CHARS = 100
# Of a conversation only the last turns are read.
MAX_TURNS, MAX_TURN_CHARS = 100, 20_000
# CRAG's third task gives 50 pages.
MAX_PAGES = 50
MAX_TITLE_CHARS = 1000
MAX_URL_CHARS = 8000
CHUNK_SIZES = ("chunk_size", "chunk_overlap")
# It stands in every sub-question.
MAX_TOPIC_CHARS = 1000


def _question(text: str) -> str:
    try:
        return clean_question(text)
    except QuestionError as error:
        raise PydanticCustomError("bad_question", "{reason}", {"reason": str(error)}) from error


def _metadata(found: dict[str, Any]) -> dict[str, Any]:
    words = [*found, *(value for value in found.values() if isinstance(value, str))]
    words += [entry for value in found.values() if isinstance(value, list) for entry in value]
    if fields.metadata(found, without=()) != found or not all(
        isinstance(word, str) and word.isprintable() for word in words
    ):
        raise PydanticCustomError(
            "bad_metadata",
            "Metadata are names with numbers, truth values, printable strings of up to {chars} characters, or lists of "
            "up to {entries} different strings of up to {entry_chars} characters.",
            {
                "chars": fields.MAX_VALUE_CHARS,
                "entries": fields.MAX_LIST_ENTRIES,
                "entry_chars": fields.MAX_ENTRY_CHARS,
            },
        )
    return found


def _printable(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise PydanticCustomError("bad_name", "Only printable characters are allowed, and no blanks around them.")
    return text


def _below(text: str) -> str:
    parts = text.split("/")
    if any(part in {"", ".", ".."} or part.startswith(".") or "\0" in part for part in parts):
        raise PydanticCustomError("bad_path", "Paths below the folder are like `a.md` or `notes/a.md`, none hidden.")
    return text


def _web_address(text: str) -> str:
    address = fields.web_address(text)
    if address is None:
        raise PydanticCustomError("bad_url", "A page's url is an http or https address; it is not fetched.")
    return address


Question = Annotated[str, AfterValidator(_question)]
PathBelow = Annotated[str, AfterValidator(_below), Field(min_length=1, max_length=4096)]
CorpusName = Annotated[str, Field(pattern=CORPUS_NAME)]
Weight = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1, max_length=fields.MAX_ENTRY_CHARS), AfterValidator(_printable)]
# Its name is repeated to the client.
ModelName = Annotated[str, Field(pattern=r"^[\w.:/@+-]{1,200}$")]
QueryTime = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_TIME_CHARS), AfterValidator(_printable)]


WebAddress = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS), AfterValidator(_web_address)]
# Of a chat completion it is the whole id.
FeedbackId = Annotated[str, Field(pattern=r"^(chatcmpl-)?[0-9a-f]{32}$")]

Filters = dict[str, Any]
"""LlamaIndex's `MetadataFilters` as JSON; what it may say is checked by `index/documents/filters.py`."""


class StrictBody(BaseModel):
    """A body in which an unknown field is refused."""

    @model_validator(mode="before")
    @classmethod
    def _only_known_fields(cls, body: Any) -> Any:
        # `extra="forbid"` would name the unknown field, and that is the client's text.
        if isinstance(body, dict) and not body.keys() <= cls.model_fields.keys():
            known = {"known": ", ".join(cls.model_fields)}
            raise PydanticCustomError("unknown_field", "There is an unknown field; known are {known}.", known)
        return body


class SteeringBody(StrictBody):
    """Where a question is moved before it is compared with passages; null is the same as left out."""

    move_to: Question | None = None
    move_to_weight: Weight | None = None
    move_away_from: Question | None = None
    move_away_from_weight: Weight | None = None

    @model_validator(mode="after")
    def _weights_have_a_goal(self) -> Self:
        if (self.move_to_weight and self.move_to is None) or (
            self.move_away_from_weight and self.move_away_from is None
        ):
            raise PydanticCustomError("contradiction", "A weight needs the text that it moves to or away from.")
        return self

    def value(self) -> Steering:
        """Return what the search is given."""
        return Steering(
            self.move_to, self.move_to_weight or 0.0, self.move_away_from, self.move_away_from_weight or 0.0
        )


def steering_of(body: SteeringBody | None) -> Steering | None:
    """Return what the search is given for an optional field; None leaves the question where it is."""
    return None if body is None else body.value()


class RunBody(BaseModel):
    """What `POST /run` takes."""

    question: Question
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    corpus: CorpusName | None = None
    filters: Filters | None = None
    steering: SteeringBody | None = None
    query_time: QueryTime | None = None
    mode: Mode | None = None
    form: Form | None = None


class EvaluateBody(BaseModel):
    """What `POST /evaluate` takes."""

    query: Question
    iid: str
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    corpus: CorpusName | None = None
    filters: Filters | None = None
    steering: SteeringBody | None = None
    query_time: QueryTime | None = None
    mode: Mode | None = None
    form: Form | None = None


class TurnBody(StrictBody):
    """One earlier message of a conversation."""

    role: Literal["user", "assistant"]
    text: Annotated[str, Field(min_length=1, max_length=MAX_TURN_CHARS)]


class QueryBody(StrictBody):
    """What `POST /query` and `POST /query/stream` take."""

    question: Question
    turns: Annotated[list[TurnBody], Field(max_length=MAX_TURNS)] = []
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] = 4
    include_context: StrictBool = False
    corpus: CorpusName | None = None
    filters: Filters | None = None
    steering: SteeringBody | None = None
    query_time: QueryTime | None = None
    mode: Mode | None = None


class GivenPageBody(StrictBody):
    """A web page that comes with a question: its HTML, or plain text."""

    url: WebAddress
    title: Annotated[str, Field(max_length=MAX_TITLE_CHARS)] | None = None
    html: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _html_or_text(self) -> Self:
        if (self.html is None) == (self.text is None):
            raise PydanticCustomError("contradiction", "A page has either html or text.")
        return self

    def value(self) -> GivenPage:
        """Return what is read."""
        return GivenPage(self.url, self.title, self.html, self.text)


class AnswerBody(StrictBody):
    """What `POST /answer` takes."""

    question: Question
    pages: Annotated[list[GivenPageBody], Field(max_length=MAX_PAGES)]
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    include_context: StrictBool = False
    query_time: QueryTime | None = None


class ResearchBody(StrictBody):
    """What `POST /agent/research` takes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"topic": "heat pumps", "max_subquestions": 5}]})

    topic: Annotated[Question, Field(max_length=MAX_TOPIC_CHARS)]
    max_subquestions: Annotated[int, Field(strict=True, ge=3, le=8)] = 5
    include_context: StrictBool = False
    corpus: CorpusName | None = None
    filters: Filters | None = None
    steering: SteeringBody | None = None
    query_time: QueryTime | None = None


class RetrieveBody(StrictBody):
    """What `POST /retrieve` takes; what is left out comes from the settings."""

    question: Question
    corpus: CorpusName | None = None
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    budget_chars: Annotated[int, Field(strict=True, ge=200, le=200_000)] | None = None
    mode: Literal["hybrid", "dense", "lexical"] | None = None
    fusion: Literal["evidence", "plain"] | None = None
    dense_share: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    merge: Annotated[bool, Field(strict=True)] | None = None
    merge_rule: Literal["evidence", "stock"] | None = None
    max_per_document: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    rerank: StrictBool | None = None
    rerank_query: Question | None = None
    explain: StrictBool = False
    filters: Filters | None = None
    steering: SteeringBody | None = None


class PapersBody(SteeringBody):
    """What `POST /vector` and `POST /hybrid` take; null means the same as leaving a field out."""

    question: Question
    top_k: Annotated[int, Field(strict=True, ge=1, le=200)] | None = None
    distance: Annotated[float, Field(strict=True, ge=0, le=2, allow_inf_nan=False)] | None = None
    topic: Name | None = None
    doc_type: Name | None = None
    preprocessor_id: Name | None = None
    paper_ids: Annotated[list[Name], Field(min_length=1, max_length=1000)] | None = None
    paragraph_terms: Annotated[list[Name], Field(min_length=1, max_length=100)] | None = None
    article_terms: list[Name] | None = None
    screening_top_k: Annotated[int, Field(strict=True, ge=1, le=1000)] | None = None
    corpus: CorpusName | None = None


class ReactBody(PapersBody):
    """What `POST /react` and `POST /react_streaming` take."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"question": "What is SIDARTHE model?", "top_k": 5}]})

    model_name: ModelName | None = None


class DeleteBody(StrictBody):
    """What `POST /documents/delete` takes."""

    filter: Filters
    corpus: CorpusName | None = None
    dry_run: StrictBool = False


class IngestBody(StrictBody):
    """What `POST /ingest` takes."""

    path: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    corpus: CorpusName | None = None
    root: Name | None = None
    metadata: Annotated[dict[str, Any], AfterValidator(_metadata)] = Field({}, max_length=100)
    topic: Name | None = None
    doc_type: Name | None = None
    limit: Annotated[int, Field(strict=True, ge=1)] | None = None
    files: Annotated[list[PathBelow], Field(min_length=1, max_length=MAX_CHANGES)] | None = None
    dry_run: StrictBool = False
    prune: StrictBool = False
    retry: StrictBool = False
    wait: StrictBool | None = None

    @model_validator(mode="before")
    @classmethod
    def _no_sizes(cls, body: Any) -> Any:
        """Clients of bedrock-rag-eval may send sizes, or null for its defaults."""
        if not isinstance(body, dict):
            return body
        if any(body.get(name) is not None for name in CHUNK_SIZES):
            raise PydanticCustomError(
                "contradiction",
                "The sizes of passages belong to the corpus, and passages do not overlap. Leave out `chunk_size` and "
                "`chunk_overlap`; set RAG_CHUNK__LEAF_TOKENS and ingest with --rebuild to change them",
            )
        return {name: value for name, value in body.items() if name not in CHUNK_SIZES}

    @model_validator(mode="after")
    def _path_or_retry(self) -> Self:
        if self.retry and self.model_fields_set - {"retry", "corpus", "wait"}:
            raise PydanticCustomError("contradiction", "A retry reads what failed before; give it only a corpus.")
        if not self.retry and self.path is None:
            raise PydanticCustomError("contradiction", "Name the path to ingest.")
        return self

    def options(self) -> RunOptions:
        """Return the options of the ingestion."""
        named = {"topic": self.topic, "doc_type": self.doc_type}
        return RunOptions(
            root_name=self.root or "",
            metadata=self.metadata | {name: value for name, value in named.items() if value is not None},
            limit=self.limit,
            dry_run=self.dry_run,
            prune=self.prune,
            files=None if self.files is None else tuple(self.files),
        )


class SpanBody(StrictBody):
    """A part of what the person read, characters `[start, end)`."""

    start: Annotated[int, Field(strict=True, ge=0)]
    end: Annotated[int, Field(strict=True, ge=1)]


class FeedbackBody(StrictBody):
    """What `POST /feedback` takes."""

    answer_id: FeedbackId | None = None
    retrieval_id: FeedbackId | None = None
    verdict: Literal["good", "bad", "relevant", "irrelevant"]
    node_id: Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID_CHARS)] | None = None
    step: Annotated[int, Field(strict=True, ge=0, le=10_000)] | None = None
    span: SpanBody | None = None
    text: Annotated[str, Field(max_length=MAX_FEEDBACK_CHARS)] | None = None

    @model_validator(mode="after")
    def _one_id_and_one_target(self) -> Self:
        if (self.answer_id is None) == (self.retrieval_id is None):
            raise PydanticCustomError("contradiction", "Send either `answer_id` or `retrieval_id`.")
        if sum(part is not None for part in (self.node_id, self.step, self.span)) > 1:
            raise PydanticCustomError("contradiction", "A verdict is about one of `node_id`, `step` and `span`.")
        if (self.verdict in ("relevant", "irrelevant")) != (self.node_id is not None):
            raise PydanticCustomError(
                "contradiction", "A passage, `node_id`, is `relevant` or `irrelevant`; all else is `good` or `bad`."
            )
        return self

    def target(self) -> Target:
        """Return what is judged."""
        span = None if self.span is None else (self.span.start, self.span.end)
        return Target(self.node_id, self.step, span)
