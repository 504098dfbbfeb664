"""Qrels, Run and Queries: the data to evaluate, checked when it is read."""
