"""Reading passages for a question: which of their sentences and lines answer it."""
