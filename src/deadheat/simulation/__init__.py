"""Rerankers made up, real runs made coarser, and ties broken by an uncertain score."""
