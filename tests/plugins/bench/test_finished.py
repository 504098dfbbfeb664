"""The folder of a finished benchmark: whatever happened to its summary, it is read or refused."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

import pytest

import deadheat as dh
from deadheat.errors import DataError
from deadheat.plugins.bench.store import read_finished
from support.changed_documents import changes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_any_change_of_the_summary_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.csv").write_text("case_id,text,expected_ids,language\nc1,fever,D1,en\nc2,cough,D2,en\n")
    (tmp_path / "docs.csv").write_text("id,name\nD1,fever and chills\nD2,cough\n")
    folder = tmp_path / "results"
    dh.bench(tmp_path / "cases.csv", tmp_path / "docs.csv", ["bm25"], measures=["RR"], output=folder)
    summary = folder / "bench.json"
    document = json.loads(summary.read_text())
    (found,), _, _, _, _ = read_finished(folder)
    assert found.evaluations["bm25"].means() == {"RR": 1.0}
    n_refused = 0
    # each third: all take half a minute
    for changed in islice(changes({name: value for name, value in document.items() if name != "results"}), 0, None, 3):
        summary.write_text(json.dumps({"kind": document["kind"], **changed}))
        n_refused += 1
        with suppress(dh.DeadheatError):
            read_finished(folder)
            n_refused -= 1
    assert n_refused > 50
    del document["limit"]
    summary.write_text(json.dumps(document))
    with pytest.raises(dh.DeadheatError, match=r"bench.json: is damaged: KeyError\('limit'\), expected bench.json as"):
        read_finished(folder)


def test_a_summary_that_is_nested_too_deep_is_an_error_that_says_so(tmp_path: Path) -> None:
    for head in ("", '{"kind": "deadheat bench", "cases": '):
        (tmp_path / "bench.json").write_text(head + "[" * 100_000, encoding="utf-8")
        with pytest.raises(DataError, match=r"no bench\.json"):
            read_finished(tmp_path)
