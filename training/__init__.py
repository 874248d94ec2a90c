"""What is fitted, and how: fusion weights, the answerability classifier, the reader, and users' own models."""
