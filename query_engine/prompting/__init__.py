"""What a language model is told."""
