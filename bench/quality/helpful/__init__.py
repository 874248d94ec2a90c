"""Does a whole answer help? Natural questions, our engine beside two plain baselines."""
