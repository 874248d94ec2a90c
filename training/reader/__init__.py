"""Training of the reader, which scores the sentences of a passage for a question."""
