"""python -m deadheat.compat: runs a program with other tools replaced by deadheat."""

import sys

from deadheat.compat.evaluating import run

if __name__ == "__main__":
    run(sys.argv[1:])
