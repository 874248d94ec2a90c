"""A run as something to read: HTML, Markdown, CSV and JSON."""
