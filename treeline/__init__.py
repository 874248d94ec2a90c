"""Treeline as a library: `from treeline import open_corpus`."""
