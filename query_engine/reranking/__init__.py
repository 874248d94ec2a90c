"""Second looks at the first leaves of a search, slower and closer than the search itself."""
