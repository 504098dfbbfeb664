"""``python -m fuzz --seconds 60``: try damaged files, print what is wrong, and end with 1 if anything was."""

from __future__ import annotations

import argparse
import secrets
import sys
from collections import Counter
from pathlib import Path

from fuzz.kinds import KINDS
from fuzz.running import run, run_many


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--number", type=int, help="only this case, in this process")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where files that show a problem go")
    given = parser.parse_args()
    if given.number is not None:
        finding = run(given.seed, given.number, given.kinds, given.keep)
        print(finding or "nothing is wrong")
        return int(finding is not None)
    print(f"SEED={given.seed}", flush=True)
    found: Counter[str] = Counter()
    n_files = 0
    for n_files, finding in run_many(given.seed, given.seconds, given.kinds, given.keep):  # noqa: B007 - the last one
        if finding:
            print(finding, flush=True)
            found[finding.kind] += 1
    print(f"{n_files:,} files, {found.total()} findings {dict(found) or ''}")
    return int(found.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
