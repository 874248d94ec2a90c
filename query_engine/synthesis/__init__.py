"""The answer is written, checked and cited."""
