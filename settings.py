"""Typed settings, read once at start from the environment and `.env`.

Flow: `setting_groups.py` declares them -> **here** -> every package's `build.py`. Nothing else in the project reads the
environment.

A variable is `RAG_<GROUP>__<NAME>`. Groups are strict and frozen: a misspelt variable stops the start and
names the nearest known one, because a silently ignored setting costs hours.
"""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dotenv import dotenv_values
from pydantic import ValidationError

from errors import SettingsError
from setting_groups import (
    CORPUS_NAME,
    RAY_ADDRESS,
    AnswerSettings,
    BenchSettings,
    CacheSettings,
    ChunkSettings,
    EmbedSettings,
    ExpansionSettings,
    Group,
    IndexSettings,
    IngestSettings,
    JudgeSettings,
    LLMSettings,
    RerankSettings,
    RetrievalSettings,
    ServeSettings,
)

__all__ = [
    "CORPUS_NAME",
    "PREFIX",
    "RAY_ADDRESS",
    "VERSION",
    "AnswerSettings",
    "BenchSettings",
    "CacheSettings",
    "ChunkSettings",
    "EmbedSettings",
    "ExpansionSettings",
    "IndexSettings",
    "IngestSettings",
    "JudgeSettings",
    "LLMSettings",
    "RerankSettings",
    "RetrievalSettings",
    "ServeSettings",
    "Settings",
    "load_settings",
    "variables",
]

VERSION = "0.1.0"
PREFIX = "RAG_"


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
    cache: CacheSettings = CacheSettings()
    judge: JudgeSettings = JudgeSettings()
    bench: BenchSettings = BenchSettings()


def variables() -> dict[str, tuple[str, Any, str]]:
    """Return every variable, in the order of the README's table: name -> (type, default, description)."""
    table = {}
    for group_name, group in Settings.model_fields.items():
        for name, field in type(group.default).model_fields.items():
            kind = getattr(field.annotation, "__name__", str(field.annotation)).replace("typing.", "")
            table[f"{PREFIX}{group_name}__{name}".upper()] = (kind, field.default, field.description or "")
    return table


def load_settings(environ: Mapping[str, str] | None = None, env_file: Path | None = Path(".env")) -> Settings:
    """Read the settings; the environment wins over `env_file`.

    Raises:
        SettingsError: a `RAG_*` name is unknown, or a value is malformed or out of range.
    """
    environ = os.environ if environ is None else environ
    from_file = dotenv_values(env_file) if env_file and env_file.is_file() else {}
    given = {
        name: value
        for name, value in {**from_file, **environ}.items()
        if name.startswith(PREFIX) and value is not None and value != ""
    }
    known = variables()
    groups: dict[str, dict[str, str]] = {}
    for name, value in given.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
            raise SettingsError(f"There is no setting {name}.", f"The nearest known name is {near}.")
        group, _, field = name.removeprefix(PREFIX).lower().partition("__")
        groups.setdefault(group, {})[field] = value
    try:
        return Settings.model_validate(groups)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        variable = PREFIX + "__".join(str(part) for part in first["loc"][:2]).upper()
        message = first["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{variable} is not valid: {message}.", f"It means: {known[variable][2]}") from error
