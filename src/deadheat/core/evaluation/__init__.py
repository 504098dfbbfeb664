"""From placements and measures to scores, their spread over tie orders, intervals and strata."""
