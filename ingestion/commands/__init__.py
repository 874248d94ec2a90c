"""The commands of `python -m ingestion`, one module each: arguments, one library call, what is printed."""
