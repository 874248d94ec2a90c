"""Typed settings, read once at start from the environment and `.env`.

Flow: `setting_groups.py` declares them -> **here** -> every package's `build.py`. Nothing else in the project reads the
environment.

A variable is `RAG_<GROUP>__<NAME>`. Groups are strict and frozen: a misspelt variable stops the start and
names the nearest known one, because a silently ignored setting costs hours.
"""

import difflib
import os
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from errors import SettingsError
from setting_groups import (
    AUTO,
    CORPORA_NAME,
    CORPUS_NAME,
    MINILM,
    MULTILINGUAL,
    RAY_ADDRESS,
    AnswerSettings,
    BenchSettings,
    CacheSettings,
    ChunkSettings,
    EmbedSettings,
    ExpansionSettings,
    FeedbackSettings,
    Form,
    Group,
    IndexSettings,
    IngestSettings,
    JudgeSettings,
    LLMSettings,
    Mode,
    PipelinesSettings,
    RerankSettings,
    RetrievalSettings,
    ServeSettings,
    SourcesSettings,
    StudySettings,
)

__all__ = [
    "AUTO",
    "CORPORA_NAME",
    "CORPUS_NAME",
    "MINILM",
    "MULTILINGUAL",
    "PREFIX",
    "RAY_ADDRESS",
    "VERSION",
    "AnswerSettings",
    "BenchSettings",
    "CacheSettings",
    "ChunkSettings",
    "EmbedSettings",
    "ExpansionSettings",
    "FeedbackSettings",
    "Form",
    "IndexSettings",
    "IngestSettings",
    "JudgeSettings",
    "LLMSettings",
    "Mode",
    "PipelinesSettings",
    "RerankSettings",
    "RetrievalSettings",
    "ServeSettings",
    "Settings",
    "SourcesSettings",
    "StudySettings",
    "foreign_variable",
    "load_settings",
    "variables",
]

VERSION = "0.1.0"
PREFIX = "RAG_"
# The checkout. Relative default paths lie here, not in the working directory.
HOME = Path(__file__).resolve().parent


# Settings that another one replaces -> what to do instead.
GONE = {
    "RAG_RETRIEVAL__FUSION": "Set RAG_RETRIEVAL__DENSE_SHARE in place of `plain`; unset, all evidence counts.",
    "RAG_RETRIEVAL__MERGE_RULE": "Unset it; `python -m bench retrieval` compares LlamaIndex's own rule.",
    "RAG_SERVE__WATCH": "Start the service with --watch.",
    "RAG_BENCH__DATA": "Name the folder by --data.",
    "RAG_INGEST__OCR_MEMORY_MB": "Raise RAG_INGEST__PARSE_MEMORY_MB.",
    "RAG_RERANK__TOP_K": "Set RAG_RETRIEVAL__TOP_K.",
    "RAG_RERANK__QUERY": "Send `rerank_query` with a search.",
    "RAG_LLM__GROUNDING": "Unset it: what no source holds is marked, and nothing is hidden.",
    "RAG_LLM__LONG_EVIDENCE": "Unset it; RAG_ANSWER__MAX_CONTEXT_CHARS says how much a model reads.",
    "RAG_ANSWER__SPELLING": "Unset it: words are searched for as they are typed.",
    "RAG_INGEST__PAPER_WORDS": "Unset it: papers are cut into paragraphs of up to 250 words.",
    "RAG_INGEST__UPLOAD_DIR": "Unset it, and move the folder to `.uploads` in RAG_INDEX__DIR.",
    "RAG_ANSWER__QUOTE_CHARS": "Unset it: a quoted window holds up to 700 characters.",
    "RAG_SERVE__EVALUATE_REFERENCES": "Unset it: `citations` holds the addresses, and a report ends with them.",
    "RAG_EMBED__PROVIDER": "Unset it: a server embeds where RAG_EMBED__BASE_URL is set.",
    "RAG_MCP__ENABLED": "Unset it: `/mcp` is served, and asks for the same keys as other routes.",
    "RAG_STUDY__ENABLED": "Set RAG_STUDY__NOTES=events.",
    "RAG_STUDY__TEXTS": "Set RAG_STUDY__NOTES=texts.",
    "RAG_SOURCES__MEILISEARCH_INDEX": "Name the index in RAG_SOURCES__MEILISEARCH_URL, as `http://HOST:7700#INDEX`.",
    "RAG_SOURCES__CHROMA_COLLECTION": "Name it in RAG_SOURCES__CHROMA_URL, as `http://HOST:8000#COLLECTION`.",
    "RAG_SOURCES__MOSAIC_INDEX": "Name the index in RAG_SOURCES__MOSAIC_URL, as `https://HOST/api#INDEX`.",
} | {
    f"{PREFIX}SOURCES__{name}": f"Name the option in RAG_SOURCES__{name.partition('_')[0]}_URL, as `?complexity=5`."
    for name in "CLUEWEB_CW22_A CLUEWEB_COMPLEXITY CLUEWEB_SHARD_IDS CLUEWEB_RERANK CLUEWEB_OPTIONS FINEWEB_COMPLEXITY "
    "FINEWEB_NUM_OF_SHARDS FINEWEB_OPTIONS".split()
}


class Settings(Group):
    """Only groups live here, so that every variable has the same two-part form."""

    serve: ServeSettings = ServeSettings()
    index: IndexSettings = IndexSettings()
    chunk: ChunkSettings = ChunkSettings()
    embed: EmbedSettings = EmbedSettings()
    ingest: IngestSettings = IngestSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    rerank: RerankSettings = RerankSettings()
    expansion: ExpansionSettings = ExpansionSettings()
    llm: LLMSettings = LLMSettings()
    answer: AnswerSettings = AnswerSettings()
    sources: SourcesSettings = SourcesSettings()
    cache: CacheSettings = CacheSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    study: StudySettings = StudySettings()
    pipelines: PipelinesSettings = PipelinesSettings()
    judge: JudgeSettings = JudgeSettings()
    bench: BenchSettings = BenchSettings()


def foreign_variable(name: str) -> str:
    """Return a variable that a standard or a library names (`OTEL_*`, `PROMETHEUS_*`); nothing if it is not set."""
    return os.environ.get(name, "")


def variables() -> dict[str, tuple[str, Any, str]]:
    """Return every variable, in order of declaration: name -> (type, default, description)."""
    table = {}
    for group_name, group in Settings.model_fields.items():
        for name, field in type(group.default).model_fields.items():
            kind = getattr(field.annotation, "__name__", str(field.annotation)).replace("typing.", "")
            table[f"{PREFIX}{group_name}__{name}".upper()] = (kind, field.default, field.description or "")
    return table


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Read the settings; the environment wins over `env_file`.

    A relative folder is one of the working directory if a variable names it, one beside the file if a `.env` file does,
    and one of the checkout if it is the default.

    Args:
        environ: the process's environment if None.
        env_file: relative to the working directory, or, if there is none, to the checkout; None reads none.

    Raises:
        SettingsError: a `RAG_*` name is unknown, or a value is malformed or out of range.
    """
    environ = os.environ if environ is None else environ
    written = {name: value for name, value in {**_from_file(env_file), **environ}.items() if value}
    given = {variable: written[alias] for alias, variable in _aliases().items() if alias in written}
    given |= {name: value for name, value in written.items() if name.startswith(PREFIX)}
    known = variables()
    groups = _default_folders()
    for name, value in given.items():
        if name in GONE:
            raise SettingsError(f"{name} is not a setting any more.", GONE[name])
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise SettingsError(f"There is no setting {name}.", f"Unset it; the nearest known name is {near}.")
        group, _, field = name.removeprefix(PREFIX).lower().partition("__")
        groups.setdefault(group, {})[field] = value
    try:
        return Settings.model_validate(groups)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        variable = PREFIX + "__".join(str(part) for part in first["loc"][:2]).upper()
        message = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{variable} is not valid: {message}.", f"It means: {known[variable][2]}") from error


def _aliases() -> dict[str, str]:
    """Return what clients of mosaicRAG call a variable -> its name here."""
    return {
        str(field.json_schema_extra["alias"]): f"{PREFIX}{group_name}__{name}".upper()
        for group_name, group in Settings.model_fields.items()
        for name, field in type(group.default).model_fields.items()
        if isinstance(field.json_schema_extra, dict) and "alias" in field.json_schema_extra
    }


def _from_file(env_file: Path | None) -> dict[str, str | None]:
    """Return what the file says, its relative folders made absolute; nothing if there is no file."""
    found = next((path for path in (env_file, HOME / env_file) if path.is_file()), None) if env_file else None
    if found is None:
        return {}
    values = dotenv_values(found)
    for group, name, _ in _folders():
        variable = f"{PREFIX}{group}__{name}".upper()
        if value := values.get(variable):
            values[variable] = str(found.resolve().parent / value)
    return values


def _default_folders() -> dict[str, dict[str, str]]:
    """Return the folders that have a default, by group and name: those of the checkout."""
    groups: dict[str, dict[str, str]] = {}
    for group, name, default in _folders():
        if default is not None:
            groups.setdefault(group, {})[name] = str(HOME / default)
    return groups


def _folders() -> Iterator[tuple[str, str, Path | None]]:
    """Yield (group, name, default) of every setting that is a path."""
    for group_name, group in Settings.model_fields.items():
        for name, field in type(group.default).model_fields.items():
            if field.annotation is Path or Path in typing.get_args(field.annotation):
                yield group_name, name, field.default
