"""Questions drafted from a corpus, for a person to review."""
