"""Judgments of documents that no longer exist, ids in two forms of Unicode, and qrels and run in one table."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.core.data.known_ids import collect_ids
from deadheat.errors import Advice, ColumnError, DataError, DeadheatWarning, DuplicateError, ParameterError
from support.command import call
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from click.testing import Result

GONE = "1 of 3 relevant documents is not in the collection (gone)"


def ok(*command: str) -> Result:
    return fails(0, *command)


def fails(code: int, *command: str) -> Result:
    done = call(*command)
    assert done.exit_code == code, done.output
    return done


IDS = {"d1", "d2", "d3"}
QRELS = {"q1": {"d1": 1, "gone": 2, "d9": 0}, "q2": {"d2": 1, "d3": -1}}
RUN = {"q1": {"d1": 1.0, "d3": 2.0}, "q2": {"d3": 1.0}}


def files(folder: Path) -> dict[str, Path]:
    table = "id,name\nd1,a\nd2,b\nd3,c\n"
    contents: dict[str, bytes] = {
        "ids.txt": b"d1\nd2\r\n\nd3",
        "ids": b"d1\nd2\nd3\n",
        "docs.csv": table.encode(),
        "docs.csv.gz": gzip.compress(table.encode()),
        "docs.tsv": b"docno\ttext\nd1\ta\nd2\tb\nd3\tc\n",
        "corpus.jsonl": "".join(json.dumps({"_id": one, "text": "x"}) + "\n" for one in sorted(IDS)).encode(),
        "list.json": json.dumps(sorted(IDS)).encode(),
        "docs.json": json.dumps([{"id": one, "text": "x"} for one in sorted(IDS)]).encode(),
        "x.obo": "".join(f"[Term]\nid: {one}\nname: x {one}\n\n" for one in sorted(IDS)).encode(),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    pl.DataFrame({"doc_id": sorted(IDS)}).write_parquet(folder / "docs.parquet")
    return {name: folder / name for name in (*contents, "docs.parquet")} | {"beir": folder}


@pytest.mark.plugins("bench")
def test_what_a_collection_may_be(tmp_path: Path) -> None:
    for path in files(tmp_path).values():
        assert collect_ids(path) == collect_ids(str(path)) == IDS, path
    sources: list[Any] = [IDS, sorted(IDS), tuple(IDS), dict.fromkeys(IDS, "text"), (one for one in IDS)]
    frame = pl.DataFrame({"text": ["a", "b", "c"], "doc_id": sorted(IDS)})
    sources += [frame, frame.lazy(), frame.to_pandas(), frame["doc_id"], pd.Series(sorted(IDS))]
    sources += [dh.read_collection(tmp_path / "docs.csv"), dh.read_ontology(tmp_path / "x.obo")]
    for source in sources:
        assert collect_ids(source) == IDS, source


@pytest.mark.parametrize(
    ("content", "name", "error", "message"),
    [
        ("", "ids.txt", DataError, "without a single id"),
        ("identifier,text\na,b\n", "x.csv", ColumnError, "no column of ids: found 'identifier', 'text', expected"),
        (None, "gone.txt", DataError, "no such file"),
    ],
)
def test_what_it_may_not_be(
    content: str | None, name: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(error, match=message):
        dh.evaluate(QRELS, RUN, "RR", collection=tmp_path / name)
    with pytest.raises(dh.DeadheatError, match="a collection"):
        dh.evaluate(QRELS, RUN, "RR", collection=5)


@pytest.mark.plugins("compare")
def test_relevant_documents_that_do_not_exist_are_named() -> None:
    for run in (RUN, {"a": dh.Run(RUN), "b": dh.Run(RUN)}):
        with pytest.warns(DeadheatWarning, match=re.escape(GONE)):
            found: Any = dh.evaluate(QRELS, run, "RR", collection=IDS)
    assert found["a"].notes[0] == GONE
    with pytest.warns(DeadheatWarning):
        dh.compare(QRELS, {"a": RUN, "b": RUN}, "RR", collection=IDS)
    with pytest.warns(DeadheatWarning):
        dh.gate(dh.evaluate(QRELS, RUN, "RR"), "RR >= 0", collection=IDS)
    dh.evaluate(QRELS, RUN, "RR", collection=IDS, rel=3)  # none is relevant
    dh.evaluate(QRELS, RUN, "RR", collection=[*IDS, "gone"], strict=True)


@pytest.mark.plugins("compare")
def test_strict_is_an_error(tmp_path: Path) -> None:
    evaluation = dh.evaluate(QRELS, RUN, "RR")
    for asked in (
        lambda: dh.evaluate(QRELS, RUN, "RR", collection=IDS, strict=True),
        lambda: dh.compare(QRELS, {"a": RUN, "b": RUN}, "RR", collection=IDS, strict=True),
        lambda: dh.gate(evaluation, "RR >= 0", collection=IDS, strict=True),
    ):
        with pytest.raises(DataError, match=r"are the judgments older\?"):
            asked()
    with raises_parts(ParameterError, argument="strict", given=None, hint=Advice("collection")):
        dh.evaluate(QRELS, RUN, "RR", strict=True)
    evaluation.save(tmp_path / "x.json")
    with pytest.raises(DataError, match=r"are the judgments older\?"):  # they are in the file
        dh.gate(tmp_path / "x.json", "RR >= 0", collection=IDS, strict=True)


@pytest.mark.plugins("compare")
@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_commands(tmp_path: Path) -> None:
    (tmp_path / "qrels.json").write_text(json.dumps(QRELS))
    (tmp_path / "a.json").write_text(json.dumps(RUN))
    (tmp_path / "b.json").write_text(json.dumps(RUN))
    (tmp_path / "ids.txt").write_text("\n".join(IDS))
    qrels, a, b, ids = (str(tmp_path / name) for name in ("qrels.json", "a.json", "b.json", "ids.txt"))
    commands = [
        ["evaluate", qrels, a],
        ["compare", qrels, a, b, "-m", "RR"],
        ["gate", qrels, a, "-c", "RR >= 0", "--allow-unknown"],
    ]
    for command in commands:
        done = ok(*command, "--collection", ids)
        assert "Warning: " in done.stderr
        assert GONE.removesuffix("the collection (gone)") in done.stderr
        assert GONE.removesuffix("the collection (gone)") in " ".join(done.stdout.split())
        assert "are the judgments older?" in fails(3, *command, "--collection", ids, "--strict").stderr
        assert "--strict is about ids" in fails(2, *command, "--strict").stderr
    shown = " ".join(ok("evaluate", qrels, a).stdout.split())
    assert "not found 2 of 3 relevant" in shown
    ok("evaluate", qrels, a, "--save", str(tmp_path / "saved.json"))
    for command in (["gate", "-c", "RR >= 0"], ["compare", str(tmp_path / "saved.json")]):
        saved = [command[0], str(tmp_path / "saved.json"), *command[1:]]
        assert "already evaluated" in fails(2, *saved, "--collection", ids).stderr


def test_what_no_run_retrieved_is_counted() -> None:
    from deadheat.core.report.of_evaluation import report_evaluations

    runs = {"a": dh.Run({"q1": {"d1": 1.0}}), "b": dh.Run({"q2": {"d2": 1.0, "gone": 2.0}})}
    found = list(dh.evaluate(QRELS, runs, "RR", missing="empty").values())
    for evaluations, lacking in ((found, 1), (found[:1], 2), (found[1:], 2)):
        facts = {fact.key: fact.value for fact in report_evaluations(evaluations, "qrels").facts}
        assert facts["not_retrieved"] == {"n_relevant": 3, "n": lacking}


NFC, NFD = "M\u00fcller", "Mu\u0308ller"


@pytest.mark.slow
@pytest.mark.plugins("compare")
@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_ids_are_read_in_one_form_of_unicode(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text(f"{NFD} 0 {NFD} 1\nq 0 b 1\n", encoding="utf-8")
    (tmp_path / "r.run").write_text(f"{NFC} Q0 {NFC} 1 2 t\nq Q0 b 1 1 t\n", encoding="utf-8")
    qrels, run = {NFD: {NFD: 1}, "q": {"b": 1}}, {NFC: {NFC: 2}, "q": {"b": 1}}
    pairs: list[tuple[Any, Any]] = [(qrels, run), (tmp_path / "q.txt", tmp_path / "r.run")]
    for judged, retrieved in pairs:
        with pytest.warns(DeadheatWarning, match="Unicode form"):
            assert dh.evaluate(judged, dh.Run(retrieved), "RR").means() == {"RR": 0.5}
        for form in ("NFC", "NFD", "NFKC", "NFKD"):
            assert dh.evaluate(judged, dh.Run(retrieved), "RR", normalize_ids=form).means() == {"RR": 1.0}
        found = dh.compare(judged, {"a": retrieved, "b": retrieved}, "RR", normalize_ids="NFC")
        assert found.evaluations["a"].means() == {"RR": 1.0}
    done = ok("evaluate", str(tmp_path / "q.txt"), str(tmp_path / "r.run"), "-m", "RR")
    assert "differs only in Unicode form" in done.stderr
    assert "--normalize-ids NFC" in done.stderr
    done = ok("evaluate", str(tmp_path / "q.txt"), str(tmp_path / "r.run"), "-m", "RR", "--normalize-ids", "NFC")
    assert "1.0000" in done.stdout
    assert not done.stderr
    first, tied = {"q": {NFD: 2.0, "b": 1.0}}, {"q": {NFC: 1.0, "b": 1.0}}
    given: dict[str, Any] = {"normalize_ids": "NFC", "then_by": first, "collection": [NFD, "b"], "strict": True}
    assert dh.evaluate({"q": {NFC: 1}}, tied, "RR", **given).means() == {"RR": 1.0}
    assert dh.compare({"q": {NFC: 1}}, {"a": tied, "b": tied}, "RR", **given).evaluations["b"].means() == {"RR": 1.0}
    (tmp_path / "first.run").write_text(f"q Q0 {NFD} 1 2 t\nq Q0 b 2 1 t\n", encoding="utf-8")
    (tmp_path / "tied.run").write_text(f"q Q0 {NFC} 1 1 t\nq Q0 b 2 1 t\n", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("q.txt", "tied.run", "first.run")]
    (tmp_path / "q.txt").write_text(f"q 0 {NFC} 1\n", encoding="utf-8")
    ok(
        "evaluate",
        *files[:2],
        "--then-by",
        files[2],
        "-m",
        "RR",
        "--normalize-ids",
        "NFC",
        "--save",
        str(tmp_path / "x.json"),
    )
    assert dh.load_evaluation(tmp_path / "x.json").means() == {"RR": 1.0}
    with raises_parts(ParameterError, argument="normalize_ids", given="nfc", allowed=("NFC", "NFD", "NFKC", "NFKD")):
        dh.evaluate(qrels, run, "RR", normalize_ids="nfc")


@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_two_ids_may_not_become_one() -> None:
    both = [("q", NFC, 1.0), ("q", NFD, 2.0)]
    for run in ({"q": {NFC: 1.0, NFD: 2.0}}, both, pl.DataFrame(both, ["query_id", "doc_id", "score"], orient="row")):
        with pytest.raises(DuplicateError):
            dh.evaluate({"q": {NFC: 1}}, run, "RR", normalize_ids="NFC")


def test_ids_in_two_forms_are_a_warning() -> None:
    with pytest.warns(DeadheatWarning, match="normalize_ids='NFC'"):
        dh.evaluate({"q": {NFD: 1, "b": 1}}, {"q": {NFC: 2, "b": 1}}, "RR")


@pytest.mark.slow
@pytest.mark.plugins("compare")
@pytest.mark.filterwarnings("always::deadheat.core.errors.DeadheatWarning")
def test_one_table_as_qrels_and_run(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {"user_id": ["u"] * 3, "item_id": ["a", "b", "c"], "rating": [1, 0, 1], "prediction": [0.9, 0.5, 0.1]}
    )
    (path := tmp_path / "x.csv").write_text(frame.write_csv())
    for table in (frame, frame.to_pandas(), path, str(path)):
        with pytest.warns(DeadheatWarning, match=r"only retrieved doc.* judged"):
            dh.evaluate(table, table, "R@2")
        with pytest.warns(DeadheatWarning):
            dh.compare(table, {"a": table, "b": table}, "R@2")
    with pytest.warns(DeadheatWarning):
        dh.evaluate(frame, {"a": frame}, "R@2")
    for command in (["evaluate"], ["gate", "-c", "R@2 >= 0", "--allow-unknown"]):
        assert "qrels and run are the same" in ok(command[0], str(path), str(path), *command[1:]).stderr
    ragas = pl.DataFrame({"user_input": ["q"], "reference_context_ids": [["a"]], "retrieved_context_ids": [["b", "a"]]})
    assert dh.evaluate(ragas, ragas, "RR").means() == {"RR": 0.5}
    dh.evaluate(frame, frame.clone().drop("rating"), "R@2")  # of which nobody knows
    (path := tmp_path / "x.letor").write_text("1 qid:1 1:0.5\n0 qid:1 1:0.9\n")  # has all documents of a query
    dh.evaluate(path, dh.Run(path, columns={"score": "1"}), "R@2")
