"""From a question to a cited answer."""
