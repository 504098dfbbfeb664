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
from deadheat.profile.stability import Correlation, Recommendation, Stability

__all__ = [
    "CUTOFFS",
    "Correlation",
    "Cut",
    "Decided",
    "LargestTie",
    "Recommendation",
    "Spread",
    "Stability",
    "TieProfile",
    "WorstQuery",
    "tie_profile",
]
