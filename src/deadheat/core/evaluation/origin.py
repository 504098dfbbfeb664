"""Where a saved evaluation comes from: its time, a label, and the commit of what was evaluated."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from deadheat.core.errors import DataError

# of GitHub, GitLab, Azure, Bitbucket, CircleCI and Jenkins
COMMITS = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION", "BITBUCKET_COMMIT", "CIRCLE_SHA1", "GIT_COMMIT")
BRANCHES = (
    *("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME", "BUILD_SOURCEBRANCHNAME"),
    *("BITBUCKET_BRANCH", "CIRCLE_BRANCH", "GIT_BRANCH"),
)


@dataclass(frozen=True)
class Origin:
    """Where a saved evaluation comes from.

    Attributes
    ----------
    time : str
        When it was first saved, in UTC, as ISO 8601 writes it: texts sort as times do.
    label : str
        What the user calls it; by default the branch.
    commit : str
        Of the repository that it was saved in; empty if there is none.
    label_is_branch : bool
        Whether the label is the branch, as nobody gave another one.
    """

    time: str
    label: str = ""
    commit: str = ""
    label_is_branch: bool = False

    @classmethod
    def here(cls) -> "Origin":
        """Return the time, and branch and commit as the environment of a CI system says, or git of this folder."""
        branch, commit = (next(filter(None, map(os.environ.get, names)), "") for names in (BRANCHES, COMMITS))
        if not commit:
            branch, commit = _git()
        time = _fixed_time() or datetime.now(UTC)
        return cls(time.isoformat(timespec="milliseconds").replace("+00:00", "Z"), branch, commit, bool(branch))

    @classmethod
    def stated_in(cls, document: Mapping[str, Any]) -> "Origin":
        """Return the origin that a saved evaluation states."""
        is_branch = bool(document.get("label_is_branch", False))
        return cls(document["time"], document["label"], document["commit"], is_branch)

    def stated(self) -> dict[str, object]:
        """Return what a saved evaluation states of it."""
        stated: dict[str, object] = {"time": self.time, "label": self.label, "commit": self.commit}
        if self.label_is_branch:
            stated["label_is_branch"] = True
        return stated


def _fixed_time() -> datetime | None:
    """Return the time that reproducible builds set, in seconds; None without one, and of other text."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not (given.isascii() and given.isdecimal()):
        return None
    try:
        return datetime.fromtimestamp(int(given), UTC)
    except (ValueError, OverflowError, OSError):  # of thousands of digits, or beyond the year 9999
        raise DataError("SOURCE_DATE_EPOCH", given=given, allowed="seconds from 1970 to the year 9999") from None


def _git() -> tuple[str, str]:
    """Return branch and commit of this folder's repository; empty without one, and of a branch without a name."""
    import subprocess  # takes 3 ms to load, and few evaluations are saved

    command = ["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True, timeout=5)  # noqa: S603 - constant
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return "", ""
    commit, branch = found.stdout.split()
    return branch.replace("HEAD", ""), commit
