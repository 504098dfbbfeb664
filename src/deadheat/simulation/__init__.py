"""Simulated rerankers, real runs with coarser scores, and ties broken by an uncertain score."""
