"""Measurements of retrieval, answers and ingestion, beside the stock LlamaIndex recipe."""
