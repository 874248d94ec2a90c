"""The question is read: checked, made to stand on its own, taken apart."""
