"""Gates: does an evaluation reach its thresholds, and is it no worse than a baseline."""

from deadheat.gates.gate import gate, measures_of
from deadheat.gates.notation import (
    PRESETS,
    QUANTITIES,
    SOURCES,
    Check,
    GateResult,
    Threshold,
    has_settings,
    parse_all,
    parse_gate,
    preset_gates,
    read_settings,
)
from deadheat.settings import GateOptions

__all__ = [
    "PRESETS",
    "QUANTITIES",
    "SOURCES",
    "Check",
    "GateOptions",
    "GateResult",
    "Threshold",
    "gate",
    "has_settings",
    "measures_of",
    "parse_all",
    "parse_gate",
    "preset_gates",
    "read_settings",
]
