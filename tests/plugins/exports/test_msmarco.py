"""MS MARCO's runs and judgments: read, written, and held against what its evaluation script computes."""

from __future__ import annotations

import gzip
import random
import re
import warnings
from pathlib import Path

import pytest

import deadheat as dh
from deadheat.core.hooks import commands_by_name
from deadheat.errors import (
    Advice,
    ColumnError,
    DataError,
    DeadheatWarning,
    DuplicateError,
    MalformedRowError,
    ParameterError,
    SwappedFilesError,
)
from support.command import call, command, ok
from support.error_parts import raises_parts

RUN = "10\td1\t1\n10\td2\t2\n20\td3\t1\n20\td1\t2\n"
QRELS = "10\td2\n20\td3\n"
OFFICIAL_QRELS = "10\t0\td2\t1\n20\t0\td3\t1\n"
READ_RUN = {"10": {"d1": -1.0, "d2": -2.0}, "20": {"d3": -1.0, "d1": -2.0}}
READ_QRELS = {"10": {"d2": 1.0}, "20": {"d3": 1.0}}
RR = (1 / 2 + 1) / 2  # d2 is second of query 10, d3 first of query 20


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("run.tsv", RUN)
    write("qrels.tsv", QRELS)
    write("qrels.dev.tsv", OFFICIAL_QRELS)


def write(name: str, text: str) -> Path:
    path = Path(name)
    path.write_bytes(text.encode())
    return path


def read_run(text: str) -> dict[str, dict[str, float]]:
    return dh.read_run(write("x.tsv", text), format="msmarco").to_dict()


def mrr_of_script(qrels: str, run: str) -> float:
    """Compute MRR@10 as ms_marco_eval.py does: each passage at the place of its rank, over all queries with judgments.

    Examples
    --------
    >>> mrr_of_script(OFFICIAL_QRELS, RUN)
    0.75
    """
    relevant: dict[str, list[str]] = {}
    for line in qrels.splitlines():
        query, _, passage, _ = line.split("\t")
        relevant.setdefault(query, []).append(passage)
    places: dict[str, list[str]] = {}
    for line in run.splitlines():
        query, passage, rank = line.split("\t")
        places.setdefault(query, [""] * 1000)[int(rank) - 1] = passage
    total = 0.0
    for query, ranked in places.items():
        for place, passage in enumerate(ranked[:10], 1):
            if passage in relevant.get(query, ()):
                total += 1 / place
                break
    return total / len(relevant)


@pytest.mark.parametrize("seed", range(20))
def test_mrr_is_that_of_the_script(seed: int) -> None:
    drawn = random.Random(seed)
    passages = [str(number) for number in range(40)]
    rows, judgments = [], []
    for query in range(1, 31):
        retrieved = drawn.sample(passages, drawn.randint(1, 30))
        rows += [f"{query}\t{passage}\t{rank}" for rank, passage in enumerate(retrieved, 1)]
    for query in range(5, 40):  # some without results, and results of some without judgments
        judgments += [f"{query}\t0\t{passage}\t1" for passage in drawn.sample(passages, drawn.randint(1, 3))]
    drawn.shuffle(rows)
    run, qrels = "\n".join(rows), "\n".join(judgments)
    found = dh.evaluate(write("q.tsv", qrels), dh.read_run(write("r.tsv", run), format="msmarco"), ["RR@10"])
    assert found.means()["RR@10"] == pytest.approx(mrr_of_script(qrels, run), abs=1e-12)
    assert found["RR@10"].mean_tie_std == 0


def test_files_as_they_are_published() -> None:
    assert dh.read_run("run.tsv", format="msmarco").to_dict() == READ_RUN
    assert dh.read_qrels("qrels.tsv", format="msmarco").to_dict() == READ_QRELS
    # judgments of four fields are TREC with tabs, whether that is said or not
    assert dh.read_qrels("qrels.dev.tsv").to_dict() == READ_QRELS
    assert dh.read_qrels("qrels.dev.tsv", format="msmarco").to_dict() == READ_QRELS
    trec = "10 Q0 d1 1 9.5 t\n10 Q0 d2 2 9 t\n"  # as its runs of documents are
    assert dh.read_run(write("t.tsv", trec), format="msmarco").to_dict() == {"10": {"d1": 9.5, "d2": 9.0}}


@pytest.mark.parametrize(
    "text",
    [
        RUN.replace("\n", "\r\n"),
        RUN.replace("\t", " "),
        RUN.replace("\t", "  ", 3),
        RUN.rstrip("\n"),
        "\ufeff" + RUN,
        "\n" + RUN.replace("\n", "\n\n"),
        RUN.replace("\t", " ", 1),
        RUN.replace("\t1\n", "\t01\n"),
    ],
)
def test_other_line_ends_and_blanks(text: str) -> None:
    assert read_run(text) == READ_RUN


@pytest.mark.slow
def test_compressed_and_of_many_blocks() -> None:
    long_id = "é" * 100
    rows = [f"q{query}\td{rank}{long_id}\t{rank}" for query in range(200) for rank in range(1, 1001)]
    text = "\n".join(rows)
    assert len(text.encode()) > 2 << 24  # several blocks
    write("big.tsv.gz", "")
    with gzip.open("big.tsv.gz", "wt", compresslevel=1, encoding="utf-8") as file:
        file.write(text)
    run = dh.read_run("big.tsv.gz", format="msmarco")
    rows_read = run.to_polars()
    assert rows_read.height == 200_000
    assert rows_read.row(-1) == ("q199", f"d1000{long_id}", -1000.0)
    assert rows_read["score"].sum() == -200 * 1000 * 1001 / 2


def test_ids_that_mislead_polars() -> None:
    assert read_run("x^2\td1\t1\n") == {"x^2": {"d1": -1.0}}
    assert read_run('"a\td"1\t1\n') == {'"a': {'d"1': -1.0}}


@pytest.mark.parametrize("rank", ["0", "-1", "1.5", "nan", "", "x", "1e3", "9" * 17, "९"])
def test_ranks_are_whole_numbers_from_1_on(rank: str) -> None:
    path = write("x.tsv", RUN + f"20\td4\t{rank}\n")
    with pytest.raises((DataError, MalformedRowError)) as caught:
        dh.read_run(path, format="msmarco")
    assert (caught.value.path, caught.value.line) == (path, 5)


def test_scores_in_the_place_of_ranks_are_named() -> None:
    path = write("x.tsv", "10\td1\t12.5\n10\td2\t11\n")
    with raises_parts(DataError, given="12.5", line=1) as caught:
        dh.read_run(path, format="msmarco")
    assert isinstance(caught.value.hint, str)
    assert "query_id, doc_id, score" in caught.value.hint
    write("x.tsv", "query_id\tdoc_id\tscore\n10\td1\t12.5\n10\td2\t11\n")  # what it says
    assert dh.read_run("x.tsv").to_dict() == {"10": {"d1": 12.5, "d2": 11.0}}


@pytest.mark.parametrize("line", ["20\td4", "20\td4\t3\tx", "20"])
def test_a_row_of_another_length(line: str) -> None:
    path = write("x.tsv", RUN + line + "\n")
    with raises_parts(MalformedRowError, path=path, line=5):
        dh.read_run(path, format="msmarco")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_file(text: str) -> None:
    for read in (dh.read_run, dh.read_qrels):
        with raises_parts(DataError, path=Path("x.tsv")):
            read(write("x.tsv", text), format="msmarco")


@pytest.mark.parametrize("text", [RUN, "10 Q0 d1 1 0.5 t\n"])
def test_a_run_is_no_qrels(text: str) -> None:
    with raises_parts(SwappedFilesError, line=1):
        dh.read_qrels(write("x.tsv", text), format="msmarco")


@pytest.mark.parametrize("text", [QRELS, OFFICIAL_QRELS])
def test_qrels_are_no_run(text: str) -> None:
    with raises_parts(SwappedFilesError, line=1):
        dh.read_run(write("x.tsv", text), format="msmarco")


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_rank_that_comes_twice(blocks: int) -> None:
    """Within the rows of a query, and where rows of a query stand apart and each begin with rank 1."""
    text = {1: "10\td1\t1\n10\td2\t2\n10\td3\t2\n", 2: "10\td1\t1\n20\td1\t1\n10\td2\t1\n"}[blocks]
    path = write("x.tsv", text)
    with raises_parts(DuplicateError, path=path, line=3) as caught:
        dh.read_run(path, format="msmarco")
    assert "query_id, doc_id, rank" in str(caught.value.hint)
    write("x.tsv", "query_id\tdoc_id\trank\n" + text)  # what it says
    assert dh.read_run("x.tsv").to_dict()["10"] in (
        {"d1": -1.0, "d2": -2.0, "d3": -2.0},
        {"d1": -1.0, "d2": -1.0},
    )


def test_a_document_that_comes_twice() -> None:
    with raises_parts(DuplicateError) as caught:
        dh.evaluate({"10": ["d1"]}, dh.read_run(write("x.tsv", "10\td1\t1\n10\td1\t2\n"), format="msmarco"), "RR")
    assert (caught.value.path, caught.value.line) == (Path("x.tsv"), 2)


def test_gaps_are_told() -> None:
    text = "10\td1\t1\n10\td2\t5\n20\td3\t1\n"
    with pytest.warns(DeadheatWarning, match="ranks of 1 query"):
        run = dh.read_run(write("x.tsv", text), format="msmarco")
    assert dh.evaluate({"10": ["d2"]}, run, "RR").means() == {"RR": 0.5}
    assert mrr_of_script("10\t0\td2\t1\n", text) == 0.2  # of which the warning warns


def test_rows_in_any_order_have_no_gaps() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_run("10\td2\t2\n20\td3\t1\n10\td1\t1\n") == {"10": {"d2": -2.0, "d1": -1.0}, "20": {"d3": -1.0}}


def test_lower_ranks_cannot_be_asked_to_be_worse() -> None:
    with raises_parts(ParameterError, argument="ascending"):
        dh.read_run("run.tsv", format="msmarco", ascending=True)


# written


def test_converted_there_and_back() -> None:
    ok("convert", "run.tsv", "a.run", "--from", "msmarco")
    ok("convert", "a.run", "b.tsv", "--to", "msmarco")
    assert Path("b.tsv").read_text() == RUN
    ok("convert", "qrels.tsv", "a.qrels", "--from", "msmarco")
    ok("convert", "a.qrels", "c.tsv", "--to", "msmarco")
    assert Path("c.tsv").read_text() == QRELS
    ok("convert", "qrels.dev.tsv", "d.tsv", "--from", "msmarco", "--to", "msmarco")
    assert Path("d.tsv").read_text() == QRELS


@pytest.mark.filterwarnings("default::deadheat.core.errors.DeadheatWarning")
def test_ties_that_are_lost_are_told() -> None:
    write("tied.run", "10 Q0 d1 1 3 t\n10 Q0 d2 2 2 t\n10 Q0 d3 3 2 t\n20 Q0 d3 1 2 t\n")
    told = call("convert", "tied.run", "out.tsv", "--to", "msmarco")
    assert told.exit_code == 0, told.output
    assert "2 documents with the score of another one" in told.stderr
    assert Path("out.tsv").read_text() == "10\td1\t1\n10\td2\t2\n10\td3\t3\n20\td3\t1\n"


def test_grades_are_refused() -> None:
    write("graded.qrels", "10 0 d1 1\n10 0 d2 2\n20 0 d3 0\n")
    told = call("convert", "graded.qrels", "out.tsv", "--to", "msmarco")
    assert told.exit_code == 3
    assert "relevance 2 of document 'd2'" in told.stderr
    assert not Path("out.tsv").exists()
    ok("convert", "graded.qrels", "out.tsv")  # what it says
    assert dh.read_qrels("out.tsv").to_dict() == {"10": {"d1": 1.0, "d2": 2.0}, "20": {"d3": 0.0}}


# on the command line


def mean_of(*arguments: object) -> float:
    lines = ok("evaluate", *arguments, "-m", "RR@10", "--format", "csv").splitlines()
    return float(dict(zip(lines[0].split(","), lines[1].split(","), strict=True))["value"])


def test_the_option_is_for_all_files_or_those_of_one_kind() -> None:
    write("named.csv", "query_id,doc_id,relevance\n10,d2,1\n20,d3,1\n")
    assert mean_of("qrels.tsv", "run.tsv", "--input-format", "msmarco") == RR
    assert mean_of("qrels.dev.tsv", "run.tsv", "--input-format", "msmarco") == RR
    assert mean_of("named.csv", "run.tsv", "--input-format", "run=msmarco") == RR
    write("named.dat", "query_id,doc_id,relevance\n10,d2,1\n20,d3,1\n")
    assert mean_of("named.dat", "run.tsv", "--input-format", "qrels=csv,run=msmarco") == RR


def test_qrels_of_another_format_are_advised() -> None:
    write("named.csv", "query_id,doc_id,relevance\n10,d2,1\n20,d3,1\n")
    told = call("evaluate", "named.csv", "run.tsv", "--input-format", "msmarco")
    assert told.exit_code == 3
    advice = re.search(r"--input-format \S+", told.stderr)
    assert advice is not None
    assert mean_of("named.csv", "run.tsv", *advice[0].split()) == RR


@pytest.mark.parametrize("given", ["", "run=", "=csv", "a=csv", "run=csv,run=tsv", "csv,"])
def test_a_wrong_option(given: str) -> None:
    told = call("evaluate", "qrels.tsv", "run.tsv", "--input-format", given)
    assert told.exit_code in {2, 3}
    assert "Traceback" not in told.output


def test_an_unknown_format_is_named_with_its_nearest() -> None:
    told = call("evaluate", "qrels.tsv", "run.tsv", "--input-format", "msmarc")
    assert told.exit_code == 2
    assert "'msmarco'" in told.stderr


@pytest.mark.parametrize("names", [("qrels.tsv", "run.tsv"), ("q.txt", "r.txt"), ("q.qrels", "r.run"), ("q", "r")])
def test_the_advice_of_the_error_leads_to_the_number(names: tuple[str, str]) -> None:
    """What the error of a file without a header says is typed, for the one file and for the other."""
    qrels, run = names
    write(qrels, QRELS)
    write(run, RUN)
    for judgments, command_line in ((qrels, qrels), ("qrels.dev.tsv", run)):
        told = call("evaluate", judgments, run)
        assert told.exit_code == 3
        assert f"{command_line}:1:" in told.stderr
        advice = told.stderr.rsplit("give ", 1)[1].split()
        assert advice == ["--input-format", "msmarco"]
        assert mean_of(judgments, run, *advice) == RR
    told = call("convert", run, "out.run", "--kind", "run")
    advice = told.stderr.rsplit("give ", 1)[1].split()
    ok("convert", run, "out.run", "--kind", "run", *advice)
    assert dh.read_run("out.run").to_dict() == READ_RUN


def test_the_advice_in_python() -> None:
    with raises_parts(ColumnError, given="10\td1\t1", python="dh.read_run takes these", line=1) as caught:
        dh.read_run("run.tsv")
    assert isinstance(caught.value.hint, Advice)
    assert (caught.value.hint.argument, caught.value.hint.value) == ("format", "msmarco")
    assert dh.read_run("run.tsv", format="msmarco").to_dict() == READ_RUN


def test_a_header_that_is_missing_above_scores() -> None:
    """The advice keeps the first row, which names of columns would lose."""
    for ending, separator in (("csv", ","), ("tsv", "\t")):
        text = f"10{separator}d1{separator}0.5\n10{separator}d2{separator}0.25\n"
        with raises_parts(ColumnError, line=1) as caught:
            dh.read_run(write(f"x.{ending}", text))
        header = separator.join(("query_id", "doc_id", "score"))
        assert repr(header) in str(caught.value.hint)
        assert dh.read_run(write(f"x.{ending}", f"{header}\n{text}")).to_dict() == {"10": {"d1": 0.5, "d2": 0.25}}


CALLS = {
    "evaluate": ("qrels.tsv", "run.tsv"),
    "compare": ("qrels.tsv", "run.tsv", "b.tsv"),
    "fuse": ("run.tsv", "b.tsv"),
    "agree": ("run.tsv", "b.tsv"),
    "report": ("qrels.tsv", "run.tsv", "-o", "out.html"),
    "gate": ("qrels.tsv", "run.tsv", "-c", "RR >= 0.5"),
    "rescore": ("saved.json", "qrels.tsv"),
    "diff": ("qrels.tsv", "qrels.dev.tsv", "run.tsv"),
    "ties": ("run.tsv", "qrels.tsv"),
    "steps": ("qrels.tsv", "run.tsv", "--query", "10", "-m", "RR"),
    "explain": ("qrels.tsv", "run.tsv", "--reported", "RR=0.75"),
    "holes": ("qrels.tsv", "run.tsv"),
    "judges": ("qrels.tsv", "qrels.dev.tsv"),
    "items": ("run.tsv",),
    "simulate": ("--coarsen", "run.tsv", "qrels.tsv"),
    "trec_eval": ("qrels.tsv", "run.tsv"),
}


def test_every_command_that_names_columns_names_formats() -> None:
    for name in commands_by_name():
        options = {str(parameter.name) for parameter in command(name).params}
        if "columns" in options and name not in {"bench", "validate"}:
            assert "file_formats" in options, name
            assert name in CALLS, name


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_commands_read_it(name: str) -> None:
    write("b.tsv", "10\td2\t1\n10\td1\t2\n20\td3\t1\n")
    if name == "rescore":
        ok("evaluate", "qrels.tsv", "run.tsv", "--input-format", "msmarco", "--save", "saved.json", "--save-depth", "9")
    told = call(name, *CALLS[name], "--input-format", "msmarco")
    assert told.exit_code == 0, told.output


def test_ties_are_ordered_by_such_a_run() -> None:
    write("tied.run", "10 Q0 d1 1 3 t\n10 Q0 d2 2 3 t\n")
    write("first.tsv", "10\td2\t1\n10\td1\t2\n")
    assert mean_of("qrels.tsv", "tied.run", "--input-format", "msmarco", "--then-by", "first.tsv") == 1 / 2
    assert mean_of("qrels.tsv", "tied.run", "--input-format", "msmarco") == (1 + 1 / 2) / 2 / 2


def test_an_engine_reads_runs_by_their_names() -> None:
    dh.read_run("run.tsv", format="msmarco").to_polars().write_parquet("run.parquet")
    told = call("evaluate", "qrels.tsv", "run.parquet", "--engine", "polars", "--input-format", "msmarco")
    assert told.exit_code == 2
    assert "--input-format qrels=FORMAT" in told.stderr
    assert mean_of("qrels.tsv", "run.parquet", "--engine", "polars", "--input-format", "qrels=msmarco") == RR
