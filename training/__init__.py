"""What is fitted, and how: fusion weights, the answerability classifier."""
