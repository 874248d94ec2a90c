"""The service itself, feedback, evaluation runs, and OpenAI's routes.

Flow: **here** -> `api/openapi.py`. Completions are made in `api/views/chat.py`, runs listed in `api/web/run_files.py`.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from api.schemas.replies.answers import Citation, Nearest
from api.schemas.replies.base import CorpusName, Fingerprint, GateReason, Id, Reply, Timings, Warnings


class OpenAIError(Reply):
    """What went wrong, in OpenAI's form."""

    message: str
    """What went wrong and what to do, for people."""
    type: Annotated[str, Field(examples=["invalid_request_error"])]
    """OpenAI's name for failures of this kind."""
    param: str | None
    """The field of the body that is refused; null where the failure is not about one."""
    code: Annotated[str, Field(examples=["model_not_found"])]
    """Names the failure; never changes."""


class OpenAIErrorReply(Reply):
    """A failure in OpenAI's form."""

    error: OpenAIError
    """What went wrong."""


class PingReply(Reply):
    """The service is there."""

    ping: Literal["pong!"]
    """Always the same."""


class HealthReply(Reply):
    """How the stores are, and how the language model was when last used."""

    status: Literal["ok", "degraded"]
    """Whether all were fine."""
    chroma: Annotated[str, Field(examples=["ok"])]
    """How the index is: `ok`, `damaged or refused`, or `no corpus is open`."""
    failing_stores: list[Literal["documents", "vectors", "words"]] = []
    """The stores of it that cannot be read, as far as that is known."""
    llm_ready: bool
    """Whether answers are written as the settings say."""
    llm_reason: str | None
    """How the language model's last answer went."""


class OpenCorpus(Reply):
    """An open corpus."""

    documents: int
    """Number of documents."""
    leaves: int
    """Number of leaves."""


class ServiceProcess(Reply):
    """The process that answered."""

    pid: int
    """Its number."""
    writes: bool
    """Whether it is the one that writes."""
    workers: int
    """How many processes the service has."""


class QuestionCounts(Reply):
    """Questions at this moment."""

    running: int
    """That are being answered."""
    waiting: int
    """That wait for a slot."""


class ReadyReply(Reply):
    """What is loaded; without a key, where keys are asked for, only `ready`."""

    ready: bool
    """Whether questions can be answered."""
    reasons: list[str] = []
    """Why not."""
    default_corpus: CorpusName = ""
    """The corpus that is asked where none is named."""
    corpora: dict[str, OpenCorpus] = {}
    """The open corpora, by name."""
    sources: list[str] = []
    """The sources that are asked where no corpus is named."""
    embedding: str | None = None
    """The embedding model."""
    synthesizer: str | None = None
    """Who writes answers."""
    writers: Annotated[list[str], Field(examples=[["fast", "big", "quotes"]])] = []
    """The names by which a question may choose who writes its answer; the first one writes where none is chosen."""
    note: str | None = None
    """How to connect a language model where none writes."""
    process: ServiceProcess | None = None
    """The process that answered."""
    slots: int = 0
    """Questions that can be answered at once."""
    questions: QuestionCounts | None = None
    """Questions at this moment."""
    versions: Annotated[dict[str, str], Field(examples=[{"treeline": "0.1.0"}])] = {}
    """Versions of what it runs on, by name."""


class ClearedReply(Reply):
    """What was forgotten."""

    cleared: int
    """Number of answers."""
    reason: str = ""
    """Why there were none; absent unless the cache is off."""


class FeedbackReply(Reply):
    """What was kept."""

    answer_id: Id = ""
    """The answer that was judged."""
    retrieval_id: Id = ""
    """The passages that were judged, where no answer was."""
    verdict: Literal["good", "bad", "relevant", "irrelevant"]
    """The verdict."""


class JudgedRecord(Reply):
    """Something that was judged, with what was said about it."""

    id: Id
    """Its id."""
    kind: Literal["answer", "retrieval"]
    """What it is."""
    corpus: CorpusName
    """The corpus that it comes from; `a+b` of several."""
    at: float
    """When it was given, seconds since 1970."""
    question: str
    """As it was asked."""
    filters: dict[str, Any] | None
    """Which documents could be found; null for all."""
    turns: int
    """Messages of the conversation before the question."""
    answer: str | None
    """The answer; null if there was none."""
    message: str
    """What the person read; empty for a retrieval."""
    steps: list[str]
    """What was told while it was made."""
    citations: list[dict[str, Any]]
    """What it cited."""
    passages: list[dict[str, Any]]
    """What it was made from."""
    synthesizer: str | None
    """Who wrote the answer."""
    fingerprint: Fingerprint
    """Hash of settings, models and documents."""
    feedback: list[dict[str, Any]]
    """The verdicts: `verdict`, `text`, `at`, and what each is about."""


class Mean(Reply):
    """The mean of a metric."""

    mean: float | None
    """The mean; null without scores."""
    n: int
    """Questions that have a score."""
    of: int
    """Questions that the metric applies to."""


class Metric(Reply):
    """What a metric is."""

    family: str
    """The group that it belongs to."""
    better: Literal["higher", "lower"]
    """Which way is better."""
    about: str
    """What it measures."""


class EvaluationRun(Reply):
    """An evaluation run; one with a `problem` may have nothing else but its name."""

    name: str
    """Its folder."""
    problem: str | None
    """Why it cannot be shown in full; null if it can."""
    started: str = ""
    """When it began."""
    questions: str = ""
    """The file of its questions."""
    questions_sha256: str = ""
    """Hash of that file."""
    asked: int | None = None
    """How many questions were asked."""
    corpus: str | None = None
    """The corpus that was asked."""
    target: str = ""
    """What was asked."""
    fingerprint: str = ""
    """Hash of settings, models and documents."""
    has_report: bool = False
    """Whether `/runs/{name}/report` has a page."""
    stale: bool = False
    """Whether it was scored after its report."""
    main_metrics: list[str] = []
    """The metrics to look at first."""
    means: dict[str, Mean] = {}
    """The mean of each metric."""


class RunsReply(Reply):
    """Evaluation runs with the figures of their reports."""

    runs: list[EvaluationRun]
    """The newest first, up to 200."""
    metrics: dict[str, Metric]
    """What each metric is."""
    older: int
    """How many runs are left out."""


class Model(Reply):
    """A corpus as a model."""

    id: Annotated[str, Field(examples=["default", "papers:agent"])]
    """Its name, perhaps with a mode."""
    object: Literal["model"]
    """Always the same."""
    created: int
    """When the corpus was made, seconds since 1970."""
    owned_by: Literal["treeline"]
    """Always the same."""


class ModelsReply(Reply):
    """The corpora as models."""

    object: Literal["list"]
    """Always the same."""
    data: list[Model]
    """The models."""


class ChatMessage(Reply):
    """The message of a completion."""

    role: Literal["assistant"]
    """Always the same."""
    content: str
    """The answer, or why there is none; each `[n]` is a link, and a list of sources ends it, unless the settings say
    otherwise."""
    reasoning_content: str
    """What was done, as Markdown."""
    refusal: None
    """Always null."""


class Choice(Reply):
    """The only choice of a completion."""

    index: Literal[0]
    """Always 0."""
    message: ChatMessage
    """The answer."""
    logprobs: None
    """Always null."""
    finish_reason: Literal["stop"]
    """Always the same."""


class ReasoningTokens(Reply):
    """What part of the completion tells steps."""

    reasoning_tokens: int
    """Tokens of `reasoning_content`."""


class Usage(Reply):
    """Estimated numbers of tokens."""

    prompt_tokens: int
    """Of all messages."""
    completion_tokens: int
    """Of the answer and its steps."""
    total_tokens: int
    """Of both."""
    completion_tokens_details: ReasoningTokens
    """What part of the completion tells steps."""


class TreelineExtras(Reply):
    """What `/query` says about an answer."""

    answered: bool
    """Whether there is an answer."""
    gate_reason: GateReason
    """Why there is an answer or none, as in the reply of `/query`."""
    cache_hit: bool
    """Whether the answer was given before and kept."""
    decline_text: str | None
    """How a language model declined, in its own words; null if none did."""
    unsupported: list[str]
    """Figures, names, flags, paths, addresses and quoted words of the answer that no source holds, each once."""
    synthesizer: str | None
    """Who wrote the answer; null without one."""
    warnings: Warnings
    """What lowered the quality, each a code and a sentence."""
    nearest: list[Nearest]
    """Where the answer may also stand, as in the reply of `/query`."""
    ignored: list[str]
    """Names of what was sent and has no influence on the answer, up to 100."""
    timings_ms: Timings
    """Milliseconds by stage."""
    fingerprint: Fingerprint
    """Hash of settings, models and documents."""


class _CompletionHead(Reply):
    id: Annotated[str, Field(examples=["chatcmpl-0112d419189a4402975ef303740e7bc8"])]
    """Its id; `/feedback` takes it as `answer_id`."""
    created: int
    """When it was made, seconds since 1970."""
    model: str
    """As it was sent."""


class CompletionReply(_CompletionHead):
    """An answer in OpenAI's form."""

    object: Literal["chat.completion"]
    """Always the same."""
    choices: list[Choice]
    """One choice."""
    usage: Usage
    """Estimated numbers of tokens."""
    citations: list[Citation]
    """One for each quoted place, ordered by number."""
    treeline: TreelineExtras
    """What `/query` says about an answer."""


class ChunkDelta(Reply):
    """What is new in a chunk."""

    role: Literal["assistant"] = "assistant"
    """In the first chunk."""
    content: str = ""
    """The next piece of the answer."""
    reasoning_content: str = ""
    """The next step, as Markdown."""


class ChunkChoice(Reply):
    """The only choice of a chunk."""

    index: Literal[0]
    """Always 0."""
    delta: ChunkDelta
    """What is new."""
    logprobs: None
    """Always null."""
    finish_reason: Literal["stop"] | None
    """`stop` in the last chunk with a choice."""


class CompletionChunk(_CompletionHead):
    """A chunk of an answer in OpenAI's form; `[DONE]` follows the last one."""

    object: Literal["chat.completion.chunk"]
    """Always the same."""
    choices: list[ChunkChoice]
    """One choice; none in the chunk that counts tokens."""
    usage: Usage | None = None
    """Estimated numbers of tokens, in the last chunk, if they were asked for."""
    citations: list[Citation] = []
    """One for each quoted place, in the chunk that ends the answer."""
    treeline: TreelineExtras | None = None
    """What `/query` says about an answer, in the chunk that ends it."""


class UrlCitation(Reply):
    """What a mark in the text stands for."""

    type: Literal["url_citation"]
    """Always the same."""
    start_index: int
    """Where the mark begins in the text, in characters."""
    end_index: int
    """Where it ends."""
    url: str
    """Of the document, or of its page in this service."""
    title: str
    """Of the document."""


class OutputText(Reply):
    """The text of a message."""

    type: Literal["output_text"]
    """Always the same."""
    text: str
    """The answer, or why there is none."""
    annotations: list[UrlCitation]
    """One for each `[n]` in the text."""
    logprobs: list[Any]
    """Always empty."""


class OutputMessage(Reply):
    """The message of a response."""

    type: Literal["message"]
    """Always the same."""
    id: Annotated[str, Field(examples=["msg_0112d419189a4402975ef303740e7bc8"])]
    """Its id."""
    role: Literal["assistant"]
    """Always the same."""
    status: Literal["in_progress", "completed"]
    """Whether it is whole."""
    content: list[OutputText]
    """One text; none before it begins."""


class ResponseReply(Reply):
    """An answer in the form of OpenAI's responses, whose fields that are not described have constant values."""

    model_config = ConfigDict(extra="allow")

    id: Annotated[str, Field(examples=["resp_0112d419189a4402975ef303740e7bc8"])]
    """For `previous_response_id`; `/feedback` takes it as `answer_id`."""
    object: Literal["response"]
    """Always the same."""
    created_at: int
    """When it was begun, seconds since 1970."""
    status: Literal["in_progress", "completed", "failed"]
    """How far it is."""
    model: str
    """As it was sent."""
    output: list[OutputMessage]
    """One message; none before it is whole."""
    error: dict[str, str] | None
    """`code` and `message` of a failure."""
    previous_response_id: str | None
    """As it was sent."""
    store: bool
    """Whether a later response may follow it."""
    usage: dict[str, Any] | None
    """Estimated numbers of tokens: `input_tokens`, `output_tokens`, `total_tokens`."""
    citations: list[Citation] = []
    """One for each quoted place, ordered by number; of a completed one."""
    treeline: TreelineExtras | None = None
    """What `/query` says about an answer; of a completed one."""


class ResponseEvent(Reply):
    """An event of a streamed response; `[DONE]` follows the last one."""

    model_config = ConfigDict(extra="allow")

    type: Annotated[str, Field(examples=["response.output_text.delta"])]
    """OpenAI's name for it, also the event's."""
    sequence_number: int
    """0 for the first one, then one more each."""
    response: ResponseReply | None = None
    """Where the response begins and where it ends."""
