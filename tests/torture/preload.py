"""Imports that the server of forks does once, so that no forked process spends seconds on them."""

import llama_index.core.node_parser  # noqa: F401
import sqlalchemy.dialects.sqlite.pysqlite  # noqa: F401

import index.lexical
import index.vectors  # noqa: F401
from ingestion.reading.formats import _namer
from tests.torture import child, looking  # noqa: F401

_namer()
