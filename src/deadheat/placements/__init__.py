"""From qrels and a run to placements, in one of several engines; tie policies."""
