"""Asking a judge: its server, and what it said already."""
