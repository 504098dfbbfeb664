"""Named sets of gates, and their sources."""

from __future__ import annotations

from deadheat.arguments import check_choice

PRESETS: dict[str, tuple[str, ...]] = {
    "rag": (
        "P@3 > 0.8",
        "P@5 > 0.7",
        "P@10 > 0.6",
        "R@5 > 0.7",
        "R@10 > 0.9",
        "R@20 > 0.95",
        "F@5 > 0.7",
        "RR > 0.8",
        "nDCG(gain='exp')@5 > 0.85",
        "nDCG(gain='exp')@10 > 0.8",
        "Hit@10 > 0.95",
    ),
}
SOURCES: dict[str, str] = {
    "rag": 'targets of "Ranking Metrics", German notes on retrieval for language models: its'
    " authors' goals, not fixed rules; nDCG with their gain, 2^rel - 1",
}


def preset_gates(name: str) -> tuple[str, ...]:
    """Return the gates of a preset."""
    check_choice("preset", name, PRESETS)
    return PRESETS[name]
