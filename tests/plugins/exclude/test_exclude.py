"""exclude=: runs and judgments in any form have the numbers of dicts that were filtered by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import deadheat as dh
from deadheat.core.data import unread_trec
from deadheat.errors import DataError, DeadheatWarning, ParameterError
from support.error_parts import raises_parts

if TYPE_CHECKING:
    from collections.abc import Callable

Scored: TypeAlias = "dict[str, dict[str, float]]"
Pairs: TypeAlias = "dict[str, list[str]]"

MEASURES = ["nDCG@3", "AP", "RR", "P@2", "R@4", "Judged@3", "NumRel", "NumRet", "bpref", "FRP"]
IDS = [str(number) for number in range(12)]  # of queries and of documents: all queries are documents
QUERIES = IDS[:9]


def drawn(seed: int = 0) -> tuple[Scored, Scored]:
    """Return judgments and a run, in which queries retrieve themselves, and some are judged for themselves."""
    rng = random.Random(seed)
    qrels = {query: {doc: float(rng.randrange(3)) for doc in rng.sample(IDS, 5)} for query in QUERIES}
    run = {}
    for query in QUERIES:
        docs = rng.sample(IDS, 8)
        docs.append(query)  # which may come twice: a dict has it once
        run[query] = {doc: rng.randrange(5) / 4 for doc in docs}
    run["8"] = {"8": 1.0}  # of which nothing is left under "self"
    run["7"] = {"3": 1.0, "4": 0.5}
    qrels["7"] = {"3": 1.0}
    return qrels, run


def drawn_pairs(seed: int = 0) -> Pairs:
    """Return pairs of which some are retrieved, some judged, some both, and some neither; all of query 7."""
    rng = random.Random(seed + 1)
    return {query: rng.sample([*IDS, "unknown"], 4) for query in [*QUERIES[:6], "other"]} | {"7": ["3", "4"]}


def without(scored: Scored, pairs: Pairs) -> Scored:
    """Return dicts without pairs, by the definition."""
    return {
        query: {doc: number for doc, number in documents.items() if doc not in pairs.get(query, ())}
        for query, documents in scored.items()
    }


SELF: Pairs = {query: [query] for query in QUERIES}


def rows_of(run: Scored) -> list[tuple[str, str, float]]:
    return [(query, doc, number) for query, documents in run.items() for doc, number in documents.items()]


def as_frame(run: Scored, number: str) -> pl.DataFrame:
    return pl.DataFrame(rows_of(run), schema=["query_id", "doc_id", number], orient="row")


def as_file(run: Scored, path: Path) -> Path:
    """Write a run as the ending of a path says."""
    frame = as_frame(run, "score")
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".jsonl":
        frame.write_ndjson(path)
    else:
        lines = [f"{query} Q0 {doc} 1 {score} x" for query, doc, score in rows_of(run)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def as_lists(run: Scored) -> tuple[Any, Any, list[str]]:
    """Return the arrays of a run: ids, scores and query ids."""
    longest = max(map(len, run.values()))
    ids = np.full((len(run), longest), -1)
    scores = np.full(ids.shape, np.nan)
    for row, documents in enumerate(run.values()):
        for column, (doc, score) in enumerate(documents.items()):
            ids[row, column] = int(doc)
            scores[row, column] = score
    return ids, scores, list(run)


def as_duckdb(run: Scored, _: Path) -> Any:  # noqa: ANN401 - a relation
    duckdb = pytest.importorskip("duckdb")
    return duckdb.from_arrow(as_frame(run, "score").to_arrow())


FORMS: dict[str, Callable[[Scored, Path], Any]] = {
    "dicts": lambda run, _: run,
    "Run": lambda run, _: dh.Run(run),
    "rows": lambda run, _: rows_of(run),
    "polars": lambda run, _: as_frame(run, "score"),
    "lazy": lambda run, _: as_frame(run, "score").lazy(),
    "pandas": lambda run, _: as_frame(run, "score").to_pandas(),
    "arrow": lambda run, _: as_frame(run, "score").to_arrow(),
    "duckdb": as_duckdb,
    "trec": lambda run, path: as_file(run, path / "x.run"),
    "csv": lambda run, path: as_file(run, path / "x.csv"),
    "jsonl": lambda run, path: as_file(run, path / "x.jsonl"),
    "parquet": lambda run, path: as_file(run, path / "x.parquet"),
    "scan": lambda run, path: pl.scan_parquet(as_file(run, path / "x.parquet")),
    "topk": lambda run, _: dh.Run.from_topk(*as_lists(run)),
}


def check_same(found: dh.Evaluation, expected: dh.Evaluation) -> None:
    """Check that two evaluations have the same numbers of every query, and their spread over ties."""
    assert_frame_equal(found.to_polars(), expected.to_polars(), check_exact=True)
    assert found.placements.n_retrieved.tolist() == expected.placements.n_retrieved.tolist()
    assert found.missing_queries == expected.missing_queries


def asked(what: str) -> tuple[Any, Scored, Scored, Scored, Scored]:
    """Return what to exclude, judgments and a run, and both as they are without it."""
    qrels, run = drawn()
    if what == "self":
        return "self", qrels, run, qrels, without(run, SELF)
    pairs = drawn_pairs()
    return pairs, qrels, run, without(qrels, pairs), without(run, pairs)


def count_note(what: str) -> str:
    """Return what the note says, counted by the definition."""
    _, qrels, run, remaining_qrels, remaining_run = asked(what)
    of_run = {(query, doc) for query, docs in run.items() for doc in docs if doc not in remaining_run[query]}
    of_qrels = {(query, doc) for query, docs in qrels.items() for doc in docs if doc not in remaining_qrels[query]}
    both = of_run | of_qrels
    n_relevant = sum(qrels.get(query, {}).get(doc, 0) > 0 for query, doc in both)
    n_queries = len({query for query, _ in both})
    return f"{len(both)} documents excluded in {n_queries} queries, {n_relevant} of them relevant"


def test_the_example_of_the_issue() -> None:
    qrels = {"u": {"j": 1, "k": 1}}
    run = {"u": {"j": 3.0, "k": 2.0}}
    found = dh.evaluate(qrels, run, ["RR", "R@1", "NumRel"], exclude={"u": ["j"]})
    assert found.means() == {"RR": 1.0, "R@1": 1.0, "NumRel": 1.0}
    assert found.notes == ("1 document excluded in 1 query, 1 of them relevant",)
    assert dh.place(qrels, run, exclude={"u": ["j"]}).to_polars().rows() == [("u", "k", 1.0, 0, 1)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("what", ["self", "pairs"])
@pytest.mark.parametrize("most_memory", [10**10, 1])
@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_each_form_is_as_dicts_filtered_by_hand(
    form: str, what: str, most_memory: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_trec, "BLOCK", 40)  # bytes of a file that are read at once
    exclude, qrels, run, remaining_qrels, remaining_run = asked(what)
    expected = dh.evaluate(remaining_qrels, remaining_run, MEASURES)
    with dh.max_memory(most_memory):
        found = dh.evaluate(qrels, FORMS[form](run, tmp_path), MEASURES, exclude=exclude)
    check_same(found, expected)
    assert count_note(what) in found.notes


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ties", ["doc_id", "input", "best", "worst"])
@pytest.mark.parametrize("what", ["self", "pairs"])
@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_policies_see_the_order_that_remains(form: str, ties: str, what: str, tmp_path: Path) -> None:
    if ties == "input" and form == "duckdb":
        return  # its rows have no order
    exclude, qrels, run, remaining_qrels, remaining_run = asked(what)
    expected = dh.evaluate(remaining_qrels, remaining_run, MEASURES, ties=ties)
    check_same(dh.evaluate(qrels, FORMS[form](run, tmp_path), MEASURES, ties=ties, exclude=exclude), expected)


@pytest.mark.parametrize("what", ["self", "pairs"])
@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_a_large_file_keeps_the_hashes_of_what_remains(what: str, tmp_path: Path) -> None:
    """Of more than 1 MB of TREC document ids are hashed while the lines are split."""
    rng = np.random.default_rng(4)
    names = [f"document-{number:04d}" for number in range(3000)]
    queries = names[:40]
    run = {
        query: dict(zip(rng.permutation(names)[:1000].tolist(), rng.integers(0, 50, 1000) / 4, strict=True))
        for query in queries
    }
    qrels = {query: dict.fromkeys(rng.permutation(names)[:200].tolist(), 1.0) for query in queries}
    pairs = {query: [*list(run[query])[:3], *list(qrels[query])[:5]] for query in queries[5:]}
    path = as_file(run, tmp_path / "large.run")
    assert path.stat().st_size > 1 << 20
    if what == "self":
        expected = dh.evaluate(qrels, without(run, {query: [query] for query in queries}), MEASURES)
        check_same(dh.evaluate(qrels, path, MEASURES, exclude="self"), expected)
    else:
        expected = dh.evaluate(without(qrels, pairs), without(run, pairs), MEASURES)
        check_same(dh.evaluate(qrels, path, MEASURES, exclude=pairs), expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_qrels_may_be_of_an_engine_too() -> None:
    duckdb = pytest.importorskip("duckdb")
    exclude, qrels, run, remaining_qrels, remaining_run = asked("pairs")
    connection = duckdb.connect()
    judged = connection.from_arrow(as_frame(qrels, "relevance").to_arrow())
    retrieved = connection.from_arrow(as_frame(run, "score").to_arrow())
    judged_in_rows = {query: docs for query, docs in remaining_qrels.items() if docs}
    for number_of_pairs in (exclude, {**exclude, "1": ["a\x1fb", *exclude["1"]]}):
        found = dh.evaluate(judged, retrieved, MEASURES, exclude=number_of_pairs)
        expected = dh.evaluate(remaining_qrels, remaining_run, MEASURES)
        assert set(judged_in_rows) <= set(found.query_ids.tolist())
        check_same(found, expected)


def sources_of_pairs(folder: Path) -> dict[str, Any]:
    """Return the same pairs in each form in which they may be given."""
    pairs = drawn_pairs()
    rows = [(query, doc) for query, docs in pairs.items() for doc in docs]
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id"], orient="row")
    frame.write_csv(folder / "pairs.csv")
    frame.write_parquet(folder / "pairs.parquet")
    trec = [f"{query} 0 {doc} {number % 3}" for number, (query, doc) in enumerate(rows)]
    (folder / "pairs.qrels").write_text("\n".join([*trec, trec[0]]) + "\n", encoding="utf-8")
    run = [f"{query} Q0 {doc} 1 {number} x" for number, (query, doc) in enumerate(rows)]
    (folder / "pairs.run").write_text("\n".join(run) + "\n", encoding="utf-8")
    bright = [{"id": query, "excluded_ids": docs, "gold_ids": ["x"]} for query, docs in pairs.items()]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, bright)) + "\n", encoding="utf-8")
    return {
        "lists": pairs,
        "sets": {query: set(docs) for query, docs in pairs.items()},
        "dicts of nothing": {query: dict.fromkeys(docs) for query, docs in pairs.items()},
        "rows": rows,
        "a set of rows": set(rows),
        "frame": frame,
        "lazy": frame.lazy(),
        "pandas": frame.to_pandas(),
        "qrels": dh.Qrels(pairs),
        "run": dh.Run(pairs),
        "csv": folder / "pairs.csv",
        "text": str(folder / "pairs.csv"),
        "parquet": folder / "pairs.parquet",
        "trec qrels": folder / "pairs.qrels",
        "trec run": folder / "pairs.run",
        "BRIGHT": folder / "pairs.jsonl",
        "BRIGHT in a frame": pl.DataFrame(bright),
    }


@pytest.mark.slow
def test_pairs_may_have_any_form(tmp_path: Path) -> None:
    _, qrels, run, remaining_qrels, remaining_run = asked("pairs")
    expected = dh.evaluate(remaining_qrels, remaining_run, MEASURES)
    names = set()
    for form, pairs in sources_of_pairs(tmp_path).items():
        found = dh.evaluate(qrels, run, MEASURES, exclude=pairs)
        check_same(found, expected)
        names.add(found.conventions.exclude)
        assert count_note("pairs") in found.notes, form
    assert len(names) == 1  # they are known to be the same pairs


@pytest.mark.parametrize("given", [3, True, [1, 2], 0.5])
def test_what_is_no_pairs_is_refused(given: object) -> None:
    with raises_parts(ParameterError, argument="exclude", given=given):
        dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, "RR", exclude=given)


def test_a_misspelt_word_is_told_the_right_one() -> None:
    with raises_parts(
        DataError, path=Path("slef"), hint="to leave out documents with the id of their query, write self"
    ):
        dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1}}, "RR", exclude="slef")


def test_self_leaves_judgments_as_beir_does_and_warns() -> None:
    """R stays 2, so that R@2 is 1/2; where the document is not relevant there is no warning."""
    run = {"u": {"u": 3.0, "k": 2.0}}
    with pytest.warns(DeadheatWarning, match="still count as relevant"):
        found = dh.evaluate({"u": {"u": 1, "k": 1}}, run, ["R@2", "RR", "NumRel"], exclude="self")
    assert found.means() == {"R@2": 0.5, "RR": 1.0, "NumRel": 2.0}
    found = dh.evaluate({"u": {"u": 0, "k": 1}}, run, ["R@2", "RR"], exclude="self")
    assert found.means() == {"R@2": 1.0, "RR": 1.0}
    assert found.notes == ("1 document excluded in 1 query",)


def test_ids_that_only_look_alike_are_kept() -> None:
    """ "01", " 1" and "1.0" are other ids than "1": only the same text is the query itself."""
    run = {"1": {"01": 3.0, "1.0": 2.0, "1": 1.0}, "x": {"X": 2.0, "x": 1.0}}
    found = dh.evaluate({"1": {"1.0": 1}, "x": {"X": 1}}, run, ["RR", "NumRet"], exclude="self")
    assert found.means() == {"RR": 0.75, "NumRet": 3.0}


def test_nothing_to_exclude_is_said() -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"d": 1.0}}
    with pytest.warns(DeadheatWarning, match="0 of 2 excluded pairs are in the run: 'q' 'x', 'z' 'd'"):
        found = dh.evaluate(qrels, run, "RR", exclude={"q": ["x"], "z": ["d"]})
    assert found.notes == ("no document excluded: none of 2 pairs is retrieved or judged",)
    assert dh.evaluate(qrels, run, "RR", exclude="self").notes == (
        "no document excluded: none has the id of its query",
    )


@pytest.mark.parametrize("form", FORMS)
def test_pairs_of_which_none_is_there_are_warned_of(form: str, tmp_path: Path) -> None:
    run = {"q": {"7": 2.0, "8": 1.0}, "r": {"7": 1.0}}
    with pytest.warns(DeadheatWarning, match="0 of 5 excluded pairs .*: 'q' '0', 'q' '1', 'q' '2' and 2 more.* '7'"):
        dh.evaluate({"q": {"7": 1}}, FORMS[form](run, tmp_path), "RR", exclude={"q": ["0", "1", "2", "3", "4"]})


def test_documents_that_other_queries_retrieve_are_told_apart_from_ids_in_another_form() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d5": 3.0, "d2": 1.0}}
    with pytest.warns(DeadheatWarning, match="for other queries") as warned:
        dh.evaluate(qrels, run, "RR", exclude={"q1": ["d5"]})
    assert "NFC" not in str(warned[0].message)


@pytest.mark.parametrize(
    ("doc_of_run", "excluded", "advice"),
    [("d1#0", "d1", "doc_id_of='#'"), ("d1", "d1#0", "exclude the documents"), ("d1", "e", "ids written alike")],
)
def test_the_advice_on_pairs_is_about_what_their_ids_are(doc_of_run: str, excluded: str, advice: str) -> None:
    with pytest.warns(DeadheatWarning, match=advice):
        dh.evaluate({"q": {doc_of_run: 1}}, {"q": {doc_of_run: 1.0}}, "RR", exclude={"q": [excluded]})


def test_the_advice_on_pairs_of_documents_leaves_them_out() -> None:
    run = {"q": {"d1#0": 2.0, "d1#1": 1.5, "d2#0": 1.0}}
    found = dh.evaluate({"q": {"d2": 1}}, run, "RR", exclude={"q": ["d1"]}, doc_id_of="#", duplicates="best")
    assert found.means() == {"RR": 1.0}


def test_pairs_that_name_no_document_are_not_missed() -> None:
    """BRIGHT has "N/A" where a query excludes nothing."""
    notes = dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, "RR", exclude={"q": ["N/A"]}).notes
    assert notes == ("no document excluded: none of 1 pair is retrieved or judged",)


@pytest.mark.parametrize(("n_unknown", "said"), [(9, ""), (10, "; 10 of 11 pairs are neither retrieved nor judged")])
def test_where_few_pairs_are_there_the_note_counts_the_others(n_unknown: int, said: str) -> None:
    unknown = [f"x{number}" for number in range(n_unknown)]
    found = dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "e": 2.0}}, "RR", exclude={"q": ["e", *unknown]})
    assert found.notes == (f"1 document excluded in 1 query{said}",)


@pytest.mark.parametrize("missing", ["empty", "skip", "error"])
def test_a_query_of_which_all_is_excluded_was_asked(missing: str) -> None:
    qrels = {"a": {"x": 1, "y": 1}, "b": {"x": 1}}
    run = {"a": {"x": 2.0}, "b": {"x": 1.0}}
    found = dh.evaluate(
        qrels,
        pl.DataFrame(rows_of(run), ["query_id", "doc_id", "score"], orient="row"),
        "RR",
        missing=missing,
        exclude={"a": ["x"]},
    )
    assert found["RR"].values.tolist() == [0.0, 1.0]
    found = dh.evaluate(qrels, run, ["RR", "NumRel"], exclude={"a": ["x"], "b": ["x"]}, missing=missing)
    assert found["RR"].values.tolist() == [0.0, 0.0]
    assert found.means()["NumRel"] == 1.0


@pytest.mark.filterwarnings("ignore:.*only look alike")
@pytest.mark.parametrize("what", ["self", "pairs"])
def test_compare_is_of_what_remains(what: str) -> None:
    exclude, qrels, run, remaining_qrels, remaining_run = asked(what)
    pairs = SELF if what == "self" else exclude
    other = drawn(5)[1]
    found = dh.compare(qrels, {"one": run, "other": other}, MEASURES[:4], exclude=exclude)
    expected = dh.compare(remaining_qrels, {"one": remaining_run, "other": without(other, pairs)}, MEASURES[:4])
    assert_frame_equal(found.to_polars(), expected.to_polars())
    assert found.evaluations["one"].conventions.exclude is not None


def test_ties_are_ordered_among_what_remains() -> None:
    """x is excluded, so that the note counts the two that tie; by the other run b is before a."""
    run, key = {"q": {"x": 1, "a": 1, "b": 1}}, {"q": {"b": 2.0, "a": 1.0}}
    found = dh.evaluate({"q": {"b": 1}}, run, "RR", then_by=key, exclude={"q": ["x"]})
    assert found.means() == {"RR": 1.0}
    assert any(note.startswith("2 tied documents ordered") for note in found.notes)


def test_ids_in_another_form_of_unicode_are_found() -> None:
    run = {"q": {"e\u0301": 2.0, "a": 1.0}}
    found = dh.evaluate({"q": {"a": 1}}, run, "RR", exclude={"q": ["\u00e9"]}, normalize_ids="NFC")
    assert found.means() == {"RR": 1.0}
    with pytest.warns(DeadheatWarning, match="normalize_ids='NFC'"):
        found = dh.evaluate({"q": {"a": 1}}, run, "RR", exclude={"q": ["\u00e9"]})
    assert found.means() == {"RR": 0.5}


def test_judgments_by_subtopic_are_left_out_too() -> None:
    """Subtopic s2 is of d1 alone, which is excluded: one subtopic is left, and found."""
    rows = [("q", "d1", 1, "s1"), ("q", "d1", 1, "s2"), ("q", "d2", 1, "s1")]
    qrels = pl.DataFrame(rows, ["query_id", "doc_id", "relevance", "subtopic"], orient="row")
    run = {"q": {"d1": 2.0, "d2": 1.0}}
    assert dh.evaluate(qrels, run, "StRecall@1", exclude={"q": ["d1"]}).means() == {"StRecall@1": 1.0}


def test_saved_evaluations_keep_what_was_excluded(tmp_path: Path) -> None:
    exclude, qrels, run, remaining_qrels, remaining_run = asked("pairs")
    found = dh.evaluate(qrels, run, ["RR", "R@4"], exclude=exclude)
    loaded = dh.load_evaluation(found.save(tmp_path / "x.json"))
    check_same(loaded, found)
    assert loaded.notes == found.notes
    assert loaded.conventions == found.conventions
    pairs = {(query, doc) for query, docs in exclude.items() for doc in docs}
    assert {*loaded.qrels.excluded.rows()} == pairs  # type: ignore[attr-defined]  # a table of a plugin
    other = drawn(7)[0]
    check_same(loaded.rescored(other), dh.evaluate(without(other, exclude), remaining_run, ["RR", "R@4"]))
    check_same(loaded.rescored(qrels), dh.evaluate(remaining_qrels, remaining_run, ["RR", "R@4"]))


@pytest.mark.filterwarnings("ignore:.*0 of 1 excluded pair ")
def test_evaluations_with_other_exclusions_are_not_compared() -> None:
    """Even where the pairs are of documents that nobody judged, so that judgments are the same."""
    qrels, run = {"q": {"d": 1}, "r": {"d": 1}}, {"q": {"x": 2.0, "d": 1.0}, "r": {"d": 1.0}}
    with_it = dh.evaluate(qrels, run, "RR", exclude={"q": ["x"]})
    for other in (None, "self", {"q": ["y"]}):
        with pytest.raises(DataError, match="different conventions"):
            dh.compare_evaluations({"a": with_it, "b": dh.evaluate(qrels, run, "RR", exclude=other)})


@pytest.mark.filterwarnings("ignore:.*only look alike")
def test_what_was_given_is_not_changed() -> None:
    qrels, run = drawn()
    before = json.dumps([qrels, run])
    read = dh.Qrels(qrels), dh.Run(run)
    for exclude in ("self", drawn_pairs()):
        dh.evaluate(qrels, run, "RR", exclude=exclude)
        dh.evaluate(*read, "RR", exclude=exclude)
    assert json.dumps([qrels, run]) == before
    assert read[0].to_dict() == qrels
    assert read[1].to_dict() == run
    assert read[1].notes == ()


def test_wrong_numbers_are_errors_in_excluded_documents_too() -> None:
    with pytest.raises(DataError, match="NaN"):
        dh.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0, "x": float("nan")}}, "RR", exclude={"q": ["x"]})


def test_spans_refuse_it() -> None:
    spans = dh.Spans({"q": [{"doc_id": "d", "start": 0, "end": 5}]})
    run = [{"query_id": "q", "doc_id": "d", "start": 0, "end": 5, "score": 1.0}]
    with raises_parts(ParameterError, argument="exclude"):
        dh.evaluate(spans, run, exclude={"q": ["d"]})


CHUNKS = [
    ("q", "d1#0", 0.9),
    ("q", "d2#0", 0.8),
    ("q", "d1#1", 0.7),
    ("q", "d3#0", 0.5),
    ("q", "q#1", 0.95),
    ("r", "d1#0", 0.9),
    ("r", "d1#1", 0.3),
]


@pytest.mark.parametrize("form", ["rows", "polars", "lazy", "scan", "trec", "parquet"])
@pytest.mark.parametrize("most_memory", [10**10, 1])
@pytest.mark.parametrize("exclude", ["self", {"q": ["d1"], "r": ["d1"]}])
def test_documents_of_chunks_are_left_out(form: str, most_memory: int, exclude: str | Pairs, tmp_path: Path) -> None:
    """Chunks are read as their documents, of which the best chunk counts, and these are excluded."""
    pairs = {"q": ["q"], "r": ["r"]} if isinstance(exclude, str) else exclude
    qrels = {"q": {"d1": 1.0, "d2": 1.0, "d3": 1.0}, "r": {"d1": 1.0}}
    best: Scored = {}
    for query, chunk, score in CHUNKS:
        documents = best.setdefault(query, {})
        doc = chunk.partition("#")[0]
        documents[doc] = max(score, documents.get(doc, score))
    expected = dh.evaluate(without(qrels, pairs), without(best, pairs), MEASURES)
    chunks: Scored = {query: {} for query, _, _ in CHUNKS}
    for query, chunk, score in CHUNKS:
        chunks[query][chunk] = score
    with dh.max_memory(most_memory):
        run = FORMS[form](chunks, tmp_path)
        found = dh.evaluate(qrels, run, MEASURES, exclude=exclude, duplicates="best", doc_id_of="#")
    check_same(found, expected)
    n_excluded = "1 document excluded in 1 query" if exclude == "self" else "2 documents excluded in 2 queries"
    assert any(note.startswith(n_excluded) for note in found.notes)


@pytest.mark.parametrize("most_memory", [10**10, 1])
def test_a_run_that_was_fetched_before_is_left_as_it_is(most_memory: int, tmp_path: Path) -> None:
    _, qrels, run, remaining_qrels, remaining_run = asked("pairs")
    read = dh.Run(pl.scan_parquet(as_file(run, tmp_path / "x.parquet")))
    with dh.max_memory(most_memory):
        assert len(read.to_polars()) == len(rows_of(run))
        found = dh.evaluate(qrels, read, MEASURES, exclude=drawn_pairs())
        check_same(found, dh.evaluate(remaining_qrels, remaining_run, MEASURES))
        check_same(dh.evaluate(qrels, read, MEASURES), dh.evaluate(qrels, run, MEASURES))
        assert len(found.run.to_polars()) == len(rows_of(remaining_run))  # type: ignore[union-attr]
