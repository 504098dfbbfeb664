"""Spans: chunks held against judged passages, beside an oracle that counts characters over all orders of ties."""

from __future__ import annotations

import json
import random
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import deadheat as dh
from deadheat.errors import (
    ColumnError,
    DataError,
    DeadheatError,
    DuplicateError,
    MalformedRowError,
    MeasureError,
    ParameterError,
    SourceTypeError,
)
from oracle.passages import Case, Place, drawn, is_hit, moments
from support.command import call, ok
from support.error_parts import raises_parts

SPAN = {"query_id": "q", "doc_id": "d", "start": 10, "end": 30}
CHUNK = {"query_id": "q", "doc_id": "d", "start": 0, "end": 20, "score": 1.0}
TEXT = "a\N{GRINNING FACE}bc \N{LATIN SMALL LETTER E WITH ACUTE}t\N{LATIN SMALL LETTER E WITH ACUTE} x"


def rows_of(cases: Sequence[Case]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    spans = [(f"q{n:04}", *span) for n, case in enumerate(cases) for span in case.spans]
    return spans, [(f"q{n:04}", *chunk, score) for n, case in enumerate(cases) for chunk, score in case.chunks.items()]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    rng = random.Random(36)
    return [drawn(rng) for _ in range(1_000)]


def _of_order(
    value: Callable[[list[set[Place]], int], float],
    hits: Mapping[Place, set[Place]],
    n_spans: int,
    order: Sequence[Place],
) -> float:
    return value([hits[chunk] for chunk in order], n_spans)


@pytest.mark.slow
@pytest.mark.parametrize(("overlap", "overlap_of"), [(0.5, "span"), (0.3, "chunk"), (1, "span"), (1, "any")])
def test_hits_are_those_of_characters(cases: list[Case], overlap: float, overlap_of: str) -> None:
    """R counts each span once; P, Hit and RR ask whether a chunk hits any span."""
    some = cases[:: 1 if overlap == 0.5 else 4]
    hits = [
        {chunk: {span for span in case.spans if is_hit(span, chunk, overlap, overlap_of)} for chunk in case.chunks}
        for case in some
    ]
    measures: dict[str, Callable[[list[set[Place]], int], float]] = {
        "R@3": lambda found, n: len(set().union(*found[:3])) / n,
        "P@2": lambda found, _: sum(map(bool, found[:2])) / 2,
        "Hit@2": lambda found, _: float(any(found[:2])),
        "RR": lambda found, _: next((1 / rank for rank, own in enumerate(found, 1) if own), 0.0),
    }
    spans, chunks = rows_of(some)
    evaluation = dh.evaluate(dh.Spans(spans, overlap=overlap, overlap_of=overlap_of), chunks, list(measures))
    assert isinstance(evaluation, dh.Evaluation)
    for name, value in measures.items():
        scores = evaluation[name]
        for n, case in enumerate(some):
            of_case = partial(_of_order, value, hits[n], len(case.spans))
            wanted = moments(of_case, case)
            found = [scores.values[n], scores.tie_std[n] ** 2, scores.tie_min[n], scores.tie_max[n]]
            assert found == pytest.approx([wanted.mean, wanted.variance, wanted.minimum, wanted.maximum], abs=1e-12)


def test_the_boundary_of_an_overlap_is_a_hit() -> None:
    """3 of 10 characters are 0.3 of them, though 0.3 * 10 is more than 3 in floating point."""
    evaluation = dh.evaluate(dh.Spans([("q", "d", 0, 10)], overlap=0.3), [("q", "d", 7, 20, 1)], "R@1")
    assert evaluation.means() == {"R@1": 1.0}


def test_every_form_of_rows() -> None:
    """Rows are dicts, tuples, frames, files, and dicts of lists, also of results of libraries."""
    span, chunk = tuple(SPAN.values()), tuple(CHUNK.values())
    langchain = SimpleNamespace(page_content="x" * 20, metadata={"source": "d", "start_index": 0})
    node = SimpleNamespace(ref_doc_id="d", start_char_idx=0, end_char_idx=20)
    inner = {key: value for key, value in CHUNK.items() if key != "query_id"}
    spans: list[Any] = [[SPAN], [span], pl.DataFrame([SPAN]), pl.DataFrame([SPAN]).lazy(), {"q": [span[1:]]}]
    chunks: list[Any] = [
        *([CHUNK], [chunk], pl.DataFrame([CHUNK]), {"q": [inner]}, {"q": [chunk[1:]]}, {"q": [chunk[1:4]]}),
        *({"q": [(langchain, 0.5)]}, {"q": [langchain]}, {"q": [SimpleNamespace(node=node, score=0.5)]}),
    ]
    for one, run in [*((one, [CHUNK]) for one in spans), *(([SPAN], run) for run in chunks)]:
        qrels, found = dh.Spans(one).judge(run)
        assert qrels.to_dict() == {"q": {"d[0:20]": 1.0}}, run
        assert list(found.to_dict()["q"]) == ["d[0:20]"]


def test_files_and_the_commands(tmp_path: Path) -> None:
    """--spans takes the place of the qrels, in evaluate and in compare; a saved evaluation has the same values."""
    spans, small, large = (tmp_path / name for name in ("spans.csv", "small.jsonl", "large.csv"))
    pl.DataFrame([SPAN, {**SPAN, "query_id": "q2"}]).write_csv(spans)
    small.write_text("\n".join(json.dumps({**CHUNK, "query_id": query}) for query in ("q", "q2")))
    pl.DataFrame([{**CHUNK, "end": 40}, {**CHUNK, "start": 3, "end": 5}]).write_csv(large)
    found = ok("evaluate", "--spans", spans, small, large, "-m", "R@1", "--format", "csv")
    assert "R@1,1.0" in found
    assert "R@1,0.25" in found
    assert "R@1,0.0" in ok("evaluate", "--spans", spans, small, "-m", "R@1", "--format", "csv", "--overlap", "0.6")
    assert "large" in ok("compare", "--spans", spans, small, large, "-m", "R@1")
    quoted = spans.with_name("quoted.jsonl")
    quoted.write_text('{"query_id": "q", "doc_id": "d", "text": "some words"}\n', encoding="utf-8")
    assert "to look quoted text up, give --documents" in call("evaluate", "--spans", quoted, small).output
    kept = tmp_path / "kept.json"
    ok("evaluate", "--spans", spans, large, "-m", "R@1", "--save", kept)
    assert dh.load_evaluation(kept)["R@1"].values.tolist() == [0.5, 0.0]
    assert "give --spans FILE too" in call("evaluate", small, large, "--overlap", "0.3").output
    assert "is not for --spans" in call("evaluate", "--spans", spans, small, "--then-by", large).output


@pytest.mark.slow
def test_ties_at_random_of_chunks_are_those_of_the_seed(tmp_path: Path) -> None:
    spans, few, many = (tmp_path / name for name in ("spans.csv", "few.jsonl", "many.jsonl"))
    rows = [f"q{n},d,0,10" for n in range(6)]
    spans.write_text("\n".join(["query_id,doc_id,start,end", *rows]))
    for path, n_chunks in ((few, 4), (many, 9)):
        chunks = [
            {"query_id": f"q{n}", "doc_id": "d", "start": 10 * place, "end": 10 * place + 10, "score": 1}
            for n in range(6)
            for place in range(n_chunks)
        ]
        path.write_text("\n".join(map(json.dumps, chunks)))
    drawn = ("--spans", spans, few, many, "-m", "RR", "--ties", "random", "--format", "json", "--rng")
    systems = [json.loads(ok("compare", *drawn, seed))["systems"] for seed in (3, 3, 4)]
    means = [[one[name]["RR"]["mean"] for name in ("few", "many")] for one in systems]
    assert means[0] == means[1] != means[2]
    runs = {"few": few, "many": many}
    found = dh.compare(dh.Spans(spans), runs, "RR", ties="random", rng=3)
    assert [one["RR"].mean for one in found.evaluations.values()] == means[0]
    scores = [json.loads(ok("evaluate", *drawn, 3))["scores"] for _ in range(2)]
    assert scores[0] == scores[1]


@pytest.mark.slow
def test_gates_and_pages_of_chunks(tmp_path: Path) -> None:
    """Gate and report take --spans as evaluate does; a chunking is held against the saved one of another size."""
    spans, small, large, kept, page = (
        tmp_path / name for name in ("spans.csv", "small.jsonl", "large.csv", "kept.json", "page.html")
    )
    pl.DataFrame([SPAN, {**SPAN, "query_id": "q2"}]).write_csv(spans)
    small.write_text("\n".join(json.dumps({**CHUNK, "query_id": query}) for query in ("q", "q2")))
    pl.DataFrame([{**CHUNK, "end": 40}, {**CHUNK, "query_id": "q2", "start": 3, "end": 5}]).write_csv(large)
    ok("evaluate", "--spans", spans, small, "-m", "R@1", "--save", kept)
    checks = ("-c", "R@1 >= 0.5", "-c", "tie_min(CharRecall@1) >= 0.5", "--allow-unknown")
    result = call("gate", "--spans", spans, large, *checks, "--format", "json")
    assert result.exit_code == 0, result.output
    assert [one["value"] for one in json.loads(result.stdout)["checks"].values()] == [0.5, 0.5]
    assert call("gate", "--spans", spans, small, *checks, "--overlap", "0.6").exit_code == 1
    lost = call("gate", "--spans", spans, large, "--baseline", kept, "--no-worse-than", "0.1", "--format", "json")
    assert json.loads(lost.stdout)["no_worse_than"]["R@1"]["mean"] == 0.5
    assert lost.exit_code == 1
    ok("report", "--spans", spans, small, large, "-m", "R@1", "-o", page)
    assert "spans.csv" in page.read_text(encoding="utf-8")
    for given, told in (
        (("gate", "--spans", spans, kept, *checks), "is already evaluated"),
        (("gate", "--spans", spans, small, large, *checks), "got 3 files"),
        (("gate", kept, "-c", "R@1 > 0", "--overlap", "0.3"), "give --spans FILE too"),
        (("report", "--spans", spans, small, "-o", page, "--texts", small), "is not for --spans"),
        (("gate", "--spans", spans, small, "-c", "nDCG@5 > 0"), "use alpha_nDCG"),
        (("gate", "--spans", spans, small, *checks, "--judge", small), "is not for --spans"),
    ):
        assert told in call(*given).output


def test_files_of_quotes_and_of_lists_by_query(tmp_path: Path) -> None:
    """Empty cells of CSV are no offsets; JSON may have the rows of each query, and queries without a span."""
    documents = {"d": TEXT}
    (tmp_path / "s.csv").write_text("query_id,doc_id,text,start,end,answerable\nq,d,bc,,,\np,,,,,false\n")
    rows = {"q": [{"doc_id": "d", "text": "bc"}], "p": []}
    (tmp_path / "s.json").write_text(json.dumps(rows))
    (tmp_path / "t.json").write_text(json.dumps([{"query_id": "q", "doc_id": "d", "start": 2, "end": 4}]))
    (tmp_path / "d.csv").write_text(f"doc_id,text\nd,{TEXT}\n", encoding="utf-8")
    for one in (rows, tmp_path / "s.csv", tmp_path / "s.json", tmp_path / "t.json"):
        for texts in (documents, tmp_path / "d.csv"):
            spans = dh.Spans(one, documents=texts)
            assert spans.rows.select("query_id", "span").rows() == [("q", "d[2:4]")]
            assert spans.unanswerable == (("p",) if one == tmp_path / "s.csv" else ())
            assert spans.empty_queries == (("p",) if one in (rows, tmp_path / "s.json") else ())


@pytest.mark.slow
def test_an_empty_list_of_spans_scores_0_and_an_unanswerable_query_is_left_out(tmp_path: Path) -> None:
    """As in judgments of documents."""
    chunks: dict[str, Any] = {query: [("d", 0, 10, 1.0)] for query in ("answered", "empty", "none")}
    answer = {"doc_id": "d", "start": 0, "end": 10}
    spans: dict[str, Any] = {"answered": [answer], "empty": [], "silent": [], "none": [{"answerable": False}]}
    qrels: dict[str, Any] = {"answered": {"d": 1}, "empty": {}, "silent": {}}
    (tmp_path / "s.json").write_text(json.dumps(spans))
    names = ["R@5", "RR", "CharRecall@5"]
    for source in (spans, tmp_path / "s.json"):
        own = dh.Spans(source)
        assert repr(own).endswith("1 span for 4 queries>")
        assert (own.empty_queries, own.unanswerable) == (("empty", "silent"), ("none",))
        evaluation = dh.evaluate(own, chunks, names)
        of_documents = dh.evaluate(qrels, {query: {"d": 1.0} for query in chunks}, "RR")
        assert evaluation.query_ids.tolist() == ["answered", "empty", "none", "silent"]
        assert evaluation.means() == pytest.approx(dict.fromkeys(names, 1 / 3))
        assert evaluation.means()["RR"] == of_documents.means()["RR"]
        assert np.isnan(evaluation["R@5"].values).tolist() == [False, False, True, False]
        zero = dh.evaluate(own, chunks, names, no_relevant="zero")
        assert zero.means() == pytest.approx(dict.fromkeys(names, 1 / 4))
        skipping = dh.evaluate(own, chunks, names, no_relevant="skip")
        assert skipping.means() == dict.fromkeys(names, 1.0)
        assert dh.evaluate(own, chunks, "Abstain(of='recall')").means()["Abstain(of='recall')"] == pytest.approx(1 / 3)
        for saved in (evaluation, zero):
            saved.save(tmp_path / "x.json", method="t")
            again = dh.load_evaluation(tmp_path / "x.json").rescored(own)
            assert again.means() == saved.means()
            assert again.qrels_hash == own.fingerprint
    others = [{**spans, "none": []}, {**spans, "empty": [{"answerable": False}]}]
    assert len({dh.Spans(one).fingerprint for one in (spans, *others)}) == 3


def test_runs_by_name_are_compared_whatever_their_chunks() -> None:
    """Two chunkings are under one set of spans, so that their evaluations are of equal judgments."""
    spans = dh.Spans([SPAN, {**SPAN, "query_id": "q2"}])
    runs = {"one": [CHUNK], "two": [{**CHUNK, "end": 15}, {**CHUNK, "query_id": "q2"}]}
    evaluations = dh.evaluate(spans, runs, "R@5")
    assert isinstance(evaluations, dict)
    assert {name: one.means()["R@5"] for name, one in evaluations.items()} == {"one": 0.5, "two": 0.5}
    assert dh.compare(spans, runs, "R@5").pairs[0].difference == 0
    assert dh.compare_evaluations(evaluations, judgments="strict").pairs[0].difference == 0
    repeats = dh.evaluate(spans, dh.Repeats([runs["one"], runs["two"]]), "R@5")
    assert repeats["R@5"].values.tolist() == [0.5, 0.5]


def test_spans_with_another_overlap() -> None:
    rng = random.Random(8)
    rows, chunks = rows_of([drawn(rng) for _ in range(20)])
    spans = dh.Spans(rows)
    for overlap in (0.25, 1):
        found = dh.evaluate(spans.with_overlap(overlap), chunks, ["R@2", "FRP@3"])
        wanted = dh.evaluate(dh.Spans(rows, overlap=overlap), chunks, ["R@2", "FRP@3"])
        assert found.to_dict() == wanted.to_dict()
    with pytest.raises(ParameterError):
        spans.with_overlap(0)


def test_measures_that_count_chunks_are_refused() -> None:
    spans = dh.Spans([SPAN])
    for name, instead in (("AP", "AP_IA"), ("nDCG@10", "alpha_nDCG"), ("F@3", ""), ("Rprec", "")):
        with pytest.raises(MeasureError) as raised:
            dh.evaluate(spans, [CHUNK], name)
        assert raised.value.hint == (f"use {instead}" if instead else None)
    assert [one.measure.label for one in dh.evaluate(spans, [CHUNK])][:2] == ["alpha_nDCG@10", "AP_IA"]
    evaluation = dh.evaluate(spans, [CHUNK], "R@5")
    assert evaluation[dh.R @ 5].values.tolist() == [1.0]


def test_quoted_text_and_offsets_are_looked_up_in_characters() -> None:
    """A character is a code point, also beyond the basic plane."""
    spans = dh.Spans([{"query_id": "q", "doc_id": "d", "text": "bc"}], documents={"d": TEXT})
    assert spans.rows.select("start", "end").row(0) == (2, 4)
    run = [{"query_id": "q", "doc_id": "d", "start_index": 2, "page_content": TEXT[2:5], "score": 1}]
    assert dh.evaluate(spans, run, "R@1").means() == {"R@1": 1.0}
    for encoding, size, hint in (("utf-8", 1, "bytes"), ("utf-16-le", 2, "UTF-16")):
        start = len(TEXT[:2].encode(encoding)) // size
        row = {"query_id": "q", "doc_id": "d", "text": "bc", "start": start, "end": start + 2}
        for given in ([row], {"q": [row]}):
            with pytest.raises(DataError) as raised:
                dh.Spans(given, documents={"d": TEXT})
            assert hint in str(raised.value.hint)
        with pytest.raises(DataError):
            spans.judge([{**row, "score": 1}])
    with pytest.raises(DataError) as raised:
        dh.Spans([("q", "d", 4, len(TEXT.encode()))], documents={"d": TEXT})
    assert "bytes" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([("q", "d", 5, 3)], DataError),
        ([("q", "d", -1, 3)], DataError),
        ([("q", "d", 1.5, 3)], DataError),
        ([("q", "d", "x", 3)], DataError),
        ([("q", "d", 3, 3)], DataError),
        ([("q", "d", 3, 5, -1)], DataError),
        ([("q", "d", 3, 5, float("nan"))], DataError),
        ([("q", "d", 3, 5, 1), ("q", "d", 3, 5, 2)], DuplicateError),
        ([("q", None, 3, 5)], DataError),
        ([(None, "d", 3, 5)], DataError),
        ([("q", "d", 3)], DataError),
        ([{"query_id": "q", "doc_id": "d"}], ColumnError),
        ([{"doc_id": "d", "start": 1, "end": 2}], ColumnError),
        ([{"query_id": "q", "doc_id": "d", "text": "abc"}], DataError),
        ([], DataError),
        ({"q": []}, DataError),
        ({"q": 5}, SourceTypeError),
        (5, SourceTypeError),
    ],
)
def test_bad_spans(rows: Any, error: type[Exception]) -> None:  # noqa: ANN401 - whatever may be wrong
    with pytest.raises(error):
        dh.Spans(rows)


@pytest.mark.parametrize(
    "row",
    [
        {"doc_id": "z", "start": 0, "end": 3},
        {"doc_id": "d", "start": 3, "end": 99},
        {"doc_id": "d", "text": "zz"},
        {"doc_id": "d", "text": "\N{LATIN SMALL LETTER E WITH ACUTE}"},
    ],
)
def test_spans_that_do_not_fit_their_documents(row: dict[str, object]) -> None:
    """Unknown documents, offsets beyond the text, and quoted text that is absent or there twice."""
    with pytest.raises(DataError):
        dh.Spans([{"query_id": "q", **row}], documents={"d": TEXT})


def test_a_query_given_with_an_empty_list_of_chunks_counts_0(tmp_path: Path) -> None:
    """Alone too, also where queries that a run lacks are left out: nothing was found for it."""
    spans = dh.Spans([("q", "d", 0, 10), ("p", "d", 0, 10)])
    names = ["RR", "R@5", "CharRecall@3"]
    (tmp_path / "chunks.json").write_text('{"q": []}')
    runs: list[Any] = [{"q": []}, tmp_path / "chunks.json"]
    for run in runs:
        alone = dh.evaluate(dh.Spans([SPAN]), run, [*names, "Abstain"], missing="skip")
        assert alone.means() == {**dict.fromkeys(names, 0.0), "Abstain": 1.0}
    found = dh.evaluate(spans, {"q": [], "p": [("d", 0, 10, 1.0)]}, names, missing="skip")
    assert found.means() == dict.fromkeys(names, 0.5)
    alone.save(tmp_path / "x.json", method="t")
    again = dh.load_evaluation(tmp_path / "x.json").rescored(spans)
    assert (again.query_ids.tolist(), again.means()["RR"]) == (["q"], 0.0)
    with pytest.raises(DataError, match="empty: it has no passages"):
        dh.evaluate(spans, {}, "RR")


def test_spans_that_are_read_as_qrels_are_told(tmp_path: Path) -> None:
    """No advice takes an offset for the relevance."""
    rows = {"q": [{"doc_id": "d", "start": 0, "end": 10}, {"doc_id": "e", "start": 5, "end": 9}]}
    (tmp_path / "spans.json").write_text(json.dumps(rows))
    for source in (rows, tmp_path / "spans.json"):
        with pytest.warns(dh.DeadheatWarning, match=r"These look like spans, .* dh\.Spans, .* --spans FILE"):
            dh.Qrels(source)


SPAN_ROWS = [
    {"query_id": "q1", "doc_id": "d1", "start": 0, "end": 20},
    {"query_id": "q2", "doc_id": "d2", "start": 5, "end": 20},
]


def test_tables_of_spans_are_no_qrels() -> None:
    """No advice takes an offset for the relevance, and nobody else can."""
    of_llama_index = [
        {
            "query_id": row["query_id"],
            "source": row["doc_id"],
            "start_char_idx": row["start"],
            "end_char_idx": row["end"],
        }
        for row in SPAN_ROWS
    ]
    tables: list[Any] = [SPAN_ROWS, pl.DataFrame(SPAN_ROWS), pl.DataFrame(SPAN_ROWS).lazy(), of_llama_index]
    for table in tables:
        with pytest.raises(ColumnError, match=r"These look like spans, .* dh\.Spans, .* --spans FILE$") as caught:
            dh.Qrels(table)
        assert "columns" not in str(caught.value)
    for offset in ("start", "end"):
        with pytest.raises(ColumnError, match=rf"^qrels: column '{offset}' is an offset .*\. These look like spans"):
            dh.Qrels(SPAN_ROWS, columns={"relevance": offset})
    flagged = [*SPAN_ROWS, {"query_id": "q3", "answerable": False}]
    with pytest.raises(ColumnError, match="These look like spans"):
        dh.Qrels(flagged)


def test_files_of_spans_are_no_qrels(tmp_path: Path) -> None:
    table = pl.DataFrame(SPAN_ROWS)
    (tmp_path / "spans.jsonl").write_text(table.write_ndjson())
    (tmp_path / "spans.json").write_text(table.write_json())
    table.write_csv(tmp_path / "spans.csv")
    table.write_csv(tmp_path / "spans.tsv", separator="\t")
    table.write_parquet(tmp_path / "spans.parquet")
    chunks = table.with_columns(score=pl.Series([2.0, 1.0]))
    chunks.write_csv(tmp_path / "chunks.csv")
    run = str(tmp_path / "chunks.csv")
    for ending in ("jsonl", "json", "csv", "tsv", "parquet"):
        spans = str(tmp_path / f"spans.{ending}")
        refused = call("evaluate", spans, run, "-m", "R")
        assert refused.exit_code == 3
        assert "These look like spans" in refused.stderr
        assert "--columns" not in refused.stderr
        for columns in ("qrels.relevance=start", "qrels.relevance=end"):
            followed = call("evaluate", spans, run, "-m", "R", "--columns", columns)
            assert followed.exit_code == 3
            assert "is an offset of a passage" in followed.stderr
        assert "1.0000" in ok("evaluate", "--spans", spans, run, "-m", "R")  # the advice


def test_offsets_of_chunks_are_no_scores() -> None:
    """No advice takes them for the scores of a run; another column may still be named."""
    with pytest.raises(ColumnError, match=r"run without a column 'score'") as caught:
        dh.Run(SPAN_ROWS)
    assert "columns" not in str(caught.value)
    with pytest.raises(ColumnError, match="'end' is an offset"):
        dh.Run(SPAN_ROWS, columns={"score": "end"})
    rows = [{**row, "closeness": 0.5} for row in SPAN_ROWS]
    with pytest.raises(ColumnError, match=r"give columns=\{'score': 'closeness'\}"):
        dh.Run(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of numbers that may be scores
        dh.Run({"q": [{"doc_id": "d", "start": 0, "end": 10}, {"doc_id": "e", "start": 5, "end": 9}]})


def test_ids_of_documents_that_are_written_in_two_ways() -> None:
    with pytest.warns(dh.DeadheatWarning, match="chunks have 'D', spans 'd'"):
        assert dh.evaluate(dh.Spans([SPAN]), [{**CHUNK, "doc_id": "D"}], "R@1").means() == {"R@1": 0.0}
    spans, chunk = dh.Spans([{**SPAN, "doc_id": "Mu\u0308"}]), {**CHUNK, "doc_id": "Mu\u0308"}
    qrels, run = spans.judge([chunk])
    assert dh.evaluate(qrels, run, "CharRecall@1", normalize_ids="NFC").means() == {"CharRecall@1": 0.5}
    assert qrels.normalized("NFC").fingerprint == spans.judge([{**chunk, "end": 25}])[0].normalized("NFC").fingerprint


def test_a_dict_of_texts_is_not_looked_up_as_files() -> None:
    with pytest.raises(SourceTypeError):
        dh.evaluate(dh.Spans([SPAN]), {"q": "a long text " * 500}, "R@1")


def test_a_query_that_was_never_asked_changes_no_other(tmp_path: Path) -> None:
    chunks = [("q", "d", 0, 6, 1), ("q", "d", 6, 12, 0.5)]
    found = dh.evaluate(dh.Spans([("q", "d", 0, 10)]), chunks, "CharRecall@1")
    more, _ = dh.Spans([("q", "d", 0, 10), ("new", "d", 0, 10)]).judge(chunks)
    found.save(tmp_path / "x.json")
    for one in (found, dh.load_evaluation(tmp_path / "x.json")):
        assert one.rescored(more).means() == found.means() == {"CharRecall@1": 0.6}


def test_bad_options_and_chunks() -> None:
    for options in ({"overlap": 0}, {"overlap": 1.1}, {"overlap_of": "spans"}, {"documents": 5}):
        with pytest.raises(ParameterError):
            dh.Spans([SPAN], **options)
    spans = dh.Spans([SPAN])
    with pytest.raises(DuplicateError):
        dh.evaluate(spans, [CHUNK, CHUNK])
    for name in ("end", "score"):
        with pytest.raises(DataError):
            dh.evaluate(spans, [{key: value for key, value in CHUNK.items() if key != name}])
    for wrong in ({"collection": ["d"]}, {"then_by": [CHUNK]}, {"judge": {"q": {"d": 1}}}, {"normalize_ids": "NFC"}):
        with pytest.raises(ParameterError):
            dh.evaluate(spans, [CHUNK], **wrong)
    with pytest.raises(ParameterError):
        dh.compare(spans, {"a": [CHUNK], "b": [CHUNK]}, judge={"q": {"d": 1}})


def test_passages_of_a_query_have_scores_all_or_none() -> None:
    spans = dh.Spans([SPAN])
    chunks: list[dict[str, Any]] = [{"doc_id": "d", "start": start, "end": start + 5} for start in (0, 5, 10)]
    (ranked,) = spans.judge({"q": chunks})[1].to_dict().values()
    assert ranked == {"d[0:5]": -1, "d[5:10]": -2, "d[10:15]": -3}
    with raises_parts(ParameterError, argument="ascending", given=True):
        spans.judge({"q": chunks}, ascending=True)
    scored = [one | {"score": score} for one, score in zip(chunks, (0.9, 0.5, 0.7), strict=True)]
    lowest = spans.judge({"q": scored}, ascending=True)[1].to_dict()["q"]
    assert lowest == {"d[0:5]": -0.9, "d[5:10]": -0.5, "d[10:15]": -0.7}
    with pytest.raises(DataError, match=r"'d' .*'q' has no score"):
        spans.judge({"q": [chunks[0], *scored[1:]]})


@pytest.mark.parametrize("row", [("d", 0, 20, 0.5, "more"), ("d", 3), ("d",)])
def test_tuples_with_too_many_or_too_few_fields(row: tuple[object, ...]) -> None:
    for run, fields in (({"q": [row]}, "(doc_id"), ([("q", *row)], "(query_id, doc_id")):
        with pytest.raises(MalformedRowError, match=re.escape(f"expected {fields}, start, end[, score]), got")):
            dh.Spans([SPAN]).judge(run)


def _forms(rows: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    """Return rows in every form that may hold them."""
    by_query: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_query.setdefault(row["query_id"], []).append({key: row[key] for key in row if key != "query_id"})
    frame = pl.DataFrame(rows, infer_schema_length=None, strict=False)
    paths = {name: folder / f"rows.{name}" for name in ("jsonl", "csv", "parquet")}
    paths |= {name: folder / f"{name}.json" for name in ("list", "dict")}
    paths["jsonl"].write_text("\n".join(map(json.dumps, rows)))
    paths["list"].write_text(json.dumps(rows))
    paths["dict"].write_text(json.dumps(by_query))
    frame.write_csv(paths["csv"])
    frame.write_parquet(paths["parquet"])
    return {**paths, "dicts": rows, "by query": by_query, "polars": frame, "lazy": frame.lazy()}


@pytest.mark.parametrize("scores", [(2**53, 2**53 + 1), (2**53 + 1, 1.5), (2**200, 1)])
def test_scores_beyond_float64_are_refused(scores: tuple[float, float], tmp_path: Path) -> None:
    """Neighbours beyond 2**53 would tie; so would 1e999 and 2e999, which are text in some forms."""
    chunks = [{**CHUNK, "score": score} for score in scores]
    chunks[1]["start"] = 3
    forms: dict[str, Any] = {"dicts": chunks, "by query": {"q": chunks}}
    if max(scores) < 2**63 and all(isinstance(score, int) for score in scores):
        forms = _forms(chunks, tmp_path)
    for one in forms.values():
        with pytest.raises(DataError, match=r"score is '\d+', .*2\*\*53"):
            dh.Spans([SPAN]).judge(one)
    with raises_parts(DataError, given=9007199254740993, problem="row 1: end"):
        dh.Spans([{**SPAN, "end": 2**53 + 1}])
    for one in _forms([{**CHUNK, "score": "1e999"}, {**CHUNK, "start": 3, "score": "2e999"}], tmp_path).values():
        if isinstance(one, Path) and one.suffix.startswith(".json"):
            one.write_text(one.read_text().replace('"1e999"', "1e999").replace('"2e999"', "2e999"))
        with pytest.raises(DataError, match=r"row 1: score .*float64"):
            dh.Spans([SPAN]).judge(one)


def test_infinite_scores_and_flags_that_are_none(tmp_path: Path) -> None:
    chunks = [{**CHUNK, "score": float("inf")}, {**CHUNK, "start": 3, "score": 2.5}]
    for one in _forms(chunks, tmp_path).values():
        assert dh.Spans([SPAN]).judge(one)[1].to_dict() == {"q": {"d[0:20]": float("inf"), "d[3:20]": 2.5}}
    for one in _forms([{**SPAN, "answerable": float("nan")}], tmp_path).values():
        with raises_parts(DataError, allowed="true or false", problem="row 1: answerable"):
            dh.Spans(one)


@pytest.mark.parametrize("later", [{"relevance": 3}, {"answerable": False}, {"answerable": False, "doc_id": None}])
def test_all_rows_say_which_fields_there_are(later: dict[str, Any], tmp_path: Path) -> None:
    """A field that only the last of many rows has is read as in a row of its own."""
    many = [{**SPAN, "query_id": f"q{n}"} for n in range(150)]
    last = {**SPAN, "query_id": "z", **later}
    flags = ("z",) if "answerable" in later else ()
    for one in _forms([*many, last], tmp_path).values():
        spans = dh.Spans(one)
        assert spans.unanswerable == flags
        assert spans.rows["relevance"].to_list() == [1] * 150 + ([] if flags else [3])
    inside = {"query_id": "z", "metadata": {key: last[key] for key in last if key != "query_id"}}
    nested = [{"query_id": row["query_id"], "metadata": {**row}} for row in many]
    assert dh.Spans([*nested, inside]).rows["relevance"].sum() == 150 + (0 if flags else 3)
    objects = {row["query_id"]: [SimpleNamespace(**row)] for row in [*many, last]}
    assert dh.Spans(objects).rows["relevance"].sum() == 150 + (0 if flags else 3)


def test_scores_that_only_a_late_query_has() -> None:
    ranked = {f"z{n}": [{"doc_id": "d", "start": 0, "end": 5}] for n in range(150)}
    scored = {"q": [{**CHUNK, "start": 21, "end": 30, "score": 1}, {**CHUNK, "start": 10, "end": 20, "score": 2}]}
    runs = [dh.Spans([SPAN]).judge(one)[1].to_dict() for one in ({**ranked, **scored}, {**scored, **ranked})]
    assert runs[0] == runs[1]
    assert runs[0]["q"] == {"d[21:30]": 1, "d[10:20]": 2}


def test_two_names_of_one_field(tmp_path: Path) -> None:
    """The second row would have a relevance of 1; where all rows have the field, other names may be beside it."""
    rows = [{**SPAN, "label": 2}, {**SPAN, "start": 12, "relevance": 3}]
    for one in _forms(rows, tmp_path).values():
        with raises_parts(DataError, allowed="relevance, as in other rows", problem="row 1: label"):
            dh.Spans(one)
    for one in _forms([{**row, "relevance": 3, "label": 2} for row in rows], tmp_path).values():
        assert dh.Spans(one).rows["relevance"].to_list() == [3, 3]


def test_numbers_of_several_types_are_what_they_are() -> None:
    """Polars makes whole numbers of all, if the first is one of NumPy."""
    chunks = [{**CHUNK, "score": np.int64(2)}, {**CHUNK, "start": 3, "score": 2.5}]
    assert dh.Spans([SPAN]).judge(chunks)[1].to_dict() == {"q": {"d[0:20]": 2, "d[3:20]": 2.5}}


@pytest.mark.parametrize("wrong", [{"start": "12"}, {"relevance": "2"}, {"answerable": "true"}, {"doc_id": 7}])
def test_pandas_with_columns_of_several_types(wrong: dict[str, Any]) -> None:
    pd = pytest.importorskip("pandas")
    rows = [{**SPAN, "relevance": 1, "answerable": True}, {**SPAN, "start": 12, "relevance": 1, **wrong}]
    with pytest.raises(ColumnError, match=f"column '{next(iter(wrong))}' holds values of several types"):
        dh.Spans(pd.DataFrame(rows))


def test_an_empty_id_is_none(tmp_path: Path) -> None:
    for one in _forms([{**SPAN, "doc_id": ""}], tmp_path).values():
        with pytest.raises(DataError, match="'q' has no doc_id"):
            dh.Spans(one)


def test_decimal_marks(tmp_path: Path) -> None:
    """Of chunks as of other runs: said by the user, or found where there is one way to read a column."""
    path, plain = tmp_path / "chunks.csv", tmp_path / "plain.csv"

    def written(*scores: str) -> Path:
        rows = [f"q;d;{20 * n};{20 * n + 10};{score}" for n, score in enumerate(scores)]
        path.write_text("\n".join(["query_id;doc_id;start;end;score", *rows]))
        plain.write_text("\n".join(["query_id;doc_id;score", *(f"q;d{n};{one}" for n, one in enumerate(scores))]))
        return path

    def scores_of(run: Path) -> list[float]:
        return [*dh.Spans([SPAN]).judge(run)[1].to_dict()["q"].values()]

    assert scores_of(written("0,5", "1,25")) == [0.5, 1.25] == [*dh.Run(plain).to_dict()["q"].values()]
    written("999", "1.500")
    for read, one in ((scores_of, path), (dh.Run, plain)):
        with pytest.raises(MalformedRowError, match="can be read in two ways"):
            read(one)
    for mark, wanted in ((",", [999, 1500]), (".", [999, 1.5])):
        with dh.decimal(mark):
            assert scores_of(path) == wanted == [*dh.Run(plain).to_dict()["q"].values()]
    spans = tmp_path / "spans.csv"
    spans.write_text("query_id;doc_id;start;end;relevance\nq;d;1.500;2.500;\nq;d;20;30;1,5\n")
    with dh.decimal(","):
        assert dh.Spans(spans).rows.select("start", "end", "relevance").rows() == [(1500, 2500, 1), (20, 30, 1.5)]
    spans.write_text("query_id,doc_id,start,end\nq,d,20,30\n")
    found = ok("evaluate", "--spans", spans, path, "-m", "RR", "--decimal", ",", "--format", "csv")
    assert "RR,1.0" in found
    json_lines = tmp_path / "chunks.jsonl"
    json_lines.write_text(json.dumps({**CHUNK, "score": 1.5}))
    with dh.decimal(","):  # JSON has points
        assert scores_of(json_lines) == [1.5]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            {"q1": ["a"], "q2": ["b"]},
            "expected passages with doc_id, start and end, got str 'a' in the list of query 'q1'",
        ),
        ({"q1": [{"doc_id": "a", "start": 0, "end": 9}, "b"]}, "got str 'b' in the list of query 'q1'"),
        ({"q1": [["a", 0, 10]]}, r"got list \['a', 0, 10\] in the list of query 'q1'"),
        ({"q1": [7]}, "got int 7 in the list of query 'q1'"),
        ({"q1": [{"doc_id": "a"}]}, "passages without 'start': found 'doc_id'$"),
        ({"q1": [SimpleNamespace(ref="a")]}, "passages without 'start': found 'ref'$"),
    ],
)
def test_lists_without_offsets_are_named_as_they_are(source: Mapping[str, Any], message: str, tmp_path: Path) -> None:
    """Of spans and of chunks, in files too."""
    with pytest.raises(DeadheatError, match=message):
        dh.Spans(source)
    with pytest.raises(DeadheatError, match=message):
        dh.evaluate(dh.Spans([SPAN]), source, "R")
    if "namespace" not in repr(source):
        text = json.dumps(source)
        (tmp_path / "questions.json").write_text(text)
        (tmp_path / "chunks.json").write_text(json.dumps({"q1": [CHUNK]}))
        result = call("evaluate", "--spans", tmp_path / "questions.json", tmp_path / "chunks.json", "-m", "R")
        assert result.exit_code == 3
        assert "node" not in result.stderr


def test_the_level_of_all_measures_is_that_of_spans_too() -> None:
    spans = dh.Spans([("q", "d", 0, 10, 1), ("q", "e", 0, 10, 2)])
    chunks = [("q", "d", 0, 10, 2.0), ("q", "e", 0, 10, 1.0)]
    found = dh.evaluate(spans, chunks, ["R@1", "P@2"], rel=2)
    assert found.means() == {"R(rel=2)@1": 0.0, "P(rel=2)@2": 0.5}
    assert found["R@1"].mean == found.means()["R@1"] == 0.0
    assert dh.evaluate(spans, chunks, "R(rel=1)@1", rel=1).means() == {"R@1": 0.5}


def test_what_is_for_unjudged_documents_is_refused_as_each_chunk_is_judged() -> None:
    spans, chunks = dh.Spans([("q", "d", 0, 10)]), [("q", "d", 0, 10, 2.0)]
    arguments: list[dict[str, Any]] = [{"judged_only": True}, {"unjudged": "bounds"}]
    for given in arguments:
        with raises_parts(ParameterError, "with spans", argument=next(iter(given))):
            dh.evaluate(spans, chunks, "P@1", **given)
        with raises_parts(ParameterError, "with spans", argument=next(iter(given))):
            dh.compare(spans, {"a": chunks, "b": chunks}, "P@1", **given)
        with raises_parts(ParameterError, "with spans", argument=next(iter(given))):
            dh.evaluate(*spans.judge(chunks), "P@1", **given)
        with raises_parts(ParameterError, "with spans", argument=next(iter(given))):
            dh.evaluate(spans, chunks, "P@1").rescored(**given)
