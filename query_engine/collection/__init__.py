"""Questions about the collection rather than its contents: lists, overviews, summaries; and small talk."""
