"""Asking a judge: its server, its cache, its replies."""
