"""Questions that take several searches: plan, search, review, search again, answer."""
