"""The service: HTTP and server-sent events over the query engine."""
