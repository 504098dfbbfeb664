"""Gates: does an evaluation reach its thresholds, and is it no worse than a baseline."""
