"""Leaves are found, weighed, reordered and merged."""
