"""Questions about the collection rather than its contents: which documents there are, and how many."""
