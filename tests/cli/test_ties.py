"""deadheat ties: what it counts, and what ties decide."""

from __future__ import annotations

import json

import pytest

from support.command import ok
from support.shared_data import llm_qrels, llm_run, needs_shared_data

pytestmark = pytest.mark.usefixtures("folder")


def test_ties_of_a_run() -> None:
    lines = ok("ties", "bm25.run", "--at", "1,2").splitlines()
    assert lines[0] == "bm25: 4 queries, 6 documents"
    assert "queries with ties  1 of 4 (25%)" in lines
    assert "documents in ties  2 of 6 (33%), in 1 tie" in lines
    assert "     1         1    25%" in lines
    assert "     2         0     0%" in lines


def test_ties_with_qrels_say_what_they_decide() -> None:
    out = ok("ties", "bm25.run", "qrels.txt", "-m", "RR")
    assert "RR        0.3125   0.0625   0.2500   0.3750  0.1250        1    25%" in out
    assert "RR       q1      0.7500   0.2500   0.5000   1.0000" in out


def test_ties_as_json() -> None:
    document = json.loads(ok("ties", "bm25.run", "qrels.txt", "-m", "RR P@1", "--at", "1", "--format", "json"))
    assert document["n_tied"] == 2
    assert document["cutoffs"]["1"] == {"n_queries": 1, "share": 0.25}
    assert document["levels"][0] == {"score": 1.0, "n_documents": 2}
    assert document["measures"]["RR"]["share_of_queries"] == 0.25
    assert set(document["worst_queries"]) == {"RR", "P@1"}


@needs_shared_data
def test_ties_of_an_llm_fit_a_screen() -> None:
    out = ok("ties", llm_run("Olz-gpt4o"), llm_qrels())
    assert "4 levels in the whole run" in out
    assert "3 (387), 2 (504), 1" in out
    assert max(map(len, out.splitlines())) <= 80
