"""Pipelines that run beside the questions: kept in SQLite, run in threads of their room, shown as JSON."""
