"""What a terminal sees of an ingestion."""
