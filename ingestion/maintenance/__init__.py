"""What changes an index without reading files."""
