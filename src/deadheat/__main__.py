"""``python -m deadheat`` is the command ``deadheat``."""

import os
import sys
from contextlib import suppress


def start() -> None:
    """Run the command line; Ctrl-C says one line, also while the package is imported."""
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
