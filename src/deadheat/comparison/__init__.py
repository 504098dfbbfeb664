"""Pairs of systems: tests, effects, and what ties do to a difference."""
