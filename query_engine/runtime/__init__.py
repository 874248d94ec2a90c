"""Deadlines and threads."""
