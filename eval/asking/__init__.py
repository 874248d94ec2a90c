"""Asking: cases -> the rows of a run."""
