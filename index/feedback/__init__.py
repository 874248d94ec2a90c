"""Verdicts on answers and passages, together with what was judged."""
