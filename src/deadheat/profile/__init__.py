"""The ties of one run: how many documents share their score, where that matters, and what it decides."""

from deadheat.profile.profile import (
    CUTOFFS,
    Cut,
    Decided,
    LargestTie,
    Spread,
    TieProfile,
    WorstQuery,
    tie_profile,
)

__all__ = ["CUTOFFS", "Cut", "Decided", "LargestTie", "Spread", "TieProfile", "WorstQuery", "tie_profile"]
