"""The settings, declared: what there is in each group, its type, range, default and meaning.

Flow: **here** -> `settings.py` reads them and hands them on; the rest of the project imports them from there. A field's
description is its line in `reference/settings.md` and `.env.example`, and the group's docstring its heading there; both
are written by `settings_reference.py`. Fields that decide what is on disk are marked in `index/layout/manifest.py`, not
here.
"""

import json
import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

RAY_ADDRESS = r"^(local|[^\s:/]+:\d{1,5})$"
OTHER_MODEL = r"(huggingface|openai|ollama)(:[^,@\s]+)?(@https?://[^,@\s]+)?"
NAMED_MODEL = rf"[\w.-]{{1,40}}={OTHER_MODEL}"
URL_KEY = r"https?://[^\s,=@]+=[!-+\--~]+"
Mode = Literal["single", "agent", "auto"]
Form = Literal["answer", "report"]
# The embedding models that are packaged, and the choice between them.
MINILM, MULTILINGUAL, AUTO = "minilm", "multilingual", "auto"
# In one slice of an ingestion, which waits for the slowest request at its end.
REQUESTS_PER_CONNECTION = 8
MIN_KEY_CHARS = 16
# What the prompt `short` promises.
SHORT_WORDS = 50
URL_OPTIONS = r"^https?://[^\s?#]+(\?\w+=[^=&\s#]+(&\w+=[^=&\s#]+)*)?$"
CORPUS_NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"
# One corpus, several as `a+b`, or all.
CORPORA_NAME = r"^([a-z0-9][a-z0-9_-]{0,62}(\+[a-z0-9][a-z0-9_-]{0,62}){0,63}|\*)$"


class Group(BaseModel):
    """Immutable and strict: only declared names, only values in range."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class ServeSettings(Group):
    """The HTTP service: address, access, queue and logs."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 picks a free one.")
    public_url: str | None = Field(
        None, pattern=r"^https?://", description="Base URL of document links; the request's base URL if unset."
    )
    allowed_hosts: str | None = Field(
        None,
        pattern=r"^[^\s,/]+(,[^\s,/]+)*$",
        description="Comma-separated hosts, `NAME` or `NAME:PORT`, that clients may ask the service by, beside "
        "loopback names, `RAG_SERVE__HOST` and the host of `RAG_SERVE__PUBLIC_URL`, and whose web pages may write to "
        "it, beside its own. The name asked by is checked on loopback without keys, and wherever this is set.",
    )
    title: str = Field(
        "Treeline",
        min_length=1,
        max_length=100,
        description="Name that the web page shows; `APP_TITLE` means the same.",
        json_schema_extra={"alias": "APP_TITLE"},
    )
    subtitle: str = Field(
        "",
        max_length=200,
        description="What the web page shows beside the name; `APP_SUBTITLE` means the same.",
        json_schema_extra={"alias": "APP_SUBTITLE"},
    )
    theme: str = Field(
        "system",
        max_length=50,
        description="`light` or `dark` until a reader chooses; else their system's. `COLOR_THEME` means the same.",
        json_schema_extra={"alias": "COLOR_THEME"},
    )
    about_text: str = Field(
        "About",
        min_length=1,
        max_length=100,
        description="What the web page calls the next link; `APP_ABOUT_LINK_TEXT` means the same.",
        json_schema_extra={"alias": "APP_ABOUT_LINK_TEXT"},
    )
    about_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s]+$",
        description="Where it leads; without it there is none. `APP_ABOUT_LINK_URL` means the same.",
        json_schema_extra={"alias": "APP_ABOUT_LINK_URL"},
    )
    proxies: str | None = Field(
        None,
        pattern=r"^[^\s,]+(,[^\s,]+)*$",
        description="Comma-separated addresses or networks of the proxies before the service, whose `X-Forwarded-For` "
        "and `X-Forwarded-Proto` are believed; nobody's if unset.",
    )
    cors_origins: str | None = Field(
        None,
        pattern=r"^https?://[^\s,/]+(,https?://[^\s,/]+)*$",
        description="Comma-separated origins, `https://NAME[:PORT]`, whose pages may use the service from a browser "
        "(CORS); none if unset.",
    )
    open: bool = Field(False, description="Listen beyond loopback without keys (a competition container needs it).")
    keys: SecretStr | None = Field(
        None,
        description="Comma-separated API keys of 16 characters or more, which open everything; required except for "
        "probes. No key is required if this and the next are unset.",
    )
    keys_file: Path | None = Field(
        None,
        description="File of further keys, each for some uses and corpora, which `treeline keys` writes; with it keys "
        "are required.",
    )
    workers: int = Field(
        1,
        ge=1,
        le=64,
        description="Processes that answer behind the one port; one of them writes. Needs the extra `gunicorn`.",
    )
    role: Literal["writer", "reader"] = Field(
        "writer",
        description="`reader` answers beside a service that writes the same corpora, with the vectors on a Chroma "
        "server, and on another machine with the documents in PostgreSQL.",
    )
    writer_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Address of the service that writes, to which a `reader` hands over ingestions, deletions, jobs "
        "and tasks; it refuses them if unset.",
    )
    slots: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Questions answered in parallel by each process; one per core, divided by the workers (at least "
        "two), if unset. Raise it for a remote model.",
    )
    chat_links: bool = Field(
        True, description="In chat completions, make each `[n]` a link and end the answer with a list of sources."
    )
    preset_questions: dict[str, list[str] | dict[str, list[str]]] = Field(
        {},
        description="Questions that the web page offers, by corpus and perhaps by topic, as JSON or the path of a JSON "
        'file: `{"default": ["…"], "papers": {"solar": ["…"]}}`.',
    )
    runs: Path | None = Field(
        None,
        description="Folder of evaluation runs (`python -m eval run --out FOLDER/NAME`) that the web page and `/runs` "
        "show; none are shown if unset.",
    )
    originals: bool | None = Field(
        None,
        description="Give the files that documents were read from to those who may read the documents, as downloads: "
        "`true` all, `false` none, unset those that were uploaded.",
    )
    queue: int = Field(
        16, ge=0, le=10_000, description="Questions that may wait for a slot in each process; further ones get 429."
    )
    log_format: Literal["console", "json"] = Field("console", description="Format of the log lines on stderr.")
    log_questions: bool = Field(False, description="Write questions into the log: each into the line of its request.")

    @field_validator("preset_questions", mode="before")
    @classmethod
    def _parse(cls, questions: object) -> object:
        if not isinstance(questions, str):
            return questions
        try:
            is_json = questions.lstrip().startswith("{")
            return json.loads(questions if is_json else Path(questions).read_text(encoding="utf-8"))
        except (ValueError, OSError) as error:
            example = '{"default": ["What is a heat pump?"]}'
            raise ValueError(f"write a JSON object, as in {example}, or the path of a file that holds one") from error

    @field_validator("keys")
    @classmethod
    def _are_words(cls, keys: SecretStr | None) -> SecretStr | None:
        # What a header can carry; an empty one would let everybody in who sends an empty header.
        if keys is not None and not re.fullmatch(r"[!-+\--~]+(,[!-+\--~]+)*", keys.get_secret_value()):
            raise ValueError("a key is one or more printable ASCII characters without blanks and commas")
        if keys is not None and any(len(key) < MIN_KEY_CHARS for key in keys.get_secret_value().split(",")):
            raise ValueError(f"a key has at least {MIN_KEY_CHARS} characters; `openssl rand -hex 32` makes one")
        return keys

    def known_origins(self) -> list[str]:
        """Return the origins whose pages may use the service, beside its own."""
        return self.cors_origins.split(",") if self.cors_origins else []

    def known_keys(self) -> list[str]:
        """Return the keys one by one; none if the service asks for none."""
        return self.keys.get_secret_value().split(",") if self.keys else []

    @property
    def asks_for_keys(self) -> bool:
        """Whether clients need a key."""
        return self.keys is not None or self.keys_file is not None

    def key_headers(self) -> dict[str, str]:
        """Return the headers by which a program with these settings shows its first key to a service."""
        known = self.known_keys()
        return {"Authorization": f"Bearer {known[0]}"} if known else {}


class IndexSettings(Group):
    """Where corpora are stored."""

    dir: Path = Field(Path("var/index"), description="Folder that holds every corpus.")
    corpus: str = Field("default", pattern=CORPUS_NAME, description="Corpus used when none is named.")
    chroma_url: str | None = Field(
        None, pattern=r"^https?://", description="Chroma server for the vectors; they stay in the folder if unset."
    )
    database_url: SecretStr | None = Field(
        None,
        description="PostgreSQL database for the documents, `postgresql://USER:PASSWORD@HOST/NAME`; SQLite if unset.",
    )


class ChunkSettings(Group):
    """Sizes of the passage tree, in tokens of the embedding model; part of the index identity."""

    root_tokens: int = Field(2048, ge=64, le=16384, description="Size of a root passage.")
    middle_tokens: int = Field(512, ge=32, le=8192, description="Size of a middle passage.")
    leaf_tokens: int = Field(128, ge=16, le=512, description="Size of a leaf, the passage that is embedded.")


class EmbedSettings(Group):
    """How text becomes vectors."""

    model: str = Field(
        "auto",
        description="`minilm` for English or `multilingual` (both packaged), a local folder, or a Hugging Face hub id; "
        "`auto` chooses between the first two by each corpus's first documents (on a GPU always `minilm`). On a "
        "server its name there.",
    )
    base_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Server that embeds in place of this machine; `/embeddings` is appended.",
    )
    api_key: SecretStr | None = Field(None, description="API key of that server.")
    dimensions: int | None = Field(
        None, ge=1, le=65_536, description="Vector length asked of that server; the model's own if unset."
    )
    max_tokens: int = Field(
        512, ge=32, le=1_000_000, description="Longest input of that server's model; longer text is embedded in parts."
    )
    tokenizer: Path | None = Field(
        None,
        description="`tokenizer.json` of that server's model, or its folder; if unset, twice the packaged model's "
        "count is allowed for.",
    )
    batch_texts: int = Field(32, ge=1, le=2048, description="Texts per request to that server, at most.")
    concurrency: int = Field(4, ge=1, le=256, description="Requests at once during ingestion.")
    timeout_s: float = Field(60, gt=0, le=3600, description="Time limit for one reply of that server.")
    device: str = Field(
        "cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="`cpu` (OpenVINO) or `cuda`, `cuda:1` (PyTorch)."
    )
    precision: Literal["auto", "int8", "bf16", "fp32"] = Field(
        "auto",
        description="CPU arithmetic, from fast to exact; CPUs without bf16 compute it in fp32. `auto`: `int8` where "
        "the CPU multiplies 8-bit integers (VNNI, AMX, Arm i8mm), else `fp32`.",
    )
    query_prefix: str = Field("", description="Prefix of each question; e5 and bge models need one.")
    document_prefix: str = Field("", description="Prefix of each passage; e5 models need one.")
    cache_dir: Path = Field(Path("var/models"), description="Folder of converted models.")
    threads: int | None = Field(None, ge=1, le=1024, description="CPU threads for embedding; one per core if unset.")
    kept_vectors: int = Field(
        1024,
        ge=0,
        le=1_000_000,
        description="Question vectors cached in memory; 0 disables the cache.",
    )

    @property
    def chooses(self) -> bool:
        """Whether each corpus has the packaged model that fits its languages."""
        return (self.base_url, self.model, self.device) == (None, AUTO, "cpu")

    @property
    def plain_model(self) -> str:
        """The model for what belongs to no corpus."""
        return MINILM if self.model == AUTO else self.model

    @property
    def slice_texts(self) -> int:
        """Passages that an ingestion has a server embed at a time: several requests on each connection.

        One less, because one text is added that tells whether the model is still the same.
        """
        return self.batch_texts * self.concurrency * REQUESTS_PER_CONNECTION - 1


class IngestSettings(Group):
    """Limits of one ingestion, ingestion over HTTP, and Ray."""

    root: Path | None = Field(
        None, description="Folder that HTTP clients may ingest from, in addition to what `--ingest` named."
    )
    hard_links: bool = Field(
        False,
        description="Read files that have further names (hard links) too, although one of them may lie in a folder "
        "that is not to be read.",
    )
    private_addresses: bool = Field(
        False, description="Fetch web pages from addresses of private networks and of this machine too."
    )
    max_upload_mb: int = Field(
        512,
        ge=0,
        le=1_000_000,
        description="Size of one upload with all its files, at most; 0 refuses uploads.",
    )
    max_file_mb: int = Field(
        256,
        ge=1,
        le=1_000_000,
        description="Larger files are skipped and reported; JSONL, CSV and Parquet are streamed and may be larger.",
    )
    max_document_chars: int = Field(
        20_000_000, ge=1000, le=1_000_000_000, description="Longer documents are skipped and reported."
    )
    max_skipped_share: float = Field(
        0.5,
        ge=0,
        le=1,
        description="The command exits with 1 when the type of a larger share of the files is not read; 1 accepts all.",
    )
    parse_timeout_s: float = Field(
        120,
        gt=0,
        le=3600,
        description="Time limit for parsing one file with all that lies in it, or one record of a stream.",
    )
    parse_memory_mb: int = Field(
        2048, ge=256, le=65536, description="Memory limit of one parser process; at least 4,096 for OCR."
    )
    ocr: bool = Field(
        False, description="Read scanned PDFs and pictures (PNG, JPEG, TIFF) by OCR; needs the extra `ocr`."
    )
    languages: str | None = Field(
        None,
        pattern=r"^[a-z]{2,3}(,[a-z]{2,3})*$",
        description="ISO 639 codes, as `en,de`: documents in other languages are left out. Files in the corpus "
        "already are not looked at again; `--rebuild` does.",
    )
    done_url: SecretStr | None = Field(
        None,
        min_length=1,
        description="Where `python -m ingestion` posts what a run did, as JSON that Slack's incoming webhooks take.",
    )
    ray_address: str | None = Field(
        None,
        pattern=RAY_ADDRESS,
        description="Ingest with Ray: `local`, or a cluster's `host:port`; needs the extra `ray`.",
    )
    ray_workers: int | None = Field(None, ge=1, le=100_000, description="Ray workers; one per core if unset.")

    @property
    def max_file_bytes(self) -> int:
        """`max_file_mb` in bytes."""
        return self.max_file_mb * 1_000_000

    @property
    def max_upload_bytes(self) -> int:
        """`max_upload_mb` in bytes."""
        return self.max_upload_mb * 1_000_000


class RetrievalSettings(Group):
    """Search, scoring and merging."""

    mode: Literal["hybrid", "dense", "lexical"] = Field("hybrid", description="Which searches find leaves.")
    candidates_k: int = Field(100, ge=1, le=1000, description="Leaves that each search contributes to the fusion.")
    dense_share: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Score leaves by their dense and lexical score alone, this being the dense one's weight; if unset, "
        "by all the evidence around them.",
    )
    top_k: int = Field(20, ge=1, le=200, description="Passages after merging, at most.")
    budget_chars: int = Field(8000, ge=200, le=200_000, description="Characters of all passages together, at most.")
    max_per_document: int | None = Field(
        None, ge=1, le=200, description="Passages per document, at most; no limit if unset."
    )
    merge: bool = Field(True, description="Merge leaves into larger passages; `false` returns leaves.")
    prefer_newest: bool = Field(
        True, description="Read the newest edition first of documents whose names differ in dates or versions alone."
    )


class RerankSettings(Group):
    """Reranking of the first leaves; off by default."""

    method: Literal["none", "cross_encoder", "listwise", "http", "tei"] | None = Field(
        None,
        description="`listwise` ranks with the language model, `http` (Cohere's API) and `tei` ask a server; if unset, "
        "`cross_encoder` where a model is named.",
    )
    model: str | None = Field(
        None,
        description="Cross-encoder of sentence-transformers: local folder or hub id; with `http` the server's name.",
    )
    base_url: str | None = Field(
        None, pattern=r"^https?://", description="Server of `http` and `tei`; `/rerank` is appended."
    )
    api_key: SecretStr | None = Field(None, description="API key of that server.")
    pool_k: int = Field(30, ge=2, le=1000, description="First leaves of the search that are reranked.")
    min_score: float | None = Field(
        None,
        allow_inf_nan=False,
        description="Drop leaves at or below this score, on the model's own scale; none if unset.",
    )
    timeout_s: float = Field(10, gt=0, le=600, description="Time limit; afterwards the search's order stays.")


class ExpansionSettings(Group):
    """Query expansion by a language model; off by default."""

    hyde: bool = Field(False, description="Search with a hypothetical answer written by the language model.")
    multi_query: bool = Field(False, description="Search with paraphrases written by the language model.")


class LLMSettings(Group):
    """Language models that write answers."""

    provider: Literal["extractive", "huggingface", "openai", "ollama"] = Field(
        "extractive", description="`extractive` quotes the documents; the others run a language model."
    )
    model: str | None = Field(
        None, description="Hub id, local folder, GGUF file, or the server's model name; the packaged SmolLM2 if unset."
    )
    base_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="OpenAI-compatible server, ending in /v1; of `ollama` http://127.0.0.1:11434/v1 if unset.",
    )
    api_key: SecretStr | None = Field(None, description="API key of that server.")
    fallbacks: str | None = Field(
        None,
        pattern=rf"^{OTHER_MODEL}(\s*,\s*{OTHER_MODEL})*$",
        description="Comma-separated fallback models, tried in order: `PROVIDER:MODEL` or `PROVIDER:MODEL@URL`.",
    )
    query_model: str | None = Field(
        None,
        pattern=rf"^{OTHER_MODEL}$",
        description="Model for planning, rephrasing and ranking, in the same form; the answering model if unset.",
    )
    writers: str | None = Field(
        None,
        pattern=rf"^{NAMED_MODEL}(\s*,\s*{NAMED_MODEL})*$",
        description="Comma-separated models to choose from for each question, by name: `NAME=PROVIDER:MODEL` or "
        "`NAME=PROVIDER:MODEL@URL`.",
    )
    other_keys: SecretStr | None = Field(
        None, description="Comma-separated API keys of the servers in these three settings: `URL=KEY`."
    )
    device: str = Field("auto", description="Of `huggingface`: `auto`, `cpu`, `cuda` or `cuda:1`.")
    four_bit: bool = Field(False, description="Load a Hugging Face model in 4 bits (needs CUDA and bitsandbytes).")
    context_tokens: int | None = Field(
        None, ge=512, le=1_000_000, description="The model's context window; unset, the server or the model tells."
    )
    max_new_tokens: int = Field(1500, ge=16, le=32_768, description="Length limit of a generated answer.")
    temperature: float = Field(0.1, ge=0, le=2, description="Sampling temperature; 0 is greedy.")
    timeout_s: float = Field(60, gt=0, le=600, description="Time limit for the server's next token.")
    prompt: Literal["brief", "short", "report", "summary"] = Field(
        "brief",
        description="Answer form: as brief as the question allows, one fact in 50 words, a report, or a summary.",
    )

    @property
    def max_words(self) -> int | None:
        """Words of an answer, at most, its marks counted; None sets no limit."""
        return SHORT_WORDS if self.prompt == "short" else None

    @field_validator("other_keys")
    @classmethod
    def _are_pairs(cls, keys: SecretStr | None) -> SecretStr | None:
        if keys is not None and not re.fullmatch(rf"{URL_KEY}(,{URL_KEY})*", keys.get_secret_value()):
            raise ValueError("each is the server's URL, an equals sign and its key, without blanks")
        return keys


class AnswerSettings(Group):
    """Length, time limit and acceptance of answers."""

    mode: Mode = Field(
        "single",
        description="One search, `agent` for several with a review after each, `auto` to choose by the question.",
    )
    form: Form = Field(
        "answer",
        description="Form of `/run` and `/evaluate`: an answer, or a `report` with sections and references.",
    )
    max_context_chars: int = Field(
        16_000, ge=500, le=200_000, description="Source text given to a language model, at most."
    )
    deadline_s: float = Field(
        240,
        gt=0,
        le=570,
        description="Time limit of an answer, queueing included; it ends with the best result so far.",
    )
    min_confidence: float = Field(0.5, ge=0, le=1, description="Below this confidence the question is declined.")
    low_confidence: float = Field(
        0.8, ge=0, le=1, description="Below this confidence a quoted answer carries the warning `low_confidence`."
    )
    reader: str | None = Field(
        None,
        description="Question answering model of transformers that reads in place of the packaged reader: local folder "
        "or hub id.",
    )
    decline: Literal["explain", "exact"] = Field(
        "explain",
        description="Reply to a declined question: `explain` adds what was missing and the closest places, `exact` is "
        '"I don\'t know." alone.',
    )
    refuse_words: str | None = Field(
        None,
        pattern=r"^\w+(\s*,\s*\w+)*$",
        description="Comma-separated words; questions with one of them are declined, since models guess at arithmetic "
        "(`average`).",
    )
    only_sure: bool | None = Field(
        None,
        description="Quote only with high precision, else decline; if unset, only over given pages.",
    )
    sentence_leaves: bool = Field(
        False, description="Over given pages, make each sentence a leaf; ingested documents are unaffected."
    )
    sources: str | None = Field(
        None,
        pattern=r"^[a-z]+(\s*,\s*[a-z]+)*$",
        description="Comma-separated sources that questions without a corpus are answered from: `clueweb`, `fineweb`, "
        "`meilisearch`, `chroma`, `mosaic`.",
    )
    plan: bool = Field(
        True,
        description="Take apart questions that ask for several things; see docs/retrieval.md.",
    )

    def refused(self) -> list[str]:
        """Return `refuse_words` one by one, in lower case."""
        return [word.strip().casefold() for word in self.refuse_words.split(",")] if self.refuse_words else []


class SourcesSettings(Group):
    """Search services and stores of others that answers can be written from: docs/formats.md."""

    clueweb_url: str = Field(
        "https://clueweb22.us",
        pattern=URL_OPTIONS,
        description="ClueWeb22's search service, before `/search`; its further options, sent with each query, after a "
        "question mark: `?cw22_a=true&complexity=5&shard_ids=1,2&rerank=true`.",
    )
    clueweb_key: SecretStr | None = Field(None, min_length=1, description="Its key, sent as `x-api-key`; required.")
    fineweb_url: str = Field(
        "https://clueweb22.us",
        pattern=URL_OPTIONS,
        description="FineWeb's search service, before `/fineweb/search`; options as above: "
        "`?complexity=5&num_of_shards=4`.",
    )
    fineweb_key: SecretStr | None = Field(None, min_length=1, description="Its key, sent as `x-api-key` if set.")
    meilisearch_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s#]+#[A-Za-z0-9_-]{1,512}$",
        description="MeiliSearch server and the index that is searched, as `http://HOST:7700#INDEX`.",
    )
    meilisearch_key: SecretStr | None = Field(None, min_length=1, description="Its key, if it asks for one.")
    chroma_url: str | None = Field(
        None,
        pattern=r"^https?://[^\s#]+#[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]$",
        description="Another program's Chroma server and the collection that is searched, as "
        "`http://HOST:8000#COLLECTION`; its vectors must be of RAG_EMBED__MODEL.",
    )
    chroma_key: SecretStr | None = Field(None, min_length=1, description="Its token, if it asks for one.")
    mosaic_url: str | None = Field(
        None,
        pattern=r"^(\*|https?://[^\s#]+(#[A-Za-z0-9_.-]{1,200})?)$",
        description="A MOSAIC service, before `/search`, and `#INDEX` to search that one alone; the public one is "
        "https://mosaic.ows.eu/service/api. `*`: any public server that a step names as its `url`, with an `admin` key "
        "where there are keys.",
    )
    allowed_urls: str | None = Field(
        None,
        pattern=r"^https?://[^\s,]+(\s*,\s*https?://[^\s,]+)*$",
        description="Comma-separated addresses of MOSAIC, MeiliSearch and Chroma servers that a pipeline's step may "
        "name beside those above, with all that they hold. Keys go only to those above.",
    )


class CacheSettings(Group):
    """Answer cache of `/query` and `/v1/chat/completions`."""

    entries: int = Field(256, ge=0, le=100_000, description="Answers cached in memory; 0 disables the cache.")
    ttl_s: float = Field(300, gt=0, le=86_400, description="Lifetime of a cached answer.")


class FeedbackSettings(Group):
    """Feedback on answers and passages, kept in `feedback.sqlite` in the index folder."""

    enabled: bool = Field(
        True, description="Give answers an id, keep them for a while, and take feedback on them (`/feedback`)."
    )
    keep_days: float = Field(30, gt=0, le=3650, description="Days for which an answer without feedback is kept.")


class StudySettings(Group):
    """The events of a user study, kept in `study.sqlite` in the index folder."""

    notes: Literal["nothing", "events", "texts"] = Field(
        "nothing",
        description="Noted: `events` are searches, opened documents, chats and verdicts (`GET /study`); `texts` are "
        "also the questions, messages and remarks.",
    )


class PipelinesSettings(Group):
    """Pipelines of steps: their tasks, their cache, their limits."""

    dir: Path = Field(Path("var/pipelines"), description="Folder of tasks, saved pipelines and cached rows.")
    ttl_s: float = Field(
        604_800, gt=0, le=315_360_000, description="Lifetime of a finished task and its results; 7 days by default."
    )
    cache_mb: int = Field(
        256, ge=0, le=1_000_000, description="Size of the cache of rows on disk; 0 computes every row."
    )
    disk_mb: int = Field(
        2000,
        ge=1,
        le=1_000_000,
        description="Size of all ended tasks' tables on disk, at most; what ended first is deleted first.",
    )
    default: dict[str, Any] | None = Field(
        None,
        description="Pipeline that the web page begins with, as JSON; `APP_DEFAULT_PIPELINE` means the same.",
        json_schema_extra={"alias": "APP_DEFAULT_PIPELINE"},
    )
    steps_dir: Path | None = Field(
        None, description="Folder with `*.py` files of your own steps; they run as part of the service."
    )

    @field_validator("default", mode="before")
    @classmethod
    def _is_object(cls, pipeline: object) -> object:
        try:
            return json.loads(pipeline) if isinstance(pipeline, str) else pipeline
        except ValueError as error:
            raise ValueError('write a JSON object, as in {"1": {"id": "corpus_datasource"}}') from error


class JudgeSettings(Group):
    """The language model that judges answers for `python -m eval … --judge`; the service does not use it."""

    base_url: str | None = Field(None, pattern=r"^https?://", description="OpenAI-compatible server, ending in /v1.")
    model: str | None = Field(None, min_length=1, description="Name of the judge model on that server.")
    api_key: SecretStr | None = Field(None, description="API key of that server.")
    timeout_s: float = Field(
        60, gt=0, le=3600, description="Time limit for one reply of the judge, including failed attempts."
    )
    concurrency: int = Field(2, ge=1, le=256, description="Answers judged at once.")
    temperature: float = Field(0, ge=0, le=2, description="Sampling temperature; some reasoning models require 1.")
    response_format: Literal["json_schema", "json_object", "text"] = Field(
        "json_schema", description="How JSON is requested; every server supports `text`."
    )
    cache_dir: Path = Field(Path("var/judge"), description="Cache of the judge's replies.")


class BenchSettings(Group):
    """Data and folders of `python -m bench`."""

    dir: Path = Field(Path("var/bench"), description="Folder of the benchmark indexes.")
