"""Metrics that a language model decides."""
