"""``duplicates=`` "best" and "first": the numbers are those of dicts that are merged by hand, in every form."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.io.formats import parquet
from deadheat.errors import DuplicateError, ParameterError
from support.command import call
from support.error_parts import raises_parts
from support.merged_documents import (
    assert_same,
    count_left_out,
    draw_qrels,
    draw_rows,
    forms,
    frame_of,
    has_note,
    matrices_of,
    merge_by_hand,
)

if TYPE_CHECKING:
    from pathlib import Path

POLICIES = ("expected", "best", "worst", "doc_id", "input", "random")
MEASURES = [name for name in dh.measures() if name not in {"MaxRel", "Abstain"}]
RULES = ("best", "first")


def test_the_words_of_the_issue() -> None:
    qrels = {"q": ["a", "b"]}
    rows = [("q", "a", 0.9), ("q", "a", 0.7), ("q", "b", 0.1)]
    found = dh.evaluate(qrels, rows, "R@3 AP nDCG@3 NumRet", duplicates="best")
    assert found.means() == {"R@3": 1.0, "AP": 1.0, "nDCG@3": 1.0, "NumRet": 2.0}
    assert has_note(found.notes, rows, "best")
    with pytest.raises(DuplicateError):
        dh.evaluate(qrels, rows, "AP")


@pytest.mark.slow
@pytest.mark.plugins("diversity", "more_measures")
@pytest.mark.parametrize("ties", POLICIES)
@pytest.mark.parametrize("rule", RULES)
def test_all_measures_under_all_policies(rule: str, ties: str) -> None:
    rng = 5 if ties == "random" else None
    rows, qrels = draw_rows(0, n_queries=48), draw_qrels(0, n_queries=48)
    expected = dh.evaluate(qrels, merge_by_hand(rows, rule), MEASURES, ties=ties, rng=rng)
    found = dh.evaluate(qrels, rows, MEASURES, ties=ties, rng=rng, duplicates=rule)
    assert_same(found, expected, f"{rule} {ties}")


@pytest.mark.slow
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.filterwarnings("ignore::deadheat.errors.DeadheatWarning")  # scores may happen to rise or fall
def test_every_form_is_merged_as_by_hand(rule: str, *, ascending: bool, tmp_path: Path) -> None:
    rows, qrels = draw_rows(7), draw_qrels(7)
    measures = "nDCG@3 AP RR NumRet Judged@5"
    expected = {
        ties: dh.evaluate(
            qrels, merge_by_hand(rows, rule, ascending=ascending), measures, ties=ties, ascending=ascending
        )
        for ties in ("expected", "doc_id", "input")
    }
    note = f"{count_left_out(rows)} of {len(rows)} results repeat a document: its {rule} counts"
    for name, run in forms(rows, tmp_path):
        for ties, wanted in expected.items():
            found = dh.evaluate(qrels, run, measures, ties=ties, ascending=ascending, duplicates=rule)
            assert_same(found, wanted, f"{name} {ties}")
            assert note in found.notes, name


@pytest.mark.plugins("topk")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.filterwarnings("ignore::deadheat.errors.DeadheatWarning")
def test_arrays_of_neighbours(rule: str, *, ascending: bool) -> None:
    for seed in range(2):
        rows, qrels = draw_rows(seed, n_queries=120), draw_qrels(seed, n_queries=120)
        merged = merge_by_hand(rows, rule, ascending=ascending)
        ids, scores, query_ids = matrices_of(rows)
        texts = ids.astype(str).astype(object)
        texts[ids < 0] = None
        for documents in (ids, texts):
            run = dh.Run.from_topk(documents, scores, query_ids, ascending=ascending, duplicates=rule)
            sign = -1 if ascending else 1
            by_hand = {query: {doc: sign * score + 0.0 for doc, score in own.items()} for query, own in merged.items()}
            assert run.to_dict() == by_hand
            assert [*map(list, run.to_dict().values())] == [*map(list, by_hand.values())]  # the order of "input"
            for ties in ("expected", "input"):
                found = dh.evaluate(qrels, run, "nDCG@3 AP NumRet", ties=ties)
                assert_same(found, dh.evaluate(qrels, by_hand, "nDCG@3 AP NumRet", ties=ties), f"{seed} {ties}")


@pytest.mark.plugins("topk")
def test_neighbours_without_scores_keep_their_first_place() -> None:
    run = dh.Run.from_topk([[3, 1, 3, 9]], duplicates="best")
    assert list(run.to_dict()["0"]) == ["3", "1", "9"]
    assert dh.evaluate([[9]], run, "RR NumRet").means() == {"RR": 1 / 3, "NumRet": 3.0}


@pytest.mark.parametrize("rule", RULES)
def test_labels_and_scores(rule: str) -> None:
    labels, scores, doc_ids = [1, 0, 1, 0], [0.2, 0.9, 0.8, 0.5], ["a", "b", "a", "c"]
    qrels, run = dh.from_arrays(labels, scores, groups=["q"] * 4, doc_ids=doc_ids, duplicates=rule)
    expected = {"best": 1 / 2, "first": 1 / 3}
    assert dh.evaluate(qrels, run, "RR").means() == {"RR": expected[rule]}


@pytest.mark.slow
def test_a_lazy_engine_merges_where_the_rows_are() -> None:
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    rows, qrels = draw_rows(3), draw_qrels(3)
    judged = pl.DataFrame([(q, d, n) for q, own in qrels.items() for d, n in own.items()], ["query_id", "doc_id", "n"],
                          orient="row").rename({"n": "relevance"})  # fmt: skip
    connection.register("judged", judged.to_arrow())
    connection.register("retrieved", frame_of(rows).to_arrow())
    relations = connection.table("judged"), connection.table("retrieved")
    for ascending in (False, True):
        expected = dh.evaluate(
            qrels, merge_by_hand(rows, "best", ascending=ascending), "AP NumRet", ascending=ascending
        )
        for judgments in (relations[0], qrels):  # joined in the engine, and in Polars
            found = dh.evaluate(judgments, relations[1], "AP NumRet", ascending=ascending, duplicates="best")
            assert_same(found, expected, str(ascending))
            assert has_note(found.notes, rows, "best")
    with raises_parts(ParameterError, argument="duplicates", given="first"):
        dh.evaluate(qrels, relations[1], "AP", duplicates="first")


@pytest.mark.slow
@pytest.mark.plugins("engines")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_a_file_in_blocks(rule: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)
    monkeypatch.setattr("deadheat.core.io.memory_limits._MOST_ROWS", size)
    monkeypatch.setattr("deadheat.core.io.formats.is_too_large", lambda path, _: path.suffix == ".run")
    rows, qrels = draw_rows(9), draw_qrels(9)
    expected = dh.evaluate(qrels, merge_by_hand(rows, rule), "nDCG@3 AP NumRet", ties="input")
    for name, run in forms(rows, tmp_path):
        if name in {"x.parquet", "x.run", "lazy Polars"}:
            assert type(dh.Run(run).rows).__name__ in {"UnreadRows", "UnreadTrec"}
            found = dh.evaluate(qrels, run, "nDCG@3 AP NumRet", ties="input", duplicates=rule)
            assert_same(found, expected, name)
            assert has_note(found.notes, rows, rule)
            assert dh.Run(run, duplicates=rule).to_dict() == merge_by_hand(rows, rule)


@pytest.mark.slow
@pytest.mark.plugins("engines")
def test_a_file_whose_queries_are_torn_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are held at once then."""
    monkeypatch.setattr(parquet, "LARGE_PARQUET", 1)
    monkeypatch.setattr("deadheat.core.io.memory_limits._MOST_ROWS", 3)
    rows, qrels = draw_rows(11), draw_qrels(11)
    random.Random(0).shuffle(rows)
    frame_of(rows).write_parquet(tmp_path / "x.parquet")
    for rule in RULES:
        expected = dh.evaluate(qrels, merge_by_hand(rows, rule), "AP NumRet", ties="input")
        found = dh.evaluate(qrels, tmp_path / "x.parquet", "AP NumRet", ties="input", duplicates=rule)
        assert_same(found, expected, rule)
        note = f"{count_left_out(rows)} of {len(rows)} results repeat a document: its {rule} counts"
        assert [one for one in found.notes if "repeat a document" in one] == [note]


def test_many_rows_are_merged_by_hashes_too() -> None:
    """More rows than are compared without hashes."""
    rows, qrels = draw_rows(13, n_queries=400), draw_qrels(13, n_queries=400)
    for rule in RULES:
        found = dh.evaluate(qrels, frame_of(rows), "AP NumRet", duplicates=rule)
        assert_same(found, dh.evaluate(qrels, merge_by_hand(rows, rule), "AP NumRet"), rule)


def test_scores_are_merged_before_they_are_rounded() -> None:
    rows = [("q", "a", 0.91), ("q", "b", 0.93), ("q", "a", 0.94)]
    found = dh.evaluate({"q": {"a": 1}}, rows, "RR", ties="input", score_precision=1, duplicates="best")
    assert found.means() == {"RR": 0.5}  # the best row of a, after that of b


def test_a_rule_of_the_run_holds_where_none_is_given() -> None:
    rows = [("q", "b", 0.9), ("q", "a", 0.8), ("q", "a", 0.95)]
    qrels = {"q": {"a": 1}}
    best, first, trusted = (dh.Run(rows, duplicates=rule) for rule in ("best", "first", "trust"))
    assert dh.evaluate(qrels, best, "RR").means() == {"RR": 1.0}
    assert dh.evaluate(qrels, first, "RR").means() == {"RR": 0.5}
    with pytest.raises(DuplicateError):
        dh.evaluate(qrels, trusted, "RR")  # the document is judged
    assert dh.evaluate({"q": {"b": 1}}, trusted, "RR").means() == {"RR": 0.5}
    assert any("not looked for" in note for note in trusted.notes)
    merged = dh.evaluate(qrels, trusted, "RR", duplicates="best")
    assert merged.means() == {"RR": 1.0}
    assert merged.notes == best.notes  # somebody looked
    assert dh.evaluate(qrels, first, "RR", duplicates="best").means() == {"RR": 0.5}  # merged already


def test_the_run_that_was_given_stays_as_it_is() -> None:
    run = dh.Run([("q", "a", 0.8), ("q", "a", 0.95)])
    dh.evaluate({"q": {"a": 1}}, run, "RR", duplicates="best")
    assert run.to_polars().height == 2
    assert run.notes == ()
    with pytest.raises(DuplicateError):
        dh.evaluate({"q": {"a": 1}}, run, "RR")


@pytest.mark.plugins("compare")
def test_several_runs_and_comparisons() -> None:
    rows, others, qrels = draw_rows(1), draw_rows(2), draw_qrels(1)
    by_hand = {"one": merge_by_hand(rows, "best"), "two": merge_by_hand(others, "best")}
    expected: Any = dh.evaluate(qrels, by_hand, "AP")
    runs: Any = {"one": frame_of(rows), "two": dh.Run(others)}
    evaluations: Any = dh.evaluate(qrels, runs, "AP", duplicates="best")
    for name, found in evaluations.items():
        assert_same(found, expected[name], name)
    (pair,) = dh.compare(qrels, runs, "AP", duplicates="best").pairs
    assert pair.difference == dh.compare(qrels, by_hand, "AP").pairs[0].difference
    placements = dh.place(qrels, rows, duplicates="best")
    assert placements.to_polars().rows() == dh.place(qrels, by_hand["one"]).to_polars().rows()


@pytest.mark.plugins("repeats")
def test_repeats() -> None:
    rows, others, qrels = draw_rows(1), draw_rows(2), draw_qrels(1)
    merged = dh.Repeats([merge_by_hand(rows, "best"), merge_by_hand(others, "best")])
    expected = dh.evaluate(qrels, merged, "AP")
    assert_same(dh.evaluate(qrels, dh.Repeats([rows, frame_of(others)]), "AP", duplicates="best"), expected, "a list")
    table = pl.concat([frame_of(rows).with_columns(repeat=0), frame_of(others).with_columns(repeat=1)])
    assert_same(dh.evaluate(qrels, table, "AP", duplicates="best"), expected, "a table")


def test_ties_ordered_by_another_run() -> None:
    """The other run is merged, too."""
    rows = [("q", "a", 1.0), ("q", "b", 1.0), ("q", "a", 0.5)]
    first_stage = [("q", "a", 3.0), ("q", "b", 5.0), ("q", "a", 7.0)]
    qrels = {"q": {"a": 1}}
    assert dh.evaluate(qrels, rows, "RR", then_by=first_stage, duplicates="best").means() == {"RR": 1.0}
    assert dh.evaluate(qrels, rows, "RR", then_by=first_stage, duplicates="first").means() == {"RR": 0.5}


def test_ids_that_are_one_in_a_form_of_unicode() -> None:
    rows = [("q", "\u00e9", 1.0), ("q", "b", 2.0), ("q", "e\u0301", 3.0)]
    run = {"q": {doc: score for _, doc, score in rows}}
    qrels = {"q": {"\u00e9": 1}}
    for given in (rows, run):
        found = dh.evaluate(qrels, given, "RR NumRet", normalize_ids="NFC", duplicates="best")
        assert found.means() == {"RR": 1.0, "NumRet": 2.0}
        with pytest.raises(DuplicateError):
            dh.evaluate(qrels, given, "RR", normalize_ids="NFC")


@pytest.mark.plugins("spans")
def test_chunks_beside_spans_are_told_apart_by_their_places() -> None:
    chunks = [("q", "d", 0, 8, 1.0)]
    with raises_parts(ParameterError, argument="duplicates", given="best"):
        dh.evaluate(dh.Spans([("q", "d", 0, 10)]), chunks, duplicates="best")


def test_what_is_no_rule_is_refused() -> None:
    for call_door in (
        lambda: dh.evaluate({"q": ["a"]}, {"q": ["a"]}, "RR", duplicates="bets"),
        lambda: dh.read_run({"q": ["a"]}, duplicates="bets"),
        lambda: dh.place({"q": ["a"]}, {"q": ["a"]}, duplicates="bets"),
        lambda: dh.Run({"q": ["a"]}).with_duplicates("bets"),
    ):
        with raises_parts(ParameterError, argument="duplicates", given="bets"):
            call_door()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rows, others, qrels = draw_rows(1), draw_rows(2), draw_qrels(1)
    for name, run in {"one": rows, "two": others}.items():
        (tmp_path / f"{name}.run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in run))
        merged = merge_by_hand(run, "best")
        lines = [f"{q} Q0 {doc} 1 {score} t\n" for q, own in merged.items() for doc, score in own.items()]
        (tmp_path / f"{name}.once.run").write_text("".join(lines))
    lines = [f"{query} 0 {doc} {grade}\n" for query, own in qrels.items() for doc, grade in own.items()]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    return tmp_path


COMMANDS = {
    "evaluate": ("qrels.txt", "{one}", "-m", "AP", "--ci", "--rng", "0"),
    "compare": ("qrels.txt", "{one}", "{two}", "-m", "AP"),
    "gate": ("qrels.txt", "{one}", "-c", "AP >= 0"),
    "ties": ("{one}", "qrels.txt"),
    "agree": ("{one}", "{two}"),
    "items": ("{one}",),
    "simulate": ("--coarsen", "{one}", "{two}", "qrels.txt", "--levels", "2,3", "-m", "AP"),
    "fuse": ("{one}", "{two}"),
    "holes": ("qrels.txt", "{one}"),
    "steps": ("qrels.txt", "{one}", "-m", "AP", "--query", "q3"),
    "explain": ("qrels.txt", "{one}", "--reported", "AP=0.5"),
    "diff": ("qrels.txt", "qrels.txt", "{one}"),
}


@pytest.mark.plugins("agree", "compat", "fusion", "gates", "recommender", "ties", "weeks")
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_merge(command: str, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    printed = []
    for suffix, options in (("run", ["--duplicates", "best"]), ("once.run", [])):
        given = [word.format(one=f"one.{suffix}", two=f"two.{suffix}") for word in COMMANDS[command]]
        result = call(command, *given, *options, "--format", "json")
        assert result.exit_code in {0, 1}, result.output
        printed.append(result.stdout.replace(".once", ""))
    found, expected = (_without_notes(json.loads(text)) for text in printed)
    assert found == expected


def _without_notes(value: Any) -> Any:  # noqa: ANN401 - of any document
    """Return a document without what says how its files were read."""
    if isinstance(value, dict):
        told = {"notes", "facts", "qrels_hash", "run_hash", "hash"}
        return {key: _without_notes(item) for key, item in value.items() if key not in told}
    if isinstance(value, list):
        return [_without_notes(item) for item in value]
    return value


def test_a_run_is_converted_to_documents(files: Path) -> None:
    result = call("convert", files / "one.run", files / "out.csv", "--duplicates", "best")
    assert result.exit_code == 0, result.output
    assert dh.read_run(files / "out.csv").to_dict() == merge_by_hand(draw_rows(1), "best")
    refused = call("convert", files / "qrels.txt", files / "out.tsv", "--duplicates", "best")
    assert refused.exit_code == 2
    assert "--duplicates is for runs" in refused.stderr


def test_the_error_of_a_command_names_the_option(files: Path) -> None:
    result = call("evaluate", files / "qrels.txt", files / "one.run", "-m", "AP")
    assert result.exit_code == 3
    assert "give --duplicates best" in " ".join(result.stderr.split())
    assert call("evaluate", files / "qrels.txt", files / "one.run", "-m", "AP", "--duplicates", "best").exit_code == 0
