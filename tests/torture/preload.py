"""What the server of forks does once, so that no forked process spends seconds on it: imports, and loading of data."""

import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401

import index.lexical.tantivy_index
import index.vectors.chroma  # noqa: F401
from index.documents.splitter import TreeSplitter
from index.documents.store import Document
from ingestion.reading.language import namer
from settings import ChunkSettings
from tests.torture import child, looking  # noqa: F401

namer()
TreeSplitter(ChunkSettings(), len, 254).split(Document("", "", "One sentence. And another one. " * 2000))
