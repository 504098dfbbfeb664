"""The ties of one run: how many documents share their score, where that matters, and what it decides."""
