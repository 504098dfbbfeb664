"""Qrels, Run and Queries: what is evaluated, checked when it is read."""
