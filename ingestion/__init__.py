"""From files to an index."""
