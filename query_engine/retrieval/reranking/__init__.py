"""Leaves are reordered by a cross-encoder or a language model."""
