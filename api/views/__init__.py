"""Events become response bodies."""
