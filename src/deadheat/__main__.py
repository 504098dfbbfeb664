"""``python -m deadheat`` is the command ``deadheat``."""

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

from deadheat.core.interrupts import end_interrupted

SETTINGS = {
    # Polars reads text ahead, by default in pieces of 20 MB; of smaller ones the memory is used again and again.
    "POLARS_CSV_CHUNK_SIZE": "4000000",
    "POLARS_CSV_CHUNK_PREFETCH_LIMIT": "4",
    # Its threads share as many pools of memory as there are cores, and not four times as many: what one frees, the next
    # one takes, and the system need not clear new memory.
    "_RJEM_MALLOC_CONF": f"narenas:{os.cpu_count() or 1}",
    # NumPy's threads wait for work at once, and not after 0.1 s in which they keep a core from reading files.
    "OPENBLAS_THREAD_TIMEOUT": "4",
}
LARGE = 4 << 20  # bytes of files from which a thread of their own saves time
MODULES = 1_000_000  # objects that importing makes, none of them garbage: saves 0.04 s of 0.41 of a small evaluation


def start() -> None:
    """Run the command line; Ctrl-C says one line, also while the package is imported."""
    gc.set_threshold(MODULES)
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        _read_ahead(sys.argv[2:])
        from deadheat.core.cli import main  # inside, as importing takes time

        main()
    except KeyboardInterrupt:
        end_interrupted()
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        _end(ended.code)


def _read_ahead(words: list[str]) -> None:
    """Begin to read the first runs that a command names, if they are large, while all else is imported.

    That saves 5 to 10 % of evaluating a million rows. A bound on memory is known only when the options have been
    understood: with one, nothing is read ahead.
    """
    if any(word.startswith("--max-memory") for word in words):
        return
    sizes: dict[Path, int] = {}
    for word in words:
        with suppress(OSError, ValueError):  # most words are no files, and may be too long for one
            sizes[Path(word)] = Path(word).stat().st_size
    if sum(sizes.values()) >= LARGE:
        from deadheat.core.io.splitting import begin
        from deadheat.core.libraries import load_libraries

        load_libraries()  # here: imported by a thread of its own beside other imports, Polars costs 0.08 s more
        begin(sizes)


def _end(code: int) -> None:
    """End the process, without taking its memory apart first.

    That saves 0.1 s of 0.48 of evaluating a small run, and 0.06 of 0.56 of a million rows, of processor time.

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
