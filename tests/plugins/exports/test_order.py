"""Which documents are asked first, and when the plugin is loaded at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from deadheat.core.io.documents import known_exports


def test_documents_are_asked_in_one_order() -> None:
    assert [one.name for one in known_exports()] == [
        "a data set of questions",
        "a list of judgments of OpenSearch",
        "a _rank_eval request",
        "a file of MTEB predictions",
        "an export of ratings from Quepid",
        "a _rank_eval response",
        "the error of a search engine",
        "results of Chroma",
        "a response without its query",
        "a response of _msearch",
        "a dict of _search responses",
    ]


LISTS = "{'q': [{'_id': 'a', '_score': 1.0}]}"
RESPONSES = "{'q': {'hits': {'hits': [{'_id': 'a', '_score': 1.0}]}}}"
PLAIN = ["{'q': {'a': 1.0, 'b': 2}, 'r': {}}", "{'q': {'a': np.float32(1.0)}}"]


def is_loaded_by(run: str) -> bool:
    """Tell whether an evaluation of a run loads the plugin."""
    code = f"import sys, numpy as np, deadheat as dh; dh.evaluate({{'q': {{'a': 1}}}}, dh.Run({run}), 'RR')"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return "deadheat.plugins.exports.forms" in done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("run", PLAIN)
def test_plain_dicts_do_not_load_it(run: str) -> None:
    assert not is_loaded_by(run)


@pytest.mark.slow
@pytest.mark.parametrize("run", [LISTS, RESPONSES])
def test_results_load_it(run: str) -> None:
    assert is_loaded_by(run)
