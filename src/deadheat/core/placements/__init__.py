"""From qrels and a run to placements, by one of several engines; tie policies."""
