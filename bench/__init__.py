"""Measurements of retrieval and answers, beside the stock LlamaIndex recipe."""
