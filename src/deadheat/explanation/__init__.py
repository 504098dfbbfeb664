"""Why a number of another tool differs: the conventions that reproduce what was reported."""
