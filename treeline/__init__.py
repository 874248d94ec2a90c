"""Treeline as a library: `from treeline import open_corpus`; see docs/library.md."""

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
