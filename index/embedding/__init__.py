"""Text becomes vectors."""
