"""Evaluation: cases -> metrics."""
