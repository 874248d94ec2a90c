"""The leaves' vectors, in Chroma."""
