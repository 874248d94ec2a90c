"""Pipelines that run beside the questions: kept in SQLite, run in separate threads, shown as JSON."""
