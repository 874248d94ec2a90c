"""Hold corpora for all processes of a service that has several."""
