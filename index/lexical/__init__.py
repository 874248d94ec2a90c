"""The leaves' words, in tantivy."""
