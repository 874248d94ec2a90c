"""Questions drafted from a corpus."""
