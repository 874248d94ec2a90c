"""The settings, declared: what there is in each group, its type, range, default and meaning.

Flow: **here** -> `settings.py` reads them and hands them on; the rest of the project imports them from there. A field's
description is its line in the README. Fields that decide what is on disk are marked in `index/layout/manifest.py`, not
here.
"""

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

RAY_ADDRESS = r"^(local|[^\s:/]+:\d{1,5})$"
OTHER_MODEL = r"(huggingface|openvino|openai)(:[^,@\s]+)?(@https?://[^,@\s]+)?"
URL_KEY = r"https?://[^\s,=@]+=[!-+\--~]+"
CORPUS_NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"


class Group(BaseModel):
    """Immutable and strict: only declared names, only values in range."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class ServeSettings(Group):
    """Where the service listens."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    public_url: str | None = Field(
        None, pattern=r"^https?://", description="Base of document links; the request's own base URL if unset."
    )
    open: bool = Field(False, description="Listen beyond loopback without keys (what a competition container needs).")
    keys: SecretStr | None = Field(
        None,
        description="Keys, parted by commas, one of which is asked for everywhere but by probes; none if unset.",
    )
    slots: int | None = Field(
        None,
        ge=1,
        le=1000,
        description="Questions answered at once, over all routes; one a core if unset. More where the model is remote.",
    )
    queue: int = Field(16, ge=0, le=10_000, description="Questions that may wait for that; further ones get a 429.")
    log_format: Literal["console", "json"] = Field("console", description="Form of the log lines on stderr.")

    @field_validator("keys")
    @classmethod
    def _are_words(cls, keys: SecretStr | None) -> SecretStr | None:
        # What a header can carry; an empty one would let everybody in who sends an empty header.
        if keys is not None and not re.fullmatch(r"[!-+\--~]+(,[!-+\--~]+)*", keys.get_secret_value()):
            raise ValueError("a key is one or more printable ASCII characters without blanks and commas")
        return keys

    def known_keys(self) -> list[str]:
        """Return the keys one by one; none if the service asks for none."""
        return self.keys.get_secret_value().split(",") if self.keys else []

    def key_headers(self) -> dict[str, str]:
        """Return the headers by which a program with these settings shows its first key to a service."""
        known = self.known_keys()
        return {"Authorization": f"Bearer {known[0]}"} if known else {}


class IndexSettings(Group):
    """What is on disk."""

    dir: Path = Field(Path("var/index"), description="Folder that holds every corpus.")
    corpus: str = Field("default", pattern=CORPUS_NAME, description="Corpus used when none is named.")
    open_corpora: int = Field(
        64,
        ge=1,
        le=10_000,
        description="Corpora open at once, fewer if the limit of open files is low; the longest idle one is closed.",
    )
    chroma_url: str | None = Field(
        None, pattern=r"^https?://", description="Chroma server for the vectors; kept in the folder if unset."
    )
    database_url: SecretStr | None = Field(
        None,
        description="PostgreSQL database for the documents, `postgresql://USER:PASSWORD@HOST/NAME`; SQLite if unset.",
    )


class ChunkSettings(Group):
    """Sizes of the passage tree, in tokens of the embedding model. They belong to the index identity."""

    root_tokens: int = Field(2048, ge=64, le=16384, description="Tokens of a root passage.")
    middle_tokens: int = Field(512, ge=32, le=8192, description="Tokens of a middle passage.")
    leaf_tokens: int = Field(128, ge=16, le=512, description="Tokens of a leaf, the passage that is embedded.")


class EmbedSettings(Group):
    """How text becomes vectors."""

    model: str = Field("minilm", description="`minilm` (packaged), a local folder, or a Hugging Face hub id.")
    device: str = Field(
        "cpu", pattern=r"^(cpu|cuda(:\d+)?)$", description="`cpu` (OpenVINO) or `cuda`, `cuda:1` (PyTorch)."
    )
    precision: Literal["int8", "bf16", "fp32"] = Field(
        "int8", description="Arithmetic on the CPU, from fast to exact; CPUs without bf16 use fp32 for it."
    )
    query_prefix: str = Field("", description="Put before each question, as e5 and bge models want.")
    document_prefix: str = Field("", description="Put before each passage, as e5 models want.")
    cache_dir: Path = Field(Path("var/models"), description="Where converted models are kept.")
    threads: int | None = Field(None, ge=1, le=1024, description="CPU threads that embed; one a core if unset.")
    kept_vectors: int = Field(
        1024,
        ge=0,
        le=1_000_000,
        description="Vectors kept in memory, so that a question is embedded once; 0 keeps none.",
    )


class IngestSettings(Group):
    """Limits of one ingestion, and what may be ingested over HTTP."""

    root: Path | None = Field(
        None, description="Folder that HTTP clients may have ingested, whole or in part, beside what `--ingest` named."
    )
    max_file_mb: int = Field(
        256, ge=1, le=1_000_000, description="Larger files are skipped with a reason; files of records are streamed."
    )
    max_document_chars: int = Field(
        20_000_000, ge=1000, le=1_000_000_000, description="Longer documents are skipped with a reason."
    )
    parse_timeout_s: float = Field(
        120, gt=0, le=3600, description="Time to parse one file, or one batch of a file's records."
    )
    parse_memory_mb: int = Field(2048, ge=256, le=65536, description="Memory one parser process may take.")
    ray_address: str | None = Field(
        None,
        pattern=RAY_ADDRESS,
        description="Spread the work by Ray: `local`, or a cluster's `host:port`; needs the extra `ray`.",
    )
    ray_workers: int | None = Field(None, ge=1, le=100_000, description="Ray workers; one a core if unset.")

    @property
    def max_file_bytes(self) -> int:
        """`max_file_mb` in bytes."""
        return self.max_file_mb * 1_000_000


class RetrievalSettings(Group):
    """What one question may fetch."""

    mode: Literal["hybrid", "dense", "lexical"] = Field("hybrid", description="Which searches find leaves.")
    candidates_k: int = Field(100, ge=1, le=1000, description="Leaves each search contributes to the fusion.")
    lexical_model: Literal["bm25", "tfidf", "jelinek_mercer", "fused"] = Field(
        "bm25", description="What orders the leaves that the lexical search found; `fused` joins all three rankings."
    )
    fusion: Literal["evidence", "plain"] = Field(
        "evidence", description="How leaves are scored: by all the tree's evidence, or by their own two scores alone."
    )
    dense_share: float = Field(0.6, ge=0, le=1, description="Weight of the dense score in plain fusion.")
    top_k: int = Field(20, ge=1, le=200, description="Passages after merging.")
    budget_chars: int = Field(8000, ge=200, le=200_000, description="Characters of all passages together.")
    max_per_document: int | None = Field(None, ge=1, le=200, description="Passages of one document; no limit if unset.")
    merge: bool = Field(True, description="Merge leaves into larger passages; off returns leaves.")
    merge_rule: Literal["evidence", "stock"] = Field(
        "evidence",
        description="When leaves merge: where the text between is worth it, or as LlamaIndex's own rule says.",
    )


class RerankSettings(Group):
    """A second, closer look at the first leaves of a search."""

    method: Literal["none", "cross_encoder", "listwise"] | None = Field(
        None,
        description="Who reorders: `listwise` is the language model; `cross_encoder` if unset and a model is named.",
    )
    model: str | None = Field(None, description="Cross-encoder of sentence-transformers: a local folder or a hub id.")
    pool_k: int = Field(30, ge=2, le=1000, description="Leaves that are judged, the search's first.")
    top_k: int | None = Field(None, ge=1, le=1000, description="Leaves that are kept, the best; all if unset.")
    min_score: float | None = Field(
        None,
        allow_inf_nan=False,
        description="Leaves must score more than this on the model's own scale; none if unset.",
    )
    timeout_s: float = Field(10, gt=0, le=600, description="Longer judging is given up, and the search's order stays.")
    query: str | None = Field(None, max_length=8000, description="Asked instead of the user's question.")
    window: int = Field(10, ge=2, le=100, description="Passages that the language model ranks at once.")
    stride: int = Field(5, ge=1, le=100, description="Passages the window moves on by; at most the window.")


class ExpansionSettings(Group):
    """What is searched for beside the question itself."""

    feedback: bool = Field(False, description="Search again with what the first leaves have in common.")
    feedback_leaves: int = Field(3, ge=1, le=100, description="First leaves that are taken for relevant.")
    feedback_terms: int = Field(10, ge=0, le=50, description="Terms added from them; 0 moves the embedding only.")
    feedback_weight: float = Field(0.3, gt=0, lt=1, description="Their share of the new query.")
    hyde: bool = Field(False, description="Have the language model write a passage that answers, and search for that.")
    multi_query: bool = Field(False, description="Have the language model rephrase the question, and search for all.")
    timeout_s: float = Field(10, gt=0, le=600, description="Longer writing is given up, and the question is searched.")


class LLMSettings(Group):
    """Who writes the answer."""

    provider: Literal["extractive", "huggingface", "openvino", "openai"] = Field(
        "extractive", description="`extractive` quotes the documents; the others run a language model."
    )
    model: str | None = Field(
        None, description="Hub id, local folder, GGUF file, or the server's model name; the packaged SmolLM2 if unset."
    )
    base_url: str | None = Field(None, pattern=r"^https?://", description="OpenAI-compatible server, ending in /v1.")
    api_key: SecretStr | None = Field(None, description="Key for that server.")
    fallbacks: str | None = Field(
        None,
        pattern=rf"^{OTHER_MODEL}(\s*,\s*{OTHER_MODEL})*$",
        description="Models that take over in turn, `PROVIDER:MODEL` or `PROVIDER:MODEL@URL`, with commas between.",
    )
    query_model: str | None = Field(
        None,
        pattern=rf"^{OTHER_MODEL}$",
        description="Model for planning, rephrasing and ranking, named likewise; the one that writes if unset.",
    )
    other_keys: SecretStr | None = Field(
        None, description="Keys of the servers that these two name, `URL=KEY`, with commas between."
    )
    device: str = Field("auto", description="`auto`, `cpu` or `cuda` for `huggingface`; `CPU` or `GPU` for `openvino`.")
    four_bit: bool = Field(False, description="Load a Hugging Face model in 4 bits (needs CUDA and bitsandbytes).")
    context_tokens: int = Field(4096, ge=512, le=1_000_000, description="The model's context window.")
    max_new_tokens: int = Field(320, ge=16, le=32_768, description="Length limit of a generated answer.")
    temperature: float = Field(0.1, ge=0, le=2, description="Sampling temperature; 0 is greedy.")
    top_p: float = Field(0.9, gt=0, le=1, description="Nucleus sampling.")
    timeout_s: float = Field(60, gt=0, le=600, description="Longest wait for the server's next token.")
    prompt: Literal["brief", "short", "report", "summary"] = Field(
        "brief", description="What is asked for: 1 to 3 sentences, one fact in 50 words, a report, or a summary."
    )
    long_evidence: Literal["cut", "tree"] = Field(
        "cut",
        description="Passages beyond the model's context: left out, or all read in groups, with a call for each.",
    )
    grounding: bool = Field(
        True, description="Replace or leave out generated sentences that the passages do not support."
    )

    @field_validator("other_keys")
    @classmethod
    def _are_pairs(cls, keys: SecretStr | None) -> SecretStr | None:
        if keys is not None and not re.fullmatch(rf"{URL_KEY}(,{URL_KEY})*", keys.get_secret_value()):
            raise ValueError("each is the server's URL, an equals sign and its key, without blanks")
        return keys


class AnswerSettings(Group):
    """What an answer looks like."""

    max_words: int = Field(
        60, ge=10, le=1000, description="Words of a quoted answer; how-, why- and two-part questions get twice as many."
    )
    max_context_chars: int = Field(6000, ge=500, le=200_000, description="Passage text given to a language model.")
    deadline_s: float = Field(
        240, gt=0, le=570, description="An answer ends before this, waiting included, with the best there is by then."
    )
    min_confidence: float = Field(0.5, ge=0, le=1, description="Below this the documents are said not to answer.")
    low_confidence: float = Field(
        0.65, ge=0, le=1, description="Below this an answer comes with a warning that it may be none."
    )
    only_sure: bool | None = Field(
        None, description="Quote only what surely answers, else say nothing; over given pages only if unset."
    )
    sentence_leaves: bool = Field(
        False, description="Over given pages, make each sentence a leaf; ingested documents keep theirs."
    )
    plan: bool = Field(True, description="Search for each part of questions that ask for several things.")
    plan_timeout_s: float = Field(
        10, gt=0, le=600, description="Longer planning by a language model is given up, and grammar takes over."
    )


class CacheSettings(Group):
    """How long whole answers are kept for `/query` and `/v1/chat/completions`."""

    entries: int = Field(256, ge=0, le=100_000, description="Answers kept in memory; 0 keeps none.")
    ttl_s: float = Field(300, gt=0, le=86_400, description="After that a kept answer is made anew.")


class JudgeSettings(Group):
    """The language model that judges answers for `python -m eval ... --judge`; the service never asks it."""

    base_url: str | None = Field(None, pattern=r"^https?://", description="OpenAI-compatible server, ending in /v1.")
    model: str | None = Field(None, min_length=1, description="The judge's name on that server.")
    api_key: SecretStr | None = Field(None, description="Key for that server.")
    timeout_s: float = Field(
        60, gt=0, le=3600, description="Longest wait for one reply of the judge, tries in vain included."
    )
    concurrency: int = Field(2, ge=1, le=256, description="Answers that are judged at once.")
    retries: int = Field(3, ge=0, le=20, description="New tries where the judge cannot be reached or is too busy.")
    temperature: float = Field(0, ge=0, le=2, description="Sampling temperature; some reasoning models want 1.")
    response_format: Literal["json_schema", "json_object", "text"] = Field(
        "json_schema", description="How JSON is demanded: servers differ in what they know; all know `text`."
    )
    cache_dir: Path = Field(Path("var/judge"), description="Where the judge's replies are kept.")


class BenchSettings(Group):
    """Where measurements find their data."""

    data: Path | None = Field(
        None, description="Folder of data sets for `python -m bench`; the sample corpus if unset."
    )
    dir: Path = Field(Path("var/bench"), description="Where the measurements keep their indexes.")
