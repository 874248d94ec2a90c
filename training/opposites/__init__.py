"""Make the table of words and their opposites that tells near misses."""
