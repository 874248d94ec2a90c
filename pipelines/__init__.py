"""Searches that are built from steps: a table of documents goes through them, and every step can be looked at."""
