"""Fine-tuning of the embedding model on one's own documents."""
