"""``python -m deadheat`` is the command ``deadheat``."""

import gc
import os
import sys
from contextlib import suppress

# Polars reads text ahead, by default in pieces of 20 MB; of smaller ones the memory is used again and again.
POLARS = {"POLARS_CSV_CHUNK_SIZE": "4000000", "POLARS_CSV_CHUNK_PREFETCH_LIMIT": "4"}
MODULES = 200_000  # objects that are made while modules are imported: none of them is garbage


def start() -> None:
    """Run the command line; Ctrl-C says one line, also while the package is imported."""
    gc.set_threshold(MODULES)
    for name, value in POLARS.items():
        os.environ.setdefault(name, value)
    try:
        from deadheat.cli import main  # inside, as importing takes time

        main()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted\n")
        _end(130)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        _end(ended.code)


def _end(code: int) -> None:
    """End the process, without taking its memory apart first: that takes longer than many an evaluation.

    A profiler or tracer has something to write at the end, so it is left alone.
    """
    if sys.getprofile() is None and sys.gettrace() is None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(AttributeError, OSError, ValueError):  # it may be closed; `main` has told of errors
                stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    start()
