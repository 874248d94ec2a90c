"""The bodies that clients send, checked before any work begins.

Flow: JSON -> **here** -> routes. What is wrong becomes a 422 in `errors.py`; messages never repeat the input.

`/run` and `/evaluate` ignore unknown fields, because strangers' clients send extras; elsewhere an unknown field is a
mistake and refused. What stands below a field is its description in `/openapi.json`; fields that several bodies share
are described once, by their type.
"""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import PydanticCustomError

from api.schemas.replies.corpora import CHUNK_SIZES
from errors import QuestionError
from index.corpus import joined_name, member_names
from index.documents.filters import where
from index.feedback.store import Target
from ingestion.folder_changes import MAX_CHANGES
from ingestion.reading import fields
from ingestion.schema import RunOptions
from query_engine.question.validation import clean_question
from query_engine.retrieval.steering import Steering
from settings import CORPORA_NAME, CORPUS_NAME, Form, Mode
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
# It stands in every sub-question.
MAX_TOPIC_CHARS = 1000


def checked_question(text: str) -> str:
    """Return a question as it is asked; what is wrong with it is told of its field."""
    try:
        return clean_question(text)
    except QuestionError as error:
        raise PydanticCustomError("bad_question", "{reason}", {"reason": str(error)}) from error


def _metadata(found: dict[str, Any]) -> dict[str, Any]:
    found = fields.with_groups(found)  # its UnreadableError is no ValueError, and reaches the client as it is
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


def _corpora(names: Any) -> Any:
    if not isinstance(names, list):
        return names
    if not names or not all(isinstance(name, str) and re.fullmatch(CORPUS_NAME, name) for name in names):
        raise PydanticCustomError(
            "bad_corpora",
            "Corpora are a name, a list of names, or `*` for all; names are {names}.",
            {"names": CORPUS_NAME},
        )
    return joined_name(names)


Question = Annotated[str, AfterValidator(checked_question)]
PathBelow = Annotated[str, AfterValidator(_below), Field(min_length=1, max_length=4096)]
CorpusName = Annotated[str, Field(pattern=CORPUS_NAME)]
CorporaName = Annotated[
    str,
    BeforeValidator(_corpora),
    Field(pattern=CORPORA_NAME),
    AfterValidator(lambda name: joined_name(member_names(name))),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": CORPORA_NAME},
                {"type": "array", "items": {"type": "string", "pattern": CORPUS_NAME}, "minItems": 1, "maxItems": 64},
            ]
        }
    ),
]
"""What a question may go to, as the engines take it: `a`, `a+b` or `*`."""
Weight = Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)]
Distance = Annotated[float, Field(strict=True, ge=0, le=2, allow_inf_nan=False)]
Budget = Annotated[int, Field(strict=True, ge=200, le=200_000)]
Name = Annotated[str, Field(min_length=1, max_length=fields.MAX_ENTRY_CHARS), AfterValidator(_printable)]
# Its name is repeated to the client.
ModelName = Annotated[str, Field(pattern=r"^[\w.:/@+-]{1,200}$")]
QueryTime = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_TIME_CHARS), AfterValidator(_printable)]


WebAddress = Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS), AfterValidator(_web_address)]
# Of a chat completion and a response it is the whole id.
FeedbackId = Annotated[str, Field(pattern=r"^(chatcmpl-|resp_)?[0-9a-f]{32}$")]


def _meaningful(filters: dict[str, Any]) -> dict[str, Any]:
    where(filters)  # its FilterError is no ValueError, and reaches the client as it is
    return filters


Filters = Annotated[dict[str, Any], AfterValidator(_meaningful)]
"""LlamaIndex's `MetadataFilters` as JSON; `index/documents/filters.py` says what it may say."""

FILTER_EXAMPLE = {"filters": [{"key": "date", "operator": ">=", "value": "2024-01-01"}], "condition": "and"}

Asked = Annotated[
    Question, Field(description="The question, 1 to 8,000 characters.", examples=["How do wind turbines work?"])
]
Corpora = Annotated[
    CorporaName | None,
    Field(
        description="Corpus to ask, by its name; several as a list of names or `a+b`, `*` for all: they are read as "
        "one. The default corpus if left out.",
        examples=["papers", ["papers", "minutes"], "*"],
    ),
]
OneCorpus = Annotated[
    CorpusName | None, Field(description="Name of the corpus; the default one if left out.", examples=["papers"])
]
Filtered = Annotated[
    Filters | None,
    Field(
        description="Only documents that meet these conditions: LlamaIndex's `MetadataFilters`. `key` is a metadata "
        "key, or `doc_id`, `title`, `url`, `source`, `content_type` or `ingested_at`; entries nest up to 8 levels.",
        examples=[FILTER_EXAMPLE],
    ),
]
AskedAt = Annotated[
    QueryTime | None,
    Field(
        description="When the question was asked, in any notation of up to 100 characters; language models are told.",
        examples=["28 February 2024, 8:03"],
    ),
]
InMode = Annotated[
    Mode | None,
    Field(
        description="`single` searches once, `agent` in several rounds, `auto` decides by the question. "
        "The service's setting if left out.",
        examples=["single"],
    ),
]
InForm = Annotated[
    Form | None,
    Field(
        description="`answer` is short, `report` has sections and a list of references. "
        "The service's setting if left out.",
        examples=["answer"],
    ),
]
Writer = Annotated[
    ModelName | None,
    Field(
        description="Who writes the answer: one of the `writers` of `GET /ready`; `quotes` uses no language model. "
        "The service's setting if left out.",
        examples=["quotes"],
    ),
]
Count = Annotated[int, Field(strict=True, ge=1, le=200)]
"""Of passages or paragraphs."""
Passages = Annotated[
    Count | None,
    Field(description="Passages to answer from, 1 to 200. The service's setting if left out.", examples=[8]),
]
WithContext = Annotated[
    StrictBool, Field(description="Whether the reply holds the texts of the passages.", examples=[True])
]
Named = Annotated[Name | None, Field(examples=["covid"])]


class Body(BaseModel):
    """A body whose fields are described where they stand."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class StrictBody(Body):
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

    move_to: Annotated[Question | None, Field(examples=["offshore wind"])] = None
    """A text, 1 to 8,000 characters, that the question's vector is moved towards."""
    move_to_weight: Annotated[Weight | None, Field(examples=[0.5])] = None
    """How far, 0 to 1; 1 is halfway. 0 if left out."""
    move_away_from: Annotated[Question | None, Field(examples=["history"])] = None
    """A text, 1 to 8,000 characters, that the question's vector is moved away from."""
    move_away_from_weight: Annotated[Weight | None, Field(examples=[0.5])] = None
    """How far, 0 to 1; 1 is by half of their difference. 0 if left out."""

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


Steered = Annotated[
    SteeringBody | None,
    Field(
        description="Where the question's vector is moved before it is compared with passages; the search for words "
        "stays as it is.",
        examples=[{"move_to": "offshore wind", "move_to_weight": 0.5}],
    ),
]


def steering_of(body: SteeringBody | None) -> Steering | None:
    """Return what the search is given for an optional field; None leaves the question where it is."""
    return None if body is None else body.value()


class AskingBody(Body):
    """How a question is answered, in the contract of MMU-RAG."""

    top_k: Passages = None
    corpus: Corpora = None
    filters: Filtered = None
    steering: Steered = None
    query_time: AskedAt = None
    mode: InMode = None
    form: InForm = None
    writer: Writer = None


class RunBody(AskingBody):
    """What `POST /run` takes."""

    question: Asked


class EvaluateBody(AskingBody):
    """What `POST /evaluate` takes."""

    query: Asked
    iid: Annotated[str, Field(examples=["q-17"])]
    """Id of the question; the reply's `query_id`."""


class TurnBody(StrictBody):
    """One earlier message of a conversation."""

    role: Literal["user", "assistant"]
    """Who said it."""
    text: Annotated[str, Field(min_length=1, max_length=MAX_TURN_CHARS, examples=["Who published the limit?"])]
    """What was said, 1 to 20,000 characters; `content`, as OpenAI's clients call it, is taken too."""

    @model_validator(mode="before")
    @classmethod
    def _content_as_text(cls, body: Any) -> Any:
        if isinstance(body, dict) and "content" in body and "text" not in body:
            return {"text" if name == "content" else name: value for name, value in body.items()}
        return body


class QueryBody(StrictBody):
    """What `POST /query` and `POST /query/stream` take."""

    question: Asked
    turns: Annotated[list[TurnBody], Field(max_length=MAX_TURNS)] = []
    """The conversation before the question, oldest first, up to 100 messages; the question is read together with it."""
    top_k: Annotated[Count, Field(examples=[4])] = 4
    """Passages to answer from, 1 to 200."""
    include_context: WithContext = False
    corpus: Corpora = None
    filters: Filtered = None
    steering: Steered = None
    query_time: AskedAt = None
    mode: InMode = None
    writer: Writer = None


class GivenPageBody(StrictBody):
    """A web page that comes with a question: its HTML, or plain text."""

    url: Annotated[WebAddress, Field(examples=["https://example.org/wind"])]
    """Its http or https address, up to 8,000 characters; cited, and not fetched."""
    title: Annotated[Annotated[str, Field(max_length=MAX_TITLE_CHARS)] | None, Field(examples=["Wind"])] = None
    """Its title, up to 1,000 characters; taken from the HTML if left out."""
    html: Annotated[str | None, Field(examples=["<p>Wind turns the blades.</p>"])] = None
    """The page as HTML; either this or `text`."""
    text: Annotated[str | None, Field(examples=["Wind turns the blades."])] = None
    """The page as plain text; either this or `html`."""

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

    question: Asked
    pages: Annotated[list[GivenPageBody], Field(max_length=MAX_PAGES)]
    """The web pages to answer from, and nothing else: up to 50."""
    top_k: Passages = None
    include_context: WithContext = False
    query_time: AskedAt = None
    writer: Writer = None


class ResearchBody(StrictBody):
    """What `POST /agent/research` takes."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"topic": "heat pumps", "max_subquestions": 5}]})

    topic: Annotated[Question, Field(max_length=MAX_TOPIC_CHARS, examples=["heat pumps"])]
    """What to research, 1 to 1,000 characters."""
    max_subquestions: Annotated[int, Field(strict=True, ge=3, le=8, examples=[5])] = 5
    """Sub-questions, at most; 3 to 8."""
    include_context: WithContext = False
    corpus: Corpora = None
    filters: Filtered = None
    steering: Steered = None
    query_time: AskedAt = None
    writer: Writer = None


class RetrieveBody(StrictBody):
    """What `POST /retrieve` takes; what is left out comes from the settings."""

    question: Asked
    corpus: Corpora = None
    top_k: Annotated[Count | None, Field(examples=[10])] = None
    """Passages after merging, at most; 1 to 200."""
    budget_chars: Annotated[Budget | None, Field(examples=[8000])] = None
    """Characters of all passages together, at most; 200 to 200,000."""
    mode: Annotated[Literal["hybrid", "dense", "lexical"] | None, Field(examples=["hybrid"])] = None
    """Search by meaning (`dense`), by words (`lexical`) or by both (`hybrid`)."""
    dense_share: Annotated[Weight | None, Field(examples=[0.7])] = None
    """Weight of meaning against words in a hybrid search, 0 to 1."""
    merge: Annotated[StrictBool | None, Field(examples=[True])] = None
    """Whether leaves become larger passages where several of a part are found; `false` returns leaves."""
    max_per_document: Annotated[Count | None, Field(examples=[3])] = None
    """Passages of one document, at most; 1 to 200."""
    rerank: Annotated[StrictBool | None, Field(examples=[True])] = None
    """Whether the reranker of the settings orders the passages."""
    rerank_query: Annotated[Question | None, Field(examples=["How do wind turbines work?"])] = None
    """What the reranker compares passages with, 1 to 8,000 characters; the question if left out."""
    explain: Annotated[StrictBool, Field(examples=[True])] = False
    """Whether each passage says why it was found, and the reply names passages that were left out."""
    filters: Filtered = None
    steering: Steered = None


class PapersBody(SteeringBody):
    """What `POST /vector` and `POST /hybrid` take; null means the same as leaving a field out."""

    question: Asked
    top_k: Annotated[Count | None, Field(examples=[5])] = None
    """Paragraphs, at most; 1 to 200. 5 if left out."""
    distance: Annotated[Distance | None, Field(examples=[0.6])] = None
    """Largest cosine distance of question and paragraph, 0 to 2. No limit if left out."""
    topic: Named = None
    """Only papers with this topic."""
    doc_type: Annotated[Name | None, Field(examples=["paragraph"])] = None
    """Only this type: `paragraph`, `figure`, `table`, `equation`, or another that was given at ingestion."""
    preprocessor_id: Annotated[Name | None, Field(examples=["treeline-0.1.0-250-words"])] = None
    """Only papers that were prepared by this release, with paragraphs of this size."""
    paper_ids: Annotated[
        Annotated[list[Name], Field(min_length=1, max_length=1000)] | None,
        Field(examples=[["5e7b1f2a98f3bd0a7c4d1e01"]]),
    ] = None
    """Only these papers, up to 1,000."""
    paragraph_terms: Annotated[
        Annotated[list[Name], Field(min_length=1, max_length=100)] | None, Field(examples=[["SIDARTHE"]])
    ] = None
    """The paragraph holds all of these terms, as they are written; up to 100."""
    article_terms: list[Name] | None = None
    """Obsolete and not used; a header `Warning` says so."""
    screening_top_k: Annotated[Annotated[int, Field(strict=True, ge=1, le=1000)] | None, Field(examples=[100])] = None
    """Papers that `/hybrid` picks by their words, 1 to 1,000. 100 if left out; `/vector` does not use it."""
    corpus: Corpora = None


class ReactBody(PapersBody):
    """What `POST /react` and `POST /react_streaming` take."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"question": "What is SIDARTHE model?", "top_k": 5}]})

    model_name: Annotated[ModelName | None, Field(examples=["gpt-4"])] = None
    """What clients of ASK-xDD call `writer`, which counts if both are there. `gpt-4`, their default, is answered for by
    the settings' writer."""
    writer: Writer = None


class RenameBody(StrictBody):
    """What `PATCH /corpora/{name}` takes."""

    name: Annotated[CorpusName, Field(examples=["articles"])]
    """The corpus's new name; no corpus has it yet."""


class DeleteBody(StrictBody):
    """What `POST /documents/delete` takes."""

    filter: Annotated[Filters, Field(examples=[{"filters": [{"key": "content_type", "value": "pdf"}]}])]
    """What is deleted: the documents that meet these conditions, LlamaIndex's `MetadataFilters`."""
    corpus: OneCorpus = None
    dry_run: Annotated[StrictBool, Field(examples=[True])] = False
    """Count, and delete nothing."""


Size = Annotated[Annotated[int, Field(strict=True, ge=0)] | None, Field(examples=[800])]


class IngestBody(StrictBody):
    """What `POST /ingest` takes."""

    path: Annotated[Annotated[str, Field(min_length=1, max_length=4096)] | None, Field(examples=["data/docs"])] = None
    """File or folder below one of the folders that clients may have ingested, up to 4,096 characters; ids of documents
    are paths below it. Left out only with `retry`."""
    corpus: OneCorpus = None
    root: Annotated[Name | None, Field(examples=["reports"])] = None
    """Prefix of the ids of documents, to keep equal names of two folders apart; up to 200 characters."""
    metadata: Annotated[dict[str, Any], AfterValidator(_metadata)] = Field(
        {}, max_length=100, examples=[{"year": 2024, "authors": ["A. Betz"]}]
    )
    """Put over what the documents say themselves: up to 100 names with numbers, truth values, strings or lists of
    strings."""
    topic: Named = None
    """The documents' topic; with one, texts are read as papers."""
    doc_type: Annotated[Name | None, Field(examples=["figure"])] = None
    """The documents' type, for the routes of ASK-xDD."""
    limit: Annotated[Annotated[int, Field(strict=True, ge=1)] | None, Field(examples=[100])] = None
    """Stop after this many documents, 1 or more, known ones included."""
    files: Annotated[
        Annotated[list[PathBelow], Field(min_length=1, max_length=MAX_CHANGES)] | None,
        Field(examples=[["notes/a.md"]]),
    ] = None
    """Paths below the folder, up to 1,000: only these files and folders are read, or pruned."""
    dry_run: Annotated[StrictBool, Field(examples=[True])] = False
    """Compare and count; write nothing."""
    prune: StrictBool = False
    """Remove documents whose files are gone."""
    retry: StrictBool = False
    """Read only the files again that could not be read before; takes nothing else but `corpus` and `wait`."""
    wait: Annotated[StrictBool | None, Field(examples=[True])] = None
    """`true`: reply at the end; `false`: at once; left out: at the end, or after 10 seconds."""
    chunk_size: Size = None
    """What clients of bedrock-rag-eval send; it changes nothing, and `warnings` of the reply says so."""
    chunk_overlap: Size = None
    """Likewise."""

    @model_validator(mode="after")
    def _path_or_retry(self) -> Self:
        if self.retry and self.model_fields_set - {"retry", "corpus", "wait", *CHUNK_SIZES}:
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

    start: Annotated[int, Field(strict=True, ge=0, examples=[0])]
    """The first character, counted from 0."""
    end: Annotated[int, Field(strict=True, ge=1, examples=[24])]
    """The character after the last."""


class FeedbackBody(StrictBody):
    """What `POST /feedback` takes."""

    answer_id: Annotated[FeedbackId | None, Field(examples=["0112d419189a4402975ef303740e7bc8"])] = None
    """Of the answer that is judged: `answer_id` of its reply, the header `X-Answer-Id`, or the id of a chat completion.
    Either this or `retrieval_id`."""
    retrieval_id: FeedbackId | None = None
    """Of the passages that are judged: `retrieval_id` of the reply of `/retrieve`."""
    verdict: Annotated[Literal["good", "bad", "relevant", "irrelevant"], Field(examples=["good"])]
    """`relevant` and `irrelevant` are said of a passage, `good` and `bad` of anything else."""
    node_id: Annotated[str, Field(min_length=1, max_length=MAX_NODE_ID_CHARS)] | None = None
    """The passage that the verdict is about: its `node_id` or `chunk_id`, up to 5,000 characters."""
    step: Annotated[Annotated[int, Field(strict=True, ge=0, le=10_000)] | None, Field(examples=[1])] = None
    """The step that the verdict is about, counted from 0, up to 10,000."""
    span: SpanBody | None = None
    """The part of the answer that the verdict is about."""
    text: Annotated[
        Annotated[str, Field(max_length=MAX_FEEDBACK_CHARS)] | None, Field(examples=["The second source is outdated."])
    ] = None
    """A remark, up to 2,000 characters."""

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
