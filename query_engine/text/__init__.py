"""Sentences and spans of passage text."""
