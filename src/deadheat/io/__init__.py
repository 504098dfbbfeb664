"""Reading and writing qrels and runs, one file per format."""

from deadheat.io.formats import FORMATS, SUFFIXES, Format, locate, scan, sniff_format
from deadheat.io.kinds import Kind, resolve_columns
from deadheat.io.limits import max_decompressed
from deadheat.io.writing import write

__all__ = [
    "FORMATS",
    "SUFFIXES",
    "Format",
    "Kind",
    "locate",
    "max_decompressed",
    "resolve_columns",
    "scan",
    "sniff_format",
    "write",
]
