"""Metrics that need no language model."""
