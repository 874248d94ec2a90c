"""Leaves climb to their parents."""
