"""Training the answerability classifier."""
