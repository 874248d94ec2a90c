"""Generates files of every kind that can be ingested: healthy, damaged and hostile."""
