"""Treeline as a library: `from treeline import open_corpus`; see docs/library.md."""

import sys

if sys.argv[:1] == ["-m"]:  # `python -m treeline` runs this file first; a program that uses the library keeps its hook
    import missing_packages  # noqa: F401

from errors import RagError
from query_engine.schema.events import Citation, Done, Event, Restarted, Retrieved, Step, Token
from query_engine.schema.passage import Passage
from settings import Settings
from treeline.corpus import OpenCorpus, open_corpus

__all__ = [
    "Citation",
    "Done",
    "Event",
    "OpenCorpus",
    "Passage",
    "RagError",
    "Restarted",
    "Retrieved",
    "Settings",
    "Step",
    "Token",
    "open_corpus",
]
