"""Questions and runs in the formats of others, and runs of others as ours."""
