"""Answer the competition's validation file, and judge such a file of answers."""
