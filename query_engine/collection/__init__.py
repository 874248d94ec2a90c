"""Questions that list or count: the documents of the collection, and the rows of their tables."""
