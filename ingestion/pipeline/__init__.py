"""List, diff, chunk, embed, commit: the chain from files to an index."""
