"""Answers over documents that come with the question."""
