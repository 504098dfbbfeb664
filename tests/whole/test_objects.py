"""Objects show themselves: what prints is what the command prints, and every form of it has the same numbers."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat.api import Renderable
from deadheat.core.report.as_data import as_json
from deadheat.core.report.cells import format_cell
from deadheat.core.report.shown import report_of
from deadheat.errors import MissingDependencyError
from deadheat.plugins.bench.report_data import data_of_bench
from deadheat.plugins.compare.report import report_comparison
from deadheat.plugins.leaderboard.report import report_leaderboard
from deadheat.plugins.ties.report import report_profile
from deadheat.plugins.weeks.report_history import report_history
from support.command import call
from support.html_pages import check_harmless, read_html
from support.small_bench import CASES, DOCUMENTS, known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from deadheat.api import Report

EVIL = ["<script>alert(1)</script>", "a\"b'c & $x_1 %", "\x1b[31mred", "\u202egnp.exe", "木 🎯 ü", "a\nb", "</style>"]


@dataclass(frozen=True)
class Data:
    """What objects are made of."""

    qrels: Mapping[str, Mapping[str, int]]
    runs: Mapping[str, Mapping[str, Mapping[str, float]]]
    queries: pl.DataFrame


def data(names: list[str], ids: list[str]) -> Data:
    rng = np.random.default_rng(3)
    docs = [f"d{one}" for one in range(6)]
    qrels = {query: dict(zip(docs, rng.integers(0, 3, 6).tolist(), strict=True)) for query in ids}
    runs = {
        name: {query: dict(zip(docs, rng.integers(0, 3, 6).astype(float).tolist(), strict=True)) for query in ids}
        for name in names
    }
    levels = [["low", "high"][n % 2] for n in range(len(ids))]
    return Data(qrels, runs, pl.DataFrame({"query_id": ids, "level": levels}))


PLAIN = data(["one", "two", "three"], [f"q{n}" for n in range(12)])
WILD = data([f"run {text}" for text in EVIL[:3]], [f"{n} {text}" for n in range(2) for text in EVIL])
MEASURES = ["MAP", "nDCG@3", "NumRelRet", "P@1"]


def custom(given: Data) -> list[Any]:
    name = "own" if given is PLAIN else EVIL[0]
    return [*MEASURES, dh.Custom(name, lambda relevance: float(relevance[:1].sum()))]


def evaluation(given: Data, which: int = 0) -> dh.Evaluation:
    name = list(given.runs)[which]
    return dh.evaluate(given.qrels, dh.Run(given.runs[name], name=name), custom(given))


def benched(given: Data) -> dh.BenchResult:
    retrievers = dict.fromkeys(given.runs, known) if given is PLAIN else {f"r {EVIL[0]}": known, f"r {EVIL[1]}": known}
    return dh.bench(CASES, DOCUMENTS, retrievers, ["MAP", "MRR", "num_ret", "P@1"], n_resamples=99)


def gated(given: Data) -> dh.GateResult:
    checks = ["MAP > 0.5", "low(P@1) >= 0.1", "tie_std(nDCG@3) < 0.5", "NumRelRet > 1"]
    options: dict[str, Any] = {"by": "level", "queries": given.queries, "n_resamples": 99, "no_worse_than": 0.1}
    return dh.gate(evaluation(given), checks, baseline=evaluation(given, 1), no_regression=True, **options)


def languages(given: Data) -> dh.Languages:
    """The same runs, each other one in another language."""
    names = ["en", "fr", "de"] if given is PLAIN else EVIL[:3]
    evaluations = {
        language: {name: evaluation(given, (which + shift) % 3) for which, name in enumerate(list(given.runs)[:2])}
        for shift, language in enumerate(names)
    }
    return dh.compare_languages(evaluations, n_resamples=99)


MAKE: dict[str, Callable[[Data], Renderable]] = {
    "Evaluation": evaluation,
    "Evaluations": lambda given: dh.evaluate(given.qrels, given.runs, custom(given)),
    "Strata": lambda given: evaluation(given).by("level", given.queries),
    "Comparison": lambda given: dh.compare(given.qrels, given.runs, custom(given), n_resamples=99),
    "BenchResult": benched,
    "TieProfile": lambda given: dh.tie_profile(
        dh.Run(given.runs[next(iter(given.runs))], name=EVIL[0]), given.qrels, measures=custom(given)
    ),
    "Placements": lambda given: evaluation(given).placements,
    "GateResult": gated,
    "Explanation": lambda given: dh.explain(
        given.qrels, dh.Run(given.runs[next(iter(given.runs))], name=EVIL[0]), {"nDCG@3": 0.5, "MAP": 0.5, "P@1": 50}
    ),
    "Holes": lambda given: dh.holes(
        {query: dict(list(own.items())[:3]) for query, own in given.qrels.items()}, given.runs, "nDCG@3"
    ),
    "ItemProfile": lambda given: dh.item_profile(
        dh.Run(next(iter(given.runs.values())), name=EVIL[0] if given is WILD else "one"), given.qrels, cutoff=3
    ),
    "Exposure": lambda given: dh.exposure(
        dh.Run(next(iter(given.runs.values())), name=EVIL[0] if given is WILD else "one"), given.qrels
    ),
    "Agreement": lambda given: dh.agree(*(dh.Run(run, name=name) for name, run in list(given.runs.items())[:2])),
    "JudgeAgreement": lambda given: dh.judge_agreement(
        given.qrels, dh.Qrels(given.qrels, name=EVIL[0]), runs=given.runs
    ),
    "QrelsDiff": lambda given: dh.diff_qrels(
        dh.Qrels(given.qrels, name=EVIL[0]),
        {query: {**dict(list(own.items())[1:]), "new": 1} for query, own in list(given.qrels.items())[1:]},
        given.runs,
        "nDCG@3 RR",
    ),
    "History": lambda given: dh.history(
        [dh.evaluate(given.qrels, dh.Run(run, name=name), "RR") for name, run in given.runs.items()], n_resamples=99
    ),
    "Languages": languages,
    "Leaderboard": lambda given: dh.leaderboard(
        {
            EVIL[0] if given is WILD else "task": {
                name: dh.evaluate(given.qrels, run, "nDCG@3") for name, run in given.runs.items()
            }
        },
        n_resamples=99,
    ),
    "TunedFusion": lambda given: dh.tune_fusion(given.qrels, given.runs, "nDCG@3", grid={"k": [1, 60]}),
    "SystemOrders": lambda given: dh.compare(given.qrels, given.runs, "nDCG@3 RR").orders(),
    "Steps": lambda given: evaluation(given).steps(
        "nDCG@3", evaluation(given).query_ids[0], next(iter(given.runs.values()))
    ),
}
SAID: dict[tuple[str, bool], Any] = {}  # objects are made once


def made(name: str, given: Data) -> Any:  # noqa: ANN401 - of each class
    key = name, given is PLAIN
    if key not in SAID:
        with warnings.catch_warnings(action="ignore"):
            SAID[key] = MAKE[name](given)
    return SAID[key]


@pytest.fixture(params=MAKE)
def shown(request: pytest.FixtureRequest) -> Renderable:
    return made(request.param, PLAIN)


@pytest.fixture(params=MAKE)
def wild(request: pytest.FixtureRequest) -> Renderable:
    return made(request.param, WILD)


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def test_every_class_that_shows_itself_is_tried() -> None:
    def below(kind: type[Any]) -> Iterator[type[Any]]:
        for one in kind.__subclasses__():
            yield one
            yield from below(one)

    public = {name for name in MAKE if issubclass(getattr(dh, name), Renderable)}  # which imports them all
    assert {one.__name__ for one in below(Renderable) if one.__module__.startswith("deadheat.")} == public == set(MAKE)


@pytest.mark.slow
def test_repr_is_one_line_and_print_is_tables(shown: Renderable) -> None:
    assert "\n" not in repr(shown)
    assert repr(shown).startswith(f"<{type(shown).__name__} ")
    assert f"{shown}" == str(shown)
    assert len(str(shown).splitlines()) > 5
    assert re.search(r"─{10,}$", str(shown), re.MULTILINE)
    assert not re.search(r" --[a-z]", str(shown))  # which is for commands


@pytest.mark.slow
def test_text_keeps_the_width_of_the_terminal(shown: Renderable, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        assert shutil.get_terminal_size().columns == columns
        assert max(map(len, str(shown).splitlines())) <= columns


def test_html_is_a_harmless_piece_with_the_tables_of_the_text(shown: Renderable, wild: Renderable) -> None:
    for one in (shown, wild):
        root = read_html(one.to_html())
        check_harmless(root)
        assert one._repr_html_() == one.to_html()
        assert [part.name for part in root.parts if not isinstance(part, str)] == ["div"]
        tables = root.all("table")
        assert len(tables) == len(report_of(one).tables) > 0
        for table in tables:
            widths = {
                sum(int(cell.attributes.get("colspan", 1)) for cell in row.all("th", "td")) for row in table.all("tr")
            }
            assert len(widths) == 1
        assert not re.search(
            "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", one.to_html()
        )


def words(text: str) -> list[str]:
    """Return the numbers in a text as they are printed: in the order of their size, each once."""
    return sorted(set(re.findall(r"(?<![\w.])-?\d+\.\d{4}(?![\w.])", text.replace("\\", ""))))


def numbers_of(document: Any) -> Iterator[float]:  # noqa: ANN401 - what JSON holds
    if isinstance(document, dict | list):
        for one in document.values() if isinstance(document, dict) else document:
            yield from numbers_of(one)
    elif isinstance(document, float):
        yield document


DATA: dict[str, Callable[[Any], Report]] = {
    "Comparison": lambda shown: report_comparison(shown, qrels="qrels", for_people=False),
    "BenchResult": data_of_bench,
    "History": lambda shown: report_history(shown, for_people=False),
    "Leaderboard": lambda shown: report_leaderboard(shown, for_people=False),
}
"""Reports for programs, where they are others than those for people."""


def test_all_forms_have_the_numbers_of_json(shown: Renderable) -> None:
    made_of: Callable[[Any], Report] = DATA.get(type(shown).__name__, report_of)
    report = made_of(shown)
    known_numbers = {format_cell(number) for number in numbers_of(json.loads(as_json(report)))}
    text = words(str(shown))
    assert text or isinstance(shown, dh.Placements)  # whose numbers are whole
    html = " ".join(cell.text for cell in read_html(shown.to_html()).all("th", "td", "dd", "p"))
    assert text == words(shown.to_markdown()) == words(html)
    latex = "\n".join(line for line in shown.to_latex().splitlines() if not line.startswith("%"))
    assert set(words(latex)) <= set(text)
    # sentences have numbers without their sign ("worse by 0.1045"), and say how near a grid comes
    unsigned = {number.removeprefix("-") for number in known_numbers} | {"0.0001"}
    assert {number.removeprefix("-") for number in text} <= unsigned


def test_digits_are_those_that_are_asked_for(shown: Renderable) -> None:
    for write in (shown.to_markdown, shown.to_latex, shown.to_html):
        assert re.search(r"\d\.\d{7}\b", write(digits=7)) or not re.search(r"\d\.\d{4}\b", write())
        assert write() == write(digits=None)


def test_latex_and_markdown_of_evil_names_hold_nothing_raw(wild: Renderable) -> None:
    for text in (wild.to_latex(), wild.to_markdown(), str(wild)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "<script>" not in wild.to_markdown().replace("\\<", "")
    for line in wild.to_latex().splitlines():
        assert line.startswith("%") or not re.search(r"(?<!\\)[$#]", re.sub(r"\$[<>][\d.]+\$", "", line))


def test_pandas_has_the_frame_of_polars(shown: Renderable, wild: Renderable) -> None:
    for one in (shown, wild):
        frame, found = one.to_polars(), one.to_pandas()
        assert list(found.columns) == frame.columns
        assert len(found) == len(frame)
        for name in frame.columns:
            given = [
                None if isinstance(value, float) and math.isnan(value) else value for value in frame[name].to_list()
            ]
            assert [None if pd.isna(value) else value for value in found[name].tolist()] == given
            if frame[name].dtype.is_integer():
                assert found[name].dtype.name in {"int64", "Int64"}
            if frame[name].dtype.is_float():
                assert found[name].dtype.name == "float64"


def test_pandas_keeps_whole_numbers_beside_gaps() -> None:
    class Holed(Renderable):
        def to_polars(self) -> pl.DataFrame:
            schema = {"n": pl.Int64, "is_so": pl.Boolean, "word": pl.String, "x": pl.Float64, "nothing": pl.String}
            rows = [(2**60 + 1, True, "a", 0.5, None), (None, None, None, None, None)]
            return pl.DataFrame(rows, schema=schema, orient="row")

        def named_numbers(self) -> Any:  # noqa: ANN401 - none here
            return ()

    found = Holed().to_pandas()
    assert found["n"].tolist() == [2**60 + 1, pd.NA]
    assert [str(found[name].dtype) for name in ("n", "is_so", "x", "nothing")] == [
        "Int64",
        "boolean",
        "float64",
        "object",
    ]
    assert found["word"][0] == "a"
    assert pd.isna(found["word"][1])
    del Holed


@pytest.mark.slow
def test_pandas_that_is_not_installed_is_named(shown: Renderable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'deadheat\[pandas\]'"):
        shown.to_pandas()


def test_pyarrow_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert len(evaluation(PLAIN).to_pandas()) == 60


MLFLOW = re.compile(r"^[/\w.\- :]*$", re.ASCII)


def test_flat_names_are_accepted_and_numbers_exist(shown: Renderable, wild: Renderable) -> None:
    for one in (shown, wild):
        found = one.to_flat()
        assert found
        assert all(MLFLOW.match(name) and len(name) <= 250 for name in found)
        assert all(re.fullmatch(r"[_a-z][_a-z0-9]*(\.[_a-z][_a-z0-9]*)*", name) for name in found)
        assert all(type(number) is float and math.isfinite(number) for number in found.values())
        expected = [number for _, number in one.named_numbers() if number is not None and math.isfinite(number)]
        assert sorted(found.values()) == sorted(map(float, expected))


def test_flat_numbers_are_those_of_the_reports() -> None:
    ev = made("Evaluation", PLAIN)
    found, scores = ev.to_flat(), json.loads(as_json(report_of(ev)))["scores"]["one"]
    for name, slug in {"MAP": "map", "nDCG@3": "ndcg_at_3", "NumRelRet": "numrelret", "own": "own"}.items():
        assert found[slug] == scores[name]["value"]
        assert all(found[f"{slug}.{key}"] == scores[name][key] for key in ("tie_std", "tie_min", "tie_max"))
    assert found["n_queries"] == 12
    strata = made("Strata", PLAIN)
    nested = json.loads(as_json(report_of(strata)))["strata"]["one"]
    assert strata.to_flat()["level_low.ndcg_at_3.tie_max"] == nested["low"]["nDCG@3"]["tie_max"]
    assert strata.to_flat()["level_high.n_queries"] == nested["high"]["MAP"]["n_queries"] == 6
    profile = made("TieProfile", PLAIN)
    told = json.loads(as_json(report_profile(profile)))
    flat = profile.to_flat()
    assert flat["n_tied"] == told["n_tied"]
    assert flat["cut_at_3.share"] == told["cutoffs"]["3"]["share"]
    assert flat["map.share_of_error"] == told["measures"]["MAP"]["share_of_error"]
    assert flat["numrelret.tie_min"] == told["measures"]["NumRelRet"]["tie_min"]


def test_flat_names_of_a_comparison_have_the_pair() -> None:
    comparison = made("Comparison", PLAIN)
    found = comparison.to_flat()
    for pair in comparison.pairs:
        measure = {"MAP": "map", "nDCG@3": "ndcg_at_3", "P@1": "p_at_1", "own": "own"}.get(pair.measure, "numrelret")
        scale = pair.n_queries if measure == "numrelret" else 1
        name = f"{measure}.{pair.system}_vs_{pair.baseline}"
        assert found[f"{name}.difference"] == scale * pair.difference
        assert found[f"{name}.low"] == scale * pair.low
        assert found[f"{name}.p_adjusted"] == pair.p_adjusted
        assert found.get(f"{name}.flip_probability", math.nan) == pytest.approx(pair.flip_probability, nan_ok=True)
        mean = comparison.evaluations[pair.system][pair.measure]
        assert found[f"{measure}.{pair.system}"] == (mean.total if measure == "numrelret" else mean.mean)


def test_flat_margins_of_gates_are_positive_where_they_pass() -> None:
    result = made("GateResult", PLAIN)
    found = result.to_flat()
    assert found["map_gt_0_5.margin"] == result.checks[0].value - 0.5
    assert found["tie_std_ndcg_at_3_lt_0_5.margin"] == 0.5 - found["tie_std_ndcg_at_3_lt_0_5.value"]
    assert "map_gt_0_5.level_high.margin" in found
    assert "map_ge_baseline.margin" in found
    assert "map_gt_baseline_minus_0_1.margin" in found
    assert found["passed"] == float(result.passed)
    for check in result.checks:
        if not math.isnan(check.margin) and check.margin and not check.by and "cannot" not in check.reason:
            assert (check.margin > 0) == check.passed, check


@pytest.mark.slow
def test_flat_names_of_a_benchmark_have_retriever_and_language() -> None:
    result = made("BenchResult", PLAIN)
    found = result.to_flat()
    rows = {
        (row["language"], row["retriever"], row["measure"]): row for row in result.to_polars().iter_rows(named=True)
    }
    for (language, retriever, measure), row in rows.items():
        slug = {"P@1": "p_at_1"}.get(measure, measure.lower())
        scale = row["n_cases"] if measure == "num_ret" else 1
        assert found[f"mine.{language}.{retriever}.{slug}"] == pytest.approx(scale * row["mean"], abs=1e-12)
    assert "mine.en.two_vs_one.map.difference" in found


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, table, value in (("qrels", PLAIN.qrels, "relevance"), *((n, r, "score") for n, r in PLAIN.runs.items())):
        rows = [(query, doc, number) for query, docs in table.items() for doc, number in docs.items()]
        pl.DataFrame(rows, ["query_id", "doc_id", value], orient="row").write_parquet(f"{name}.parquet")
    PLAIN.queries.write_csv("queries.csv")
    return tmp_path


COMMANDS: dict[str, tuple[list[str], Callable[[], Renderable]]] = {
    "evaluate": (
        ["evaluate", "qrels.parquet", "one.parquet", "-m", " ".join(MEASURES)],
        lambda: dh.evaluate("qrels.parquet", "one.parquet", MEASURES),
    ),
    "strata": (
        [
            "evaluate",
            "qrels.parquet",
            "one.parquet",
            "-m",
            " ".join(MEASURES),
            "--queries",
            "queries.csv",
            "--by",
            "level",
        ],
        lambda: dh.evaluate("qrels.parquet", "one.parquet", MEASURES).by("level", "queries.csv"),
    ),
    "compare": (
        ["compare", "qrels.parquet", "one.parquet", "two.parquet", "-m", " ".join(MEASURES)],
        lambda: dh.compare("qrels.parquet", ["one.parquet", "two.parquet"], MEASURES),
    ),
    "ties": (
        ["ties", "one.parquet", "qrels.parquet", "-m", " ".join(MEASURES)],
        lambda: dh.tie_profile("one.parquet", "qrels.parquet", measures=MEASURES),
    ),
    "gate": (
        ["gate", "qrels.parquet", "one.parquet", "-c", "MAP > 0.5", "-c", "low(P@1) > 0.1"],
        lambda: dh.gate(dh.evaluate("qrels.parquet", "one.parquet", ["MAP", "P@1"]), ["MAP > 0.5", "low(P@1) > 0.1"]),
    ),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("name", COMMANDS)
def test_print_is_what_the_command_prints(name: str) -> None:
    command, make = COMMANDS[name]
    with warnings.catch_warnings(action="ignore"):
        lines = str(make()).splitlines()
        result = call(*command)
    assert result.exit_code in {0, 1}, result.output  # a gate may fail
    printed = [line for line in result.stdout.splitlines() if line]
    assert [line for line in lines if line] == printed


def test_a_loaded_evaluation_prints_as_the_one_that_was_saved(tmp_path: Path) -> None:
    ev = dh.evaluate(PLAIN.qrels, PLAIN.runs["one"], MEASURES)
    ev.save(tmp_path / "x.json", method="t")
    loaded = dh.load_evaluation(tmp_path / "x.json")
    assert str(loaded) == str(ev)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({"q": {"a": 1}}, {"q": {"a": 1.0}}),
        ({"q": {"a": 1}}, {"q": {"b": 1.0}}),
        ({"q": {"a": 0}}, {"q": {"a": 1.0}}),
        ({"q": {"a": 1}, "p": {"a": 1}}, {"q": {"a": 1.0}}),
    ],
    ids=["one query", "nothing judged", "nothing relevant", "missing"],
)
def test_small_data_shows_itself_too(qrels: dict[str, dict[str, int]], run: dict[str, dict[str, float]]) -> None:
    with warnings.catch_warnings(action="ignore"):
        ev = dh.evaluate(qrels, run, [*MEASURES, "FRP", "GMAP", "MR"])
        queries = pl.DataFrame({"query_id": list(qrels), "level": ["x"] * len(qrels)})
        objects = [
            ev,
            ev.placements,
            ev.by("level", queries),
            dh.compare(qrels, {"a": run, "b": run}, MEASURES, n_resamples=99),
            dh.tie_profile(run, qrels),
            dh.tie_profile(run),
            dh.gate(ev, ["MAP > 0.1", "FRP < 3"], baseline=ev),
        ]
    for one in objects:
        check_harmless(read_html(one.to_html()))
        assert str(one)
        assert one.to_latex()
        assert one.to_markdown()
        assert len(one.to_pandas()) == len(one.to_polars())
        assert all(map(math.isfinite, one.to_flat().values()))
    if not len(ev.placements.query):
        assert "WARNING" in str(ev)


def test_long_placements_say_what_they_leave_out() -> None:
    placements = made("Placements", PLAIN)
    assert len(placements.query) > 20
    assert f"the first 20 of {len(placements.query)}" in " ".join(str(placements).split())
    assert len(placements.to_polars()) == len(placements.query)


def test_reprs_of_small_values_have_sensible_digits() -> None:
    qrels = {f"q{n}": {"a": 1} for n in range(9)}
    good, tied = ({f"q{n}": {"a": score, "b": 1} for n in range(9)} for score in (2, 1))
    found = dh.compare(qrels, {"tied": tied, "good": good}, ["MRR"], baseline="tied", n_resamples=99)
    shown = repr(found.pairs)
    assert " = 0.2500 [0.2500, 0.2500]?, " in shown
    assert " p = 0.0039, " in shown
    interval = dh.evaluate(PLAIN.qrels, PLAIN.runs["one"], "nDCG@3")["nDCG@3"].interval("t")
    numbers = [f"{one:.4f}" for one in (interval.mean, interval.low, interval.high)]
    assert re.findall(r"\d\.\d+", repr(interval)) == numbers
    profile = made("TieProfile", PLAIN)
    assert (
        repr(profile.cuts[0])
        == f"Cut(cutoff=1, n_queries={profile.cuts[0].n_queries}, share={round(profile.cuts[0].share, 4)})"
    )
    assert all(
        len(repr(one)) < 120 and not re.search(r"\d\.\d{5}", repr(one))
        for one in (*profile.decided, *profile.decided[0].worst)
    )
    result = made("GateResult", PLAIN)
    assert all(not re.search(r"\d\.\d{6}", repr(check)) for check in result.checks)


@pytest.mark.slow
def test_what_shows_nothing_loads_nothing_for_it() -> None:
    code = (
        "import sys, deadheat as dh\n"
        "ev = dh.evaluate({'q': {'d': 1}}, {'q': {'d': 2.5, 'e': 2.5}})\n"
        "ev.means(); repr(ev); ev.to_polars()\n"
        "print(*sys.modules); print(ev, file=sys.stderr); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not {"rich", "pandas", "deadheat.core.report", "html", "scipy"} & before
    assert {"rich", "deadheat.core.report"} <= after
    assert "pandas" not in after
