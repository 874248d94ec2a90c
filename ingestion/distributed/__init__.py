"""Ingestion over many cores or machines, by Ray."""
