"""python -m deadheat.compat: runs a program with other tools replaced by deadheat."""

import sys

from deadheat.core import hooks

if __name__ == "__main__":
    hooks.service("compat").run(sys.argv[1:])
