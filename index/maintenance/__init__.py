"""Copies and repairs of corpora."""
