"""deadheat trec_eval: the lines of trec_eval, from values of pytrec_eval and from kept output of the C program."""

import gzip
import math
from pathlib import Path

import pytest

from deadheat import parse_measure
from deadheat.core.measures.notation import WHOLE_LIST
from deadheat.plugins.compat.trec_measures import MEASURES, list_members, list_printed_values, parse_requests
from support.command import call, ok
from support.shared_data import SOME_RUNS, needs_shared_data, qrels_dict, run_dict, sources_of

QRELS = "q1 0 a 2\nq1 0 b 0\nq2 0 x 1\nq3 0 y 0\nq4 0 z 1\nq4 0 w 2\n"
RUN = "q1 Q0 a 1 0.5 tag1\nq1 Q0 b 2 0.5 tag2\nq3 Q0 y 1 1 tag3\nq9 Q0 y 1 1 tag9\n"
WHOLE = "q1 Q0 a 1 0.5 tag1\nq1 Q0 b 2 0.5 tag2\nq2 Q0 k 1 1 t\nq3 Q0 y 1 1 tag3\nq4 Q0 u 1 1 tt\n"
KEPT = {  # what trec_eval 9.0.8 and 10.0 print; tabs are one blank here
    ("9", RUN, "-m runid -m num_q -m num_ret -m num_rel -m num_rel_ret -m map -m P.2,1"): """\
runid                  all tag9
num_q                  all 2
num_ret                all 3
num_rel                all 1
num_rel_ret            all 1
map                    all 0.2500
P_1                    all 0.0000
P_2                    all 0.2500
""",
    ("9", RUN, "-c -q -m set_P -m num_rel -m num_q -m relstring.3"): """\
num_rel                q1 1
relstring_3            q1 '02'
set_P                  q1 0.5000
num_rel                q3 0
relstring_3            q3 '0'
set_P                  q3 0.0000
num_q                  all 4
num_rel                all 4
set_P                  all 0.1250
""",
    ("10", RUN, "-c -q -n -m num_rel -m num_ret -m relstring -m utility"): """\
num_ret                q1 2
num_rel                q1 1
relstring              q1 '02'
utility                q1 0.0000
num_ret                q2 0
num_rel                q2 1
relstring              q2 ''
utility                q2 0.0000
num_ret                q3 1
num_rel                q3 0
relstring              q3 '0'
utility                q3 -1.0000
num_ret                q4 0
num_rel                q4 2
relstring              q4 ''
utility                q4 0.0000
""",
    ("9", RUN, "-c -l 2 -m num_rel -m map"): "num_rel                all 4\nmap                    all 0.1250\n",
    ("10", WHOLE, "-J -l 2 -m map -m num_ret -m set_F.0.5 -m ndcg.1=3,2=9"): """\
num_ret                all 3
map                    all 0.1250
ndcg_1=3,2=9           all 0.1577
set_F_0.5              all 0.1500
""",
    ("9", WHOLE, "-M 1 -N 100 -m utility.1,-1,-2,0.5 -m recall.1 -m success"): """\
recall_1               all 0.0000
utility_1,-1,-2,0.5    all 46.0000
success_1              all 0.0000
success_5              all 0.0000
success_10             all 0.0000
""",
    ("9", WHOLE, "-q -m 11pt_avg.0.25,0.5,.75 -m ndcg_cut.23.5 -m P.1.9"): """\
P_1                    q1 0.0000
11pt_avg_0.25,0.5,.75  q1 0.5000
ndcg_cut_23            q1 0.6309
P_1                    q2 0.0000
11pt_avg_0.25,0.5,.75  q2 0.0000
ndcg_cut_23            q2 0.0000
P_1                    q3 0.0000
11pt_avg_0.25,0.5,.75  q3 0.0000
ndcg_cut_23            q3 0.0000
P_1                    q4 0.0000
11pt_avg_0.25,0.5,.75  q4 0.0000
ndcg_cut_23            q4 0.0000
P_1                    all 0.0000
11pt_avg_0.25,0.5,.75  all 0.1250
ndcg_cut_23            all 0.1577
""",
}
THREE_RELEVANT = "q 0 a 1\nq 0 b 1\nq 0 c 1\nq 0 d 0\n"
RELEVANT_AT_1_3_4 = "q Q0 a 1 4 t\nq Q0 d 2 3 t\nq Q0 b 3 2 t\nq Q0 c 4 1 t\n"
# Text behind the sixth field, as in test/results.trunc of trec_eval; its last row has the tag that is printed
WITH_TRAILING_TEXT = (
    "q1 Q0 a 1 0.5 tag1 more junk at\nq1\tQ0\tb\t2\t0.5\ttag2 end of lines.\nq3 Q0 y 1 1 tag3 reserved \n"
)


# of trec_eval 10.0: rbp by the highest relevance of the query's judgments, rbp_resid without an end that is judged
OF_VERSION_10 = """\
rbp                    q1 0.1233
rbp_resid              q1 0.8100
unj_5                  q1 0.4000
unj_10                 q1 0.2000
unj_20                 q1 0.1000
rbp                    q2 0.1000
rbp_resid              q2 0.0000
unj_5                  q2 0.0000
unj_10                 q2 0.0000
unj_20                 q2 0.0000
rbp                    q3 0.0400
rbp_resid              q3 0.0000
unj_5                  q3 0.0000
unj_10                 q3 0.0000
unj_20                 q3 0.0000
rbp                    all 0.0878
rbp_resid              all 0.2700
unj_5                  all 0.1333
unj_10                 all 0.0667
unj_20                 all 0.0333
"""
OF_VERSION_10_WITH_PARAMETERS = """\
rbp_p=0.5              q1 0.4167
rbp_resid_p=0.5        q1 0.2500
unj_1                  q1 0.0000
unj_3                  q1 0.3333
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEADHEAT_TIES", raising=False)
    for name, text in (("x.qrels", QRELS), ("some.run", RUN), ("whole.run", WHOLE)):
        Path(name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("version", "run", "options"), KEPT)
def test_it_prints_what_the_c_program_prints(version: str, run: str, options: str) -> None:
    path = "some.run" if run == RUN else "whole.run"
    shown = ok("trec_eval", "--like", version, *options.split(), "x.qrels", path)
    assert shown.replace("\t", " ") == KEPT[version, run, options]


def test_measures_of_version_10() -> None:
    Path("g.qrels").write_text(
        "q1 0 a 3\nq1 0 b 1\nq1 0 c 0\nq1 0 d -1\nq2 0 a 1\nq2 0 b 0\nq3 0 x 5\nq3 0 a 2\n", encoding="utf-8"
    )
    rows = ["q1 b 9", "q1 a 8", "q1 z 7", "q1 d 6", "q2 a 5", "q2 b 4", "q3 a 3"]
    text = "".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in map(str.split, rows))
    Path("g.run").write_text(text, encoding="utf-8")
    measures = ("-m", "rbp", "-m", "rbp_resid", "-m", "unj")
    assert ok("trec_eval", "--like", "10", "-q", *measures, "g.qrels", "g.run").replace("\t", " ") == OF_VERSION_10
    ours = ok("evaluate", "g.qrels", "g.run", "--ties", "doc_id", *measures[:4], "--format", "trec", "--per-query")
    theirs = [line for line in OF_VERSION_10.splitlines() if not line.startswith("unj")]
    assert {tuple(line.split()) for line in theirs} <= {tuple(line.split()) for line in ours.splitlines()}
    every = ok("trec_eval", "--like", "10", "-q", "-m", "all_trec", "g.qrels", "g.run").replace("\t", " ")
    assert set(OF_VERSION_10.splitlines()) <= set(every.splitlines())
    given = ("-m", "rbp.p=0.5", "-m", "rbp_resid.p=0.5", "-m", "unj.1,3")
    shown = ok("trec_eval", "--like", "10", "-q", *given, "g.qrels", "g.run").replace("\t", " ")
    assert shown.startswith(OF_VERSION_10_WITH_PARAMETERS)


def test_a_level_behind_the_dot_is_no_second_level() -> None:
    values = []
    for measure in ("rbp", "rbp.rel=2"):  # a graded measure has no use for the level
        shown = ok("trec_eval", "--like", "10", "-m", measure, "x.qrels", "whole.run")
        values.append(shown.split()[-1])
    assert values[0] == values[1]


def as_printed(name: str, query: str, value: float, *, is_count: bool) -> str:
    return f"{name:<22}\t{query}\t" + (f"{int(value)}" if is_count else f"{value:6.4f}")


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("name", SOME_RUNS)
def test_every_line_of_real_runs(name: str) -> None:
    """-q -m all_trec, where values come from pytrec_eval."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = sources_of(name)
    judged, retrieved = qrels_dict(qrels), run_dict(run)
    names = {one for one in list_members("all_trec") if MEASURES[one].printed != "text"}
    values = pytrec_eval.RelevanceEvaluator(judged, names).evaluate(retrieved)
    shown = [one for one in list_printed_values({one: [] for one in names}, 1) if one.measure is not None]
    expected = [
        as_printed(one.name, query, values[query][one.name], is_count=one.trec_measure.printed == "count")
        for query in sorted(values)
        for one in shown
        if one.trec_measure.has_queries
    ]
    for one in shown:
        own = [values[query][one.name] for query in sorted(values)]
        mean = sum(own) / len(own)
        whole = (
            sum(own)
            if one.trec_measure.printed == "count"
            else math.exp(mean)
            if one.trec_measure.is_geometric
            else mean
        )
        expected.append(as_printed(one.name, "all", whole, is_count=one.trec_measure.printed == "count"))
    found = ok("trec_eval", "-q", "-m", "all_trec", qrels, run).splitlines()
    assert [line for line in found if line.split()[0] not in {"runid", "relstring"}] == expected


def test_exact_means_over_ties_by_option_and_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = ok("trec_eval", "--ties", "expected", "-q", "-m", "map", "-m", "relstring", "x.qrels", "some.run")
    assert exact.startswith("map                   \tq1\t0.7500\nrelstring             \tq1\t'??'\n")
    monkeypatch.setenv("DEADHEAT_TIES", "expected")
    assert ok("trec_eval", "-q", "-m", "map", "-m", "relstring", "x.qrels", "some.run") == exact
    monkeypatch.setenv("DEADHEAT_TIES", "exact")
    assert "DEADHEAT_TIES in the environment must be one of" in call("trec_eval", "x.qrels", "some.run").output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("-m", "ndgc", "x.qrels", "some.run"), 2, "trec_eval 9 has no measure 'ndgc'. Did you mean 'ndcg'?"),
        (("-m", "unj", "x.qrels", "some.run"), 2, "trec_eval 9 has no measure 'unj': trec_eval 10 has it"),
        (("-m", "prefs_pair", "x.qrels", "some.run"), 2, "deadheat does not compute 'prefs_pair' of trec_eval"),
        (
            ("-m", "P.0", "x.qrels", "some.run"),
            2,
            "P: expected whole numbers from 1 on, got '0'; write it like P.5,10,15",
        ),
        (("-q", "-m", "relstring.inf", "x.qrels", "some.run"), 2, "relstring: expected numbers, got 'inf'"),
        (("-m", "P.0.9", "x.qrels", "some.run"), 2, "P: expected whole numbers from 1 on, got '0.9'"),
        (("-m", "P.1e3", "x.qrels", "some.run"), 2, "P: expected whole numbers from 1 on, got '1e3'"),
        (("-m", "11pt_avg.0.5,0.2", "x.qrels", "some.run"), 2, "expected recall levels from 0 to 1, the lowest first"),
        (("-m", "11pt_avg.1.2", "x.qrels", "some.run"), 2, "expected recall levels from 0 to 1, the lowest first"),
        (
            ("-m", "11pt_avg.0.5", "-m", "11pt_avg.0.7", "x.qrels", "some.run"),
            2,
            "11pt_avg: its numbers make one value together and were given twice",
        ),
        (("-m", "utility.1,2", "x.qrels", "some.run"), 2, "expected 4 numbers behind the dot"),
        (("-m", "ndcg.2", "x.qrels", "some.run"), 2, "expected pairs such as ndcg.1=3,2=9, got 2"),
        (
            ("--like", "10", "x.qrels", "some.run"),
            3,
            "lacks 2 topics of the qrels: 'q2', 'q4'; trec_eval 10 stops here",
        ),
        (("-M", "1", "--ties", "expected", "x.qrels", "some.run"), 2, "cuts a tie of query 'q1'"),
        (("some.run", "x.qrels"), 3, "were qrels and run given in the wrong order?"),
        (("x.qrels", "no.run"), 3, "no such file"),
    ],
)
def test_bad_input_is_named(arguments: tuple[str, ...], code: int, message: str) -> None:
    result = call("trec_eval", *arguments)
    assert (result.exit_code, message in result.output) == (code, True), result.output


def test_parameters_are_read_with_a_dot_or_an_underscore() -> None:
    assert parse_requests(["P.5,10", "P_20", "set_F.0.5", "ndcg_cut_7"]) == {
        "P": ["5", "10", "20"],
        "set_F": ["0.5"],
        "ndcg_cut": ["7"],
    }


def test_the_tag_is_that_of_the_last_row_also_in_compressed_files() -> None:
    ok("convert", "some.run", "some.run.gz", "--tag", "packed")
    assert ok("trec_eval", "-m", "runid", "x.qrels", "some.run.gz").endswith("\tall\tpacked\n")
    ok("convert", "some.run", "table.csv")
    assert ok("trec_eval", "-m", "runid", "x.qrels", "table.csv").endswith("\tall\ttable\n")


@pytest.mark.slow
def test_means_over_drawn_orders_are_told(tmp_path: Path) -> None:
    """A tie of 600 documents has too many orders for interpolated precision, and none too many for AP."""
    qrels, run = tmp_path / "qrels.txt", tmp_path / "a.run"
    qrels.write_text("".join(f"q 0 d{n} {n % 2}\n" for n in range(600)))
    run.write_text("".join(f"q Q0 d{n} 1 1 t\n" for n in range(600)))
    asked = ["trec_eval", "-m", "map", "-m", "11pt_avg", "-m", "iprec_at_recall.0.5", qrels, run]
    told = call(*asked, "--ties", "expected").stderr
    assert told.startswith(
        "Note: estimated: iprec_at_recall_0.50, 11pt_avg: orders of ties were drawn for up to 1 topic"
    )
    assert not call(*asked).stderr
    assert not call("trec_eval", "-m", "map", "--ties", "expected", qrels, run).stderr


@pytest.mark.parametrize(
    ("version", "levels", "needed"),
    [  # relevant documents that a level needs, of 3: 9 adds 0.9 and rounds down, 10 rounds
        ("9", "0.25,0.5,.75", (1, 2, 3)),
        ("9", ".7", (2,)),
        ("10", "0.1,0.4,1", (1, 1, 3)),
        ("10", "0.5,0.5", (2, 2)),
    ],
)
def test_11pt_avg_over_other_recall_levels(version: str, levels: str, needed: tuple[int, ...]) -> None:
    Path("q.txt").write_text(THREE_RELEVANT, encoding="utf-8")
    Path("r.run").write_text(RELEVANT_AT_1_3_4, encoding="utf-8")
    highest_precision = {1: 1 / 1, 2: max(2 / 3, 3 / 4), 3: 3 / 4}
    expected = sum(highest_precision[count] for count in needed) / len(needed)
    shown = ok("trec_eval", "--like", version, "-m", f"11pt_avg.{levels}", "q.txt", "r.run")
    assert shown == as_printed(f"11pt_avg_{levels}", "all", expected, is_count=False) + "\n"


@pytest.mark.parametrize("suffix", [".run", ".run.gz"])
def test_text_behind_the_fields_of_a_run_is_left_out(suffix: str) -> None:
    path = Path(f"trunc{suffix}")
    data = WITH_TRAILING_TEXT.encode()
    path.write_bytes(gzip.compress(data) if suffix.endswith(".gz") else data)
    Path("clean.run").write_text("q1 Q0 a 1 0.5 tag1\nq1 Q0 b 2 0.5 tag2\nq3 Q0 y 1 1 tag3\n", encoding="utf-8")
    shown = ok("trec_eval", "-q", "-m", "all_trec", "x.qrels", path)
    assert shown == ok("trec_eval", "-q", "-m", "all_trec", "x.qrels", "clean.run")
    assert "runid                 \tall\ttag3\n" in shown


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q1 Q0 a 1 0.5 t and more\nq1 Q0 b 2\n", "bad.run:2: expected 6 fields"),
        ("q1 Q0 a 1 0.5 t and more\nq1 Q0 b 2 nan t\n", "bad.run:2: score must be a number, got NaN"),
        ("q1 Q0 a 1 0.5 t and more\nq1 Q0 a 2 0.4 t\n", "bad.run:2: document 'a' is retrieved 2 times"),
        ("q8 Q0 a 1 0.5 t and more\n", "bad.run: qrels and run share no query"),
    ],
)
def test_errors_beside_text_behind_the_fields_name_the_file(rows: str, message: str) -> None:
    Path("bad.run").write_text(rows, encoding="utf-8")
    result = call("trec_eval", "x.qrels", "bad.run")
    assert (result.exit_code, message in result.output) == (3, True), result.output
    assert "deadheat-" not in result.output  # the folder of the copy without that text


def test_text_behind_the_fields_is_an_error_elsewhere() -> None:
    Path("trunc.run").write_text(WITH_TRAILING_TEXT, encoding="utf-8")
    result = call("evaluate", "x.qrels", "trunc.run")
    assert (result.exit_code, "expected 6 fields" in result.output) == (3, True)


def test_a_relevance_that_trec_eval_would_truncate_is_told() -> None:
    Path("f.qrels").write_text("q1 0 a 1.5\nq1 0 b 0.5\nq3 0 y 1\n", encoding="utf-8")
    told = call("trec_eval", "-m", "map", "f.qrels", "some.run").stderr
    assert told.startswith(
        "Note: the relevance of 2 judgments in f.qrels are not whole numbers (0.5, 1.5): trec_eval would truncate it"
    )
    assert not call("trec_eval", "-m", "map", "x.qrels", "some.run").stderr


def test_names_without_a_cutoff_here_are_refused_with_one_elsewhere() -> None:
    """Where our measure takes a cutoff, and trec_eval ignores what follows the name."""
    ignored = set()
    for name, measure in MEASURES.items():
        if measure.takes == "none" and measure.printed != "text" and hasattr(parse_measure(name), "cutoff"):
            ignored.add(name)
    assert ignored == WHOLE_LIST
    shown = ok("trec_eval", "-m", "map.2", "-m", "recip_rank.1", "x.qrels", "some.run")
    assert shown == ok("trec_eval", "-m", "map", "-m", "recip_rank", "x.qrels", "some.run")
    result = call("evaluate", "x.qrels", "some.run", "-m", "recip_rank.2")
    assert (result.exit_code, "write 'RR@2' for the first 2" in result.output) == (2, True), result.output
