"""Does a service keep the competition's contract: a service -> verdicts, rule by rule."""
