"""Making the calls."""

from __future__ import annotations

import contextlib
import json
import warnings
from typing import Any

import deadheat as dh
from golden.data import folder_of_files
from golden.entries import Entry
from golden.plain import plain_numbers


def result_of(entry: Entry) -> Any:
    """Make a call, inside the folder with the files, and return what is kept of it."""
    with contextlib.chdir(folder_of_files()), warnings.catch_warnings():
        warnings.simplefilter("ignore", dh.DeadheatWarning)  # their words may change
        result = plain_numbers(entry.call())
    json.dumps(result, allow_nan=False)
    return result
