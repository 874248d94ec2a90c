"""The values that travel from stage to stage: events, hits, passages, citations."""
