"""Search services, foreign stores and given pages, read as passages to answer from."""
