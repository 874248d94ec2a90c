"""The stock LlamaIndex recipe that ours is measured against."""
