"""Readers of office formats: documents, workbooks, presentations and books, most of them XML in a zip archive."""
