"""The sheet of faults: what is tried, which tests try it, what came of it, and what stock parts do."""
