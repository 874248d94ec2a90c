"""One module a route."""
