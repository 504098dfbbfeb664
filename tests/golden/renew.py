"""Renew named entries: ``python -m golden.renew 'intervals.of_means[t]' 'gates.*'``.

A pattern has ``*`` alone; ``--list`` prints the entries, ``--gone`` drops those whose calls are gone.
"""

from __future__ import annotations

import argparse
import re
import sys

from golden.comparing import differences
from golden.draws import is_drawn
from golden.entries import ENTRIES, Entry, load_entries, other_version
from golden.files import EXPECTED, Kept, read_feature, write_feature
from golden.running import result_of


def main() -> int:
    """Renew what the command line names, and say what changed."""
    parser = argparse.ArgumentParser(prog="golden.renew", description=__doc__)
    parser.add_argument("entries", nargs="*", metavar="ENTRY")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--gone", action="store_true")
    given = parser.parse_args()
    load_entries()
    if reason := other_version(["numpy"]):
        sys.stderr.write(f"nothing can be renewed here: {reason}\n")
        return 2
    if given.list:
        sys.stdout.write("\n".join(ENTRIES) + "\n")
    if given.gone:
        drop_gone()
    problems = []
    for feature, names in chosen(given.entries).items():
        problems += renew(feature, names)
    for problem in problems:
        sys.stderr.write(f"{problem}\n")
    return int(bool(problems))


def chosen(patterns: list[str]) -> dict[str, list[str]]:
    """Return the names that fit a pattern, by feature."""
    by_feature: dict[str, list[str]] = {}
    for pattern in patterns:
        expression = re.escape(pattern).replace(r"\*", ".*")
        names = [name for name in ENTRIES if re.fullmatch(expression, name)]
        if not names:
            raise SystemExit(f"no entry is named {pattern}")
        for name in names:
            by_feature.setdefault(ENTRIES[name].feature, []).append(name)
    return by_feature


def renew(feature: str, names: list[str]) -> list[str]:
    """Make the named calls of a feature, keep what they return, and return what is wrong with some."""
    problems = []
    kept = dict(read_feature(feature))
    for name in names:
        try:
            new = call(ENTRIES[name])
        except Exception as error:  # noqa: BLE001 - the other entries are renewed all the same
            problems.append(f"{name} fails: {error!r}")
            continue
        sys.stdout.write(f"{name}: {describe_change(kept.get(name), new)}\n")
        kept[name] = new
    write_feature(feature, kept)
    return problems


def call(entry: Entry) -> Kept:
    """Make a call, and find out whether random numbers change what it returns."""
    if reason := other_version(entry.pinned):
        raise ValueError(reason)
    result = result_of(entry)
    return Kept(result, is_drawn=is_drawn(entry, result))


def describe_change(old: Kept | None, new: Kept) -> str:
    """Say how many values of an entry change."""
    if old is None:
        return "new"
    n_changed = len(differences(old.result, new.result))
    return f"{n_changed} values changed" if n_changed else "as before"


def drop_gone() -> None:
    """Drop results whose calls are gone."""
    for path in sorted(EXPECTED.glob("*.json")):
        kept = read_feature(path.stem)
        for name in kept.keys() - ENTRIES.keys():
            sys.stdout.write(f"{name}: dropped\n")
        write_feature(path.stem, {name: one for name, one in kept.items() if name in ENTRIES})


if __name__ == "__main__":
    sys.exit(main())
