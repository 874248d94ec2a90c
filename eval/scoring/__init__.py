"""Score the rows of a run: offline by computing, or by judges that are language models."""
