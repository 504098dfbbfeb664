"""``python -m deadheat`` is the command ``deadheat``."""

import sys


def start() -> None:
    """Run the command line; Ctrl-C says one line, also while the package is imported."""
    try:
        from deadheat.cli import main  # inside, as importing takes time

        main()
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    start()
