"""MMU-RAG's starter template as calls of Treeline: `from starter import run_rag` in place of its `src/pipeline.py`.

Flow: a program that was begun with the template -> **here** -> readers, index and engine. The functions have the
template's names, parameters and results. What the template calls an index file is a folder here; documents are cut
into Treeline's tree, so `run_rag` reads neither `chunk_size` nor `chunk_overlap`. Models and indexes stay open until
the process ends. The whole service is `main.py`.
"""

import argparse
import asyncio
import atexit
import json
import logging
import os
import sys
import tempfile
from functools import cache
from itertools import groupby
from pathlib import Path

import yaml

from errors import SettingsError
from index.documents.store import Document
from index.embedding.model import load_embedding_model
from ingestion.reading.files import SourceFile, list_files
from ingestion.reading.reader import Reader
from ingestion.reading.text import clean
from ingestion.schema import Summary
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.schema.events import Done
from settings import Settings, load_settings
from treeline import OpenCorpus, open_corpus

CORPUS = "starter"
# The template's embedding model is the packaged one.
PACKAGED = "all-MiniLM-L6-v2"

logger = logging.getLogger(__name__)


def run_rag(query: str, config_path: str) -> str:
    """Answer a question from the folder that a YAML file names, which is indexed first where it has changed.

    Args:
        query: the question.
        config_path: `data_dir`, `index_path`, and perhaps `top_k`, `hf_model` (embeds) and any `RAG_*` setting.

    Raises:
        SettingsError: the file is not a YAML mapping with both folders, or a setting is wrong.
    """
    try:
        config = yaml.safe_load(Path(config_path).read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SettingsError(f"The configuration {config_path} cannot be read: {error}.", "Write it as YAML.") from error
    if not isinstance(config, dict) or not {"data_dir", "index_path"} <= config.keys():
        raise SettingsError(f"{config_path} does not name both folders.", "Set data_dir and index_path.")
    own = {name: str(value) for name, value in config.items() if str(name).startswith("RAG_")}
    if (model := str(config.get("hf_model", PACKAGED))) and not model.endswith(PACKAGED):
        own["RAG_EMBED__MODEL"] = model
    corpus = _corpus(config["index_path"], tuple(own.items()))
    _ingested(corpus, config["data_dir"])
    return corpus.ask(query, top_k=config.get("top_k")).message


def load_corpus(path: str) -> list[tuple[str, str]]:
    """Return (document id, text) of each document in a file or folder; what cannot be read is logged."""
    documents = []
    with Reader(load_settings().ingest) as reader:
        for file in list_files(Path(path)):
            for item in reader.read(file) if isinstance(file, SourceFile) else [file]:
                if isinstance(item, Document):
                    documents.append((item.doc_id, item.text))
                else:
                    logger.warning("Left out: %s", item)
    return documents


def clean_text(text: str) -> str:
    """Return text normalised, without control characters, needless blanks and empty lines."""
    lines = (" ".join(line.split()) for line in clean(text).splitlines())
    return "\n\n".join("\n".join(held) for filled, held in groupby(lines, key=bool) if filled)


def tokenize(text: str) -> list[int]:
    """Return the token ids of a text for the embedding model of the settings, without special tokens."""
    embed = load_settings().embed
    model = load_embedding_model(embed.plain_model, embed.cache_dir)
    ids: list[int] = model.tokenizer.encode(text, add_special_tokens=False).ids
    return ids


def chunk_tokens(tokens: list[int], size: int, overlap: int) -> list[list[int]]:
    """Return windows of at most `size` tokens; each begins `overlap` tokens before the end of the one before it.

    Raises:
        ValueError: unless 0 <= overlap < size.
    """
    if not 0 <= overlap < size:
        raise ValueError(f"The overlap {overlap} must be smaller than the size {size}, and not negative.")
    return [tokens[at : at + size] for at in range(0, max(1, len(tokens) - overlap), size - overlap) if tokens]


def build_index(chunks: list[str], index_path: str) -> None:
    """Make the index in the folder `index_path` hold these texts and no others."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "chunks.jsonl"
        rows = ({"id": f"{number:07d}", "text": chunk} for number, chunk in enumerate(chunks))
        file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        _corpus(index_path).ingest(file, prune=True)


def retrieve(query: str, index_path: str, top_k: int) -> list[str]:
    """Return the texts of at most `top_k` passages, best first."""
    return [passage.text for passage in _corpus(index_path).retrieve(query, top_k=top_k).passages]


def generate_answer(query: str, contexts: list[str], model_name: str) -> str:
    """Answer from these texts alone with `[n]` marks, or say "I don't know.".

    Args:
        query: the question.
        contexts: numbered in this order.
        model_name: a Hugging Face model, or one of the provider that the settings name; "" leaves it to the settings.
    """
    documents = [Document(f"context {number}", f"Context {number}", text) for number, text in enumerate(contexts, 1)]
    with _engines(model_name).for_documents(documents, only_sure=False) as engine:

        async def answered() -> str:
            *_, done = [event async for event in engine.stream(Inquiry(query))]
            assert isinstance(done, Done)
            return done.message

        return asyncio.run(answered())


@cache
def _corpus(index_path: str, own: tuple[tuple[str, str], ...] = ()) -> OpenCorpus:
    settings = load_settings({**os.environ, **dict(own)})
    index = settings.index.model_copy(update={"dir": Path(index_path).resolve()})
    corpus = open_corpus(CORPUS, settings.model_copy(update={"index": index}), create=True)
    atexit.register(corpus.close)
    return corpus


@cache
def _ingested(corpus: OpenCorpus, data_dir: str) -> Summary:
    return corpus.ingest(data_dir)


@cache
def _engines(model_name: str) -> Engines:
    settings: Settings = load_settings()
    if model_name:
        provider = "huggingface" if settings.llm.provider == "extractive" else settings.llm.provider
        llm = settings.llm.model_copy(update={"provider": provider, "model": model_name})
        settings = settings.model_copy(update={"llm": llm})
    engines = Engines(settings)
    atexit.register(engines.close)
    return engines


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Answer a question as the starter's run_rag.py does.")
    parser.add_argument("--query", required=True)
    parser.add_argument("--config", default="config.yaml")
    arguments = parser.parse_args()
    sys.stdout.write(f"Answer: {run_rag(arguments.query, arguments.config)}\n")
