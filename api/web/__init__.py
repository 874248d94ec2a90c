"""The web page: static files, and what they need to know at the start."""
