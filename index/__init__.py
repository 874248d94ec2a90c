"""What is on disk, and how text becomes vectors."""
