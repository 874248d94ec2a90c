"""What is searched for beside the question as it was asked."""
