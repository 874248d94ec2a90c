"""A report as HTML or Markdown."""
