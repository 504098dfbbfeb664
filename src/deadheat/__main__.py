"""``python -m deadheat`` is the command ``deadheat``."""

from deadheat.cli import main

main()
