"""Leaves are reordered by a cross-encoder, a language model or a server."""
