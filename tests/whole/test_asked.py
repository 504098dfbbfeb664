"""Who asks for MAP gets MAP, in every table and key; what is the same measure is found by all its names."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import deadheat as dh
from deadheat.core.measures.notation import BUNDLES
from deadheat.core.measures.registration import other_names, trec_names
from deadheat.core.report.as_data import as_json
from deadheat.core.report.text import as_text
from deadheat.errors import DataError, FigureError, MeasureError, ParameterError, UnknownMeasureError
from deadheat.plugins.bench.report import report_bench
from deadheat.plugins.bench.report_data import data_of_bench
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.figures.systems import name_among
from support.command import ok
from support.error_parts import raises_parts
from support.small_bench import CASES, DOCUMENTS, known

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from deadheat import BenchResult, Measure

QRELS = {f"q{n}": {"a": 1, "c": n % 2} for n in range(6)}
RUN = {f"q{n}": {"a": 1.0, "b": 1.0, "c": float(n)} for n in range(6)}
OTHER = {f"q{n}": {"b": 2.0, "a": float(n % 3)} for n in range(6)}
ASKED = ["MAP", "MRR", "ndcg_cut_10", "P@2", "num_rel_ret"]
NOTATION = ["AP", "RR", "nDCG@10", "P@2", "NumRelRet"]
TABLE = pl.DataFrame({"query_id": list(QRELS), "level": [["low", "high"][n % 2] for n in range(6)]})


@pytest.mark.parametrize(
    ("text", "label", "notation"),
    [
        ("MAP", "MAP", "AP"),
        ("map", "map", "AP"),
        ("MAP( rel=2 ) @ 10", "MAP(rel=2)@10", "AP(rel=2)@10"),
        ("MAP(rel=1)@10", "MAP@10", "AP@10"),
        ("ndcg_cut_10", "ndcg_cut_10", "nDCG@10"),
        ("ndcg@10", "ndcg@10", "nDCG@10"),
        ("nDCG@10", "nDCG@10", "nDCG@10"),
        ("nDCG @ 10", "nDCG@10", "nDCG@10"),
        ("P(rel=1)@5", "P@5", "P@5"),
        ("P_05", "P_05", "P@5"),
        ("11pt_avg", "11pt_avg", "AP11"),
        ("iprec_at_recall_0.10", "iprec_at_recall_0.10", "IPrec@0.1"),
        ("Rprec", "Rprec", "Rprec"),
    ],
)
def test_the_name_that_is_written_is_the_name_that_is_read(text: str, label: str, notation: str) -> None:
    measure = dh.parse_measure(text)
    assert (measure.label, str(measure), measure.asked) == (label, notation, label if label != notation else "")
    plain = dh.parse_measure(notation)
    assert measure == plain
    assert hash(measure) == hash(plain)
    again = dh.parse_measure(measure.label)
    assert (again, again.label) == (measure, label)
    for made in (pickle.loads(pickle.dumps(measure)), copy.deepcopy(measure)):  # noqa: S301 - our own
        assert (made, made.label) == (measure, label)


def test_every_other_name_of_every_measure_is_kept() -> None:
    for name, measure in dh.measures().items():
        at = 0.5 if measure.at != "cutoff" else 5
        texts = {text.format(f"{at:g}") for text in trec_names(measure)} | set(other_names(measure)) | {name}
        for text in texts:
            try:
                found = dh.parse_measure(text)
            except MeasureError:  # a name that needs a cutoff
                found = dh.parse_measure(text := f"{text}@{at}")
            by_default = found.label.startswith(f"{text}(")  # a measure inside
            assert by_default or found.label in {text, f"{text}@0", f"{text}@1"}  # some have a level by default
            assert type(found) is measure
            assert dh.parse_measure(str(found)).label == str(found)


def test_classes_of_other_names_ask_by_them() -> None:
    asked: list[Measure | type[Measure]] = [
        dh.MAP,
        dh.MRR @ 10,
        dh.Success(rel=2) @ 5,
        dh.HR,
        dh.MAP(norm="min") @ 3,
        dh.MERR,
        dh.MAR,
    ]
    measures = [dh.parse_measure(one) for one in asked]
    assert [one.label for one in measures] == [
        *("MAP", "MRR@10", "Success(rel=2)@5", "HR", "MAP(norm='min')@3", "MERR", "MAR")
    ]
    assert measures[:2] == [dh.AP(), dh.RR @ 10]
    assert [type(one) for one in measures] == [dh.AP, dh.RR, dh.Hit, dh.Hit, dh.AP, dh.ERR, dh.AR]
    assert repr(dh.MAP) == "MAP"
    assert issubclass(dh.MAP, dh.AP)
    assert pickle.loads(pickle.dumps(dh.MAP)) is dh.MAP  # noqa: S301 - our own
    with pytest.raises(MeasureError, match="AP has no parameter 'depth'"):
        dh.MAP(depth=3)  # type: ignore[call-arg]
    assert dh.evaluate(QRELS, RUN, [dh.MAP, dh.MRR]).means().keys() == {"MAP", "MRR"}


def test_one_measure_is_one_column_under_the_first_name() -> None:
    assert list(dh.evaluate(QRELS, RUN, ["MAP", "AP", "map", "RR", dh.MRR]).means()) == ["MAP", "RR"]
    assert list(dh.evaluate(QRELS, RUN, "RR trec").means())[:3] == ["RR", "num_q", "num_ret"]
    held = set(dh.evaluate(QRELS, RUN, "trec").means())
    assert held == set(BUNDLES["trec"])


def test_an_evaluation_has_the_names_everywhere_and_finds_all() -> None:
    evaluation = dh.evaluate(QRELS, RUN, ASKED)
    plain = dh.evaluate(QRELS, RUN, NOTATION)
    means = evaluation.means()
    assert list(means) == ASKED
    assert list(evaluation.intervals(method="t")) == ASKED
    of_query = evaluation.to_dict()["q0"]
    assert list(of_query) == ASKED
    assert of_query["RR"] == of_query["MRR"] == plain.to_dict()["q0"]["RR"]
    assert evaluation.to_polars()["measure"].unique(maintain_order=True).to_list() == ASKED
    assert "MAP=" in repr(evaluation)
    assert repr(evaluation["AP"]).startswith("<Scores MAP: ")
    for asked, notation in zip(ASKED, NOTATION, strict=True):
        number = plain.means()[notation]
        for name in (asked, notation, dh.parse_measure(notation)):
            assert name in evaluation
            assert evaluation[name].reported() == means[name] == number  # type: ignore[index]
    assert means["map"] == means.get("recip_rank", 0) + means["AP"] - means["RR"]
    assert means.get("ERR", 7) == 7
    assert "ERR" not in means
    assert "no measure" not in means
    with pytest.raises(KeyError):
        means["ERR"]
    with pytest.raises(UnknownMeasureError, match=r"^Success@1 .* MAP, MRR, "):
        evaluation["Success@1"]
    assert json.loads(json.dumps(means)) == dict(means)


def test_strata_have_the_names() -> None:
    strata = dh.evaluate(QRELS, RUN, ASKED).by("level", TABLE)
    for frame in (strata.summary("t"), strata.averages()):
        assert frame["measure"].unique(maintain_order=True).to_list() == ASKED
    assert list(strata["low"].means()) == ASKED
    assert [list(one) for one in strata.intervals(method="t").values()] == [ASKED] * 2


def test_comparisons_have_the_names_and_match_by_measure() -> None:
    found = dh.compare(QRELS, {"one": RUN, "other": OTHER}, ASKED, n_resamples=99)
    assert [pair.measure for pair in found.pairs] == ASKED
    assert found.to_polars()["measure"].to_list() == ASKED
    assert found.equivalence(0.1)["measure"].to_list() == found.sample_sizes()["measure"].to_list() == ASKED
    assert {measure for _, measure in found.intervals} == set(ASKED)
    assert found.intervals["one", "AP"] is found.intervals["one", "MAP"]
    with pytest.raises(KeyError):
        found.intervals["one", "ERR"]
    for asked, notation in zip(ASKED, NOTATION, strict=True):
        assert found[asked] == found[notation] == found[dh.parse_measure(notation)]
        assert len(found[asked]) == 1
    with pytest.raises(UnknownMeasureError, match=r"^ERR .* MAP, "):
        found["ERR"]
    assert "by MAP, MRR, ndcg_cut_10" in repr(found)


def test_evaluations_of_other_names_are_compared_under_those_of_the_first() -> None:
    one, other = dh.evaluate(QRELS, RUN, ASKED), dh.evaluate(QRELS, OTHER, list(reversed(NOTATION)))
    found = dh.compare_evaluations({"one": one, "other": other}, n_resamples=99)
    same = dh.compare(QRELS, {"one": RUN, "other": OTHER}, NOTATION, n_resamples=99)
    assert [pair.measure for pair in found.pairs] == ASKED
    assert [pair.difference for pair in found.pairs] == [pair.difference for pair in same.pairs]
    assert set(found.intervals) == {(name, measure) for name in ("one", "other") for measure in ASKED}
    text = as_text(report_comparison(found, qrels="x"), width=200).plain
    assert "MAP: differences" in text
    assert "AP: " not in text.replace("MAP: ", "")


def test_a_name_may_not_mean_two_measures() -> None:
    for name in ("ndcg_cut_10", "P(rel=2)", "map"):
        with raises_parts(MeasureError, measure="Custom", argument="name", given=name):
            dh.Custom(name, lambda relevance: float(len(relevance)))
    mine = [dh.Custom("mine", function) for function in (len, max)]
    with pytest.raises(ParameterError, match="named 'mine'"):
        dh.evaluate(QRELS, RUN, mine)


def test_saved_files_have_the_names_and_the_notation_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    evaluation = dh.evaluate(QRELS, RUN, [*ASKED, dh.Custom("first", lambda relevance: float(relevance[0]))])
    evaluation.save(path, method="t")
    document = json.loads(path.read_text())
    assert list(document["measures"]) == [*ASKED, "first"]
    assert [one["measure"] for one in document["measures"].values()] == [*NOTATION, "first"]
    loaded = dh.load_evaluation(path)
    assert loaded.means() == evaluation.means()
    assert list(loaded.means()) == [*ASKED, "first"]
    assert loaded["AP"].mean == loaded["map"].mean == evaluation["MAP"].mean
    assert loaded.to_polars().equals(evaluation.to_polars())


def test_a_history_has_the_names_of_its_last_evaluation(tmp_path: Path) -> None:
    one, other = dh.evaluate(QRELS, RUN, [*NOTATION, "P_5"]), dh.evaluate(QRELS, OTHER, ASKED)
    one.save(tmp_path / "one.json")
    found = dh.history([tmp_path / "one.json", other])
    assert list(found.measures) == list(found.since) == ASKED
    assert found.to_polars()["measure"].unique(maintain_order=True).to_list() == ASKED
    (note,) = found.notes
    assert note.endswith("left out: P_5")
    for asked, notation in zip(ASKED, NOTATION, strict=True):
        assert found.steps[0].means[asked]["mean"] == found.steps[0].means[notation]["mean"] == one[notation].mean
        assert found.since[asked] is found.since[notation]
    with pytest.raises(DataError, match="MRR of run; map of run"):
        dh.history([dh.evaluate(QRELS, RUN, "map"), dh.evaluate(QRELS, RUN, "MRR")])


def test_gates_read_as_they_are_written_and_match_by_measure(tmp_path: Path) -> None:
    evaluation, before = dh.evaluate(QRELS, RUN, ASKED), dh.evaluate(QRELS, OTHER, [*NOTATION, "map_cut_3"])
    result = dh.gate(evaluation, ["MRR > 0.1", "RR > 0.10", "low(AP) > 0", "tie_min(map) >= 0"], baseline=before)
    assert [check.gate for check in result.checks[:3]] == ["MRR > 0.1", "low(AP) > 0", "tie_min(map) >= 0"]
    assert [check.measure for check in result.checks[:3]] == ["MRR", "AP", "map"]
    assert [check.measure for check in result.checks[3:]] == ASKED
    assert result.checks[3].gate == "MAP >= baseline"
    assert result.not_compared == ("map_cut_3",)
    assert result.to_polars()["measure"].to_list() == [check.measure for check in result.checks]
    before.save(tmp_path / "before.json", method="t")
    assert dh.gate(evaluation, baseline=tmp_path / "before.json").checks == result.checks[3:]
    with pytest.raises(UnknownMeasureError, match=r"^Success@3 .* MAP, MRR"):
        dh.gate(evaluation, "Success@3 > 0.5")


def test_ties_have_the_names() -> None:
    profile = dh.tie_profile(RUN, QRELS, measures=ASKED)
    assert [one.measure.label for one in profile.decided] == ASKED
    assert repr(dh.tie_orders([1, 1], [1, 0], "MRR")).startswith("<TieOrders MRR: ")


@pytest.fixture(scope="module")
def benched() -> BenchResult:
    return dh.bench(CASES, DOCUMENTS, {"one": known, "two": known}, ["MAP", "MRR", "P@1", "num_ret"], n_resamples=99)


def test_benchmarks_have_the_names(benched: BenchResult) -> None:
    asked = ["MAP", "MRR", "P@1", "num_ret"]
    for frame in (benched.to_polars(), benched.averages()):
        assert frame["measure"].unique(maintain_order=True).to_list() == asked
    assert repr(benched).startswith("<BenchResult by MAP: ")
    _, table, *_ = report_bench(benched).tables  # below the answer
    assert [row.labels[0] for row in table.rows] == asked


def leaves(nested: Mapping[str, Any], *names: str) -> list[Any]:
    return [one for key, one in nested.items() if key in names] + [
        leaf for one in nested.values() if isinstance(one, dict) for leaf in leaves(one, *names)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    found = tmp_path_factory.mktemp("asked")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(found)
        _write()
        yield found


def _write() -> None:
    for name, data, value in (("qrels", QRELS, "relevance"), ("one", RUN, "score"), ("other", OTHER, "score")):
        rows = [(query, doc, number) for query, docs in data.items() for doc, number in docs.items()]
        pl.DataFrame(rows, ["query_id", "doc_id", value], orient="row").write_parquet(f"{name}.parquet")
    TABLE.write_csv("queries.csv")
    ok("evaluate", "qrels.parquet", "one.parquet", "-m", " ".join(ASKED), "--save", "saved.json")
    ok("evaluate", "qrels.parquet", "other.parquet", "-m", " ".join(NOTATION), "--save", "before.json")


FILES = ["qrels.parquet", "one.parquet", "other.parquet"]
MEASURES = ["-m", " ".join(ASKED)]
COMMANDS = {
    "evaluate": ["evaluate", *FILES, *MEASURES],
    "per query": ["evaluate", *FILES, *MEASURES, "--per-query"],
    "intervals": ["evaluate", *FILES, *MEASURES, "--ci", "--ci-method", "t"],
    "strata": ["evaluate", *FILES, *MEASURES, "--queries", "queries.csv", "--by", "level"],
    "compare": ["compare", *FILES, *MEASURES, "--margin", "0.1", "--detect", "0.1"],
    "ties": ["ties", "one.parquet", "qrels.parquet", *MEASURES],
    "gate": ["gate", "saved.json", "--baseline", "before.json", "-c", "MRR > 0.1"],
}
FORMS = {"gate": ("table", "html", "github"), "ties": ("table", "html", "markdown")}


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
def test_json_has_the_names_as_keys_and_the_notation_beside_them(name: str) -> None:
    document = json.loads(ok(*COMMANDS[name], "--format", "json"))
    for asked, notation in zip(ASKED, NOTATION, strict=True):
        found = leaves(document, asked)
        assert name != "gate" or found or asked == "MRR"
        for leaf in found:
            if isinstance(leaf, dict) and not all(isinstance(one, dict) for one in leaf.values()):
                assert {"measure": notation, "asked": asked}.items() <= leaf.items() or asked == notation
        if asked != notation:
            assert not leaves(document, notation)
    text = json.dumps(document)
    assert '"measure": "AP", "asked": "MAP"' in text
    for fact in (document.get("effect_of_ties"), document.get("largest_tie_share")):
        assert fact is None or fact["measure"] in NOTATION
        assert fact is None or fact.get("asked", fact["measure"]) in ASKED


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("form", ["table", "markdown", "html", "latex", "csv", "github"])
def test_no_other_format_has_another_name(name: str, form: str) -> None:
    if form not in FORMS.get(name, ("table", "markdown", "html", "latex", "csv")):
        return
    text = ok(*COMMANDS[name], "--format", form).replace("\\_", "_")
    words = set("".join(one if one.isalnum() or one in "@_" else " " for one in text).split())
    assert "MAP" in words
    assert not {"AP", "RR", "NumRelRet", "nDCG@10"} & words
    if form == "csv":
        assert {row["measure"] for row in csv.DictReader(io.StringIO(text))} == set(ASKED)


@pytest.mark.usefixtures("folder")
def test_the_format_trec_and_the_other_interfaces_keep_their_own_names() -> None:
    lines = ok(*COMMANDS["per query"], "--format", "trec").splitlines()
    assert {line.split()[0] for line in lines} == {"runid", "map", "recip_rank", "ndcg_cut_10", "P_2", "num_rel_ret"}


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_bench_json_keeps_the_notation(folder: Path, benched: BenchResult) -> None:
    result = dh.bench(CASES, DOCUMENTS, known, ["MAP", "P@1"], output=folder / "b", n_resamples=99)
    document = json.loads((folder / "b" / "bench.json").read_text())
    assert document["measures"] == ["AP", "P@1"]
    assert {(row["measure"], row.get("asked")) for row in document["results"]} == {("AP", "MAP"), ("P@1", None)}
    assert "| MAP |" in (folder / "b" / "report.md").read_text()
    assert len(result.measures) == 2
    told = json.loads(as_json(data_of_bench(benched)))
    assert leaves(told["means"], "MAP")[0]["measure"] == "AP"
    assert leaves(told["comparisons"], "MAP")[0]["asked"] == "MAP"
    assert leaves(told["averages"], "MAP")[0]["asked"] == "MAP"


def test_names_of_frames_are_plain_texts() -> None:
    """A frame that is pickled, or read by another library, holds no class of ours."""
    evaluation = dh.evaluate(QRELS, RUN, ASKED)
    assert {type(one) for one in (*evaluation.to_polars()["measure"], *evaluation.means())} == {str}


GRADED = {f"q{n}": {"a": 2, "b": 1, "c": n % 3} for n in range(6)}


def test_names_without_a_level_find_the_measures_of_the_level_of_all(tmp_path: Path) -> None:
    """Under rel=2 the measure is AP(rel=2), and who asked for AP or map looks for that."""
    expected = dh.evaluate(GRADED, RUN, ["AP(rel=2)", "P(rel=2)@2"], ties="doc_id").means()
    evaluation = dh.evaluate(GRADED, RUN, ["map", "P_2", "RR(rel=1.5)"], rel=2, ties="doc_id")
    evaluation.save(tmp_path / "saved.json", method="t")
    for found in (evaluation, dh.load_evaluation(tmp_path / "saved.json")):
        means, of_query = found.means(), found.to_dict()["q1"]
        for name in ("AP", "map", "MAP", "AP(rel=2)"):
            assert means[name] == found[name].mean == expected["AP(rel=2)"]
            assert of_query[name] == found[name].values[1]
            assert name in means
            assert found.intervals(method="t")[name].low < means[name]
        assert means["P@2"] == means["P_2"] == expected["P(rel=2)@2"]
        for name in ("RR", "AP(rel=3)", "AP@2"):  # another level was named for RR
            assert name not in means
    again = pickle.loads(pickle.dumps(evaluation.means()))  # noqa: S301 - our own
    assert again["AP"] == expected["AP(rel=2)"]
    assert "AP" not in dh.evaluate(GRADED, RUN, "AP(rel=2)").means()  # nobody said that AP is of level 2


def test_comparisons_and_figures_find_the_measures_of_the_level_of_all() -> None:
    found = dh.compare(GRADED, {"one": RUN, "other": OTHER}, ["AP", "recip_rank"], rel=2, n_resamples=99)
    for name in ("AP", "map", "RR", "recip_rank"):
        assert len(found[name]) == 1
        assert found.intervals["one", name].low <= found.evaluations["one"].means()[name]
    with pytest.raises(KeyError):
        found.intervals["one", "AP(rel=3)"]
    names = ["map(rel=2)", "P(rel=2)@5", "RR(rel=2)", "RR(rel=3)"]
    assert [name_among(names, name) for name in ("AP", "P_5", "RR(rel=3)")] == ["map(rel=2)", "P(rel=2)@5", "RR(rel=3)"]
    with pytest.raises(FigureError, match=r"RR, only of .*RR\(rel=2\)"):  # which level is not known
        name_among(names, "RR")


def test_means_of_counts_are_totals_as_in_every_table() -> None:
    names = ["NumQ", "num_rel", "NumRet", "num_rel_ret", "RR"]
    evaluation = dh.evaluate(QRELS, RUN, names)
    expected = {"NumQ": 6, "num_rel": 6 + 3, "NumRet": 6 * 3, "num_rel_ret": 6 + 3}
    means = evaluation.means()
    assert {name: means[name] for name in expected} == expected
    assert means["RR"] == evaluation["RR"].mean < 1
    assert "NumQ=6.0000, num_rel=9.0000" in repr(evaluation)
    of_several: Any = dh.evaluate(QRELS, {"one": RUN, "other": RUN}, names)
    assert [of_several["one"].means()[name] for name in expected] == list(expected.values())
    table = of_several.to_polars().filter(pl.col("system") == "one")
    assert dict(table.select("measure", "mean").rows()) == dict(means)
    assert evaluation.to_dict()["q1"]["NumRet"] == 3  # of a query it is its own number


def test_means_of_counts_of_an_accumulator_are_totals() -> None:
    accumulator = dh.Accumulator(["NumRet", "RR"])
    accumulator.add([[3.0, 2.0, 1.0]] * 2, [[0], [1]])
    summary = accumulator.summary()
    assert accumulator.means() == {"NumRet": 6, "RR": 0.75}
    assert summary["mean"].to_list() == [6, 0.75]


@pytest.mark.parametrize("given", ["map recip_rank P_2", "AP RR P@2"])
def test_lines_of_trec_eval_have_its_names_under_a_level(folder: Path, given: str) -> None:
    level = ["-l", "2", "--ties", "doc_id"]
    graded = [(query, doc, grade) for query, docs in GRADED.items() for doc, grade in docs.items()]
    pl.DataFrame(graded, ["query_id", "doc_id", "relevance"], orient="row").write_parquet(folder / "graded.parquet")
    files = (folder / "graded.parquet", folder / "one.parquet")
    for per_query in ((), ("--per-query",)):
        ours = ok("evaluate", *files, "-m", given, *level, *per_query, "--format", "trec")
        names = [line.split()[0] for line in ours.splitlines() if not line.startswith("runid")]
        assert names == ["map", "recip_rank", "P_2"] * (len(names) // 3)
    asked = ("-m", "map", "-m", "recip_rank", "-m", "P.2")
    theirs = ok("trec_eval", "-c", *level, *asked, *files)
    assert set(theirs.splitlines()) <= set(ours.splitlines())
    named = ok("evaluate", *files, "-m", "AP(rel=2) P(rel=1)@2", "--format", "trec")
    assert [line.split()[0] for line in named.splitlines()] == ["runid", "AP(rel=2)", "P_2"]
