"""See inside: metrics, traces, a log line for each request."""
