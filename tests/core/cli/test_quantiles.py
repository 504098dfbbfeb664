"""deadheat evaluate --quantiles: each quantile with its interval, from their definitions, in every format."""

from __future__ import annotations

import csv
import io
import json
import math
import random
from pathlib import Path

import pytest

import deadheat as dh
from support.command import call, facts_of, names_in, ok

QUANTILES = (0.1, 0.5, 0.75)


def quantile_of(values: list[float], quantile: float) -> float:
    """Between two neighbours of the sorted values, as far as the quantile is."""
    place = quantile * (len(values) - 1)
    below = math.floor(place)
    above = min(below + 1, len(values) - 1)
    ordered = sorted(values)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def ends_of(values: list[float], quantile: float, level: float) -> tuple[float, float]:
    """The narrowest pair of ordered values that each end is beyond with half of what is left at most; else 0 and 1."""
    n, tail = len(values), (1 - level) / 2
    chances = [math.comb(n, k) * quantile**k * (1 - quantile) ** (n - k) for k in range(n + 1)]  # of k values below
    low, high = 0.0, 1.0
    for rank, value in enumerate(sorted(values), 1):
        if math.fsum(chances[:rank]) <= tail:
            low = value
    for rank, value in reversed([*enumerate(sorted(values), 1)]):
        if math.fsum(chances[rank:]) <= tail:
            high = value
    return low, high


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    draw = random.Random(4)
    for name in ("q.txt", "one.run", "two.run"):
        rows = [
            f"q{q} 0 d{d} {draw.randrange(3)}" if name == "q.txt" else f"q{q} Q0 d{d} 1 {draw.randrange(4)} t"
            for q in range(17)
            for d in range(6)
        ]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    return str(tmp_path / "q.txt"), str(tmp_path / "one.run"), str(tmp_path / "two.run")


@pytest.mark.parametrize("level", [0.95, 0.8])
def test_quantiles_are_those_of_their_definition(files: tuple[str, str, str], level: float) -> None:
    given = ",".join(map(str, QUANTILES))
    out = ok(
        "evaluate", *files, "-m", "RR nDCG@3", "--quantiles", given, "--confidence-level", level, "--format", "json"
    )
    found = json.loads(out)["quantiles"]
    assert found.keys() == {"one", "two"}
    for run, path in zip(found, files[1:], strict=True):
        evaluation = dh.evaluate(files[0], path, "RR nDCG@3")
        for measure in ("RR", "nDCG@3"):
            values = evaluation[measure].values.tolist()
            for quantile in QUANTILES:
                row = found[run][measure][str(quantile)]
                assert row["value"] == pytest.approx(quantile_of(values, quantile), abs=1e-12)
                assert (row["low"], row["high"]) == pytest.approx(ends_of(values, quantile, level), abs=1e-12)
                assert (row["n_queries"], row["ci_method"]) == (17, "binomial")
                in_python = evaluation[measure].quantile(quantile, confidence_level=level)
                assert (in_python.value, in_python.low, in_python.high) == (row["value"], row["low"], row["high"])
                assert row["known"] == in_python.is_known


def test_every_format_has_them(files: tuple[str, str, str]) -> None:
    command = ("evaluate", *files, "-m", "RR", "--quantiles", "0.5 0.1")
    rows = list(csv.DictReader(io.StringIO(ok(*command, "--format", "csv", "--table", "quantiles"))))
    assert [(row["run"], row["measure"], row["quantile"]) for row in rows] == [
        (run, "RR", quantile) for run in ("one", "two") for quantile in ("0.1", "0.5")
    ]
    median = dh.evaluate(*files[:2], "RR")["RR"].quantile(0.5)
    assert [float(rows[1][name]) for name in ("value", "low", "high")] == [median.value, median.low, median.high]
    for form in ("table", "markdown", "html", "latex"):
        out = ok(*command, "--format", form)
        assert "Quantiles over queries" in out
        assert f"{median.value:.4f}" in out
    facts = facts_of(*command, "--full")
    assert "exact (binomial)" in facts["quantiles"]
    assert "too few for the low end" in facts["?"]
    assert "(quantile 0.1 of RR of one" in facts["?"]


def test_quantiles_of_strata_and_of_counts(files: tuple[str, str, str], tmp_path: Path) -> None:
    table = tmp_path / "queries.csv"
    table.write_text("query_id,kind\n" + "".join(f"q{n},{'odd' if n % 2 else 'even'}\n" for n in range(17)))
    command = ("evaluate", *files[:2], "-m", "NumRelRet@3 NumQ RR", "--quantiles", ".5")
    out = json.loads(ok(*command, "--queries", table, "--by", "kind", "--format", "json"))["quantiles"]["one"]
    scores = dh.evaluate(*files[:2], "NumRelRet@3 RR").by("kind", table)
    for kind, part in scores.items():
        assert out[kind].keys() == {"NumRelRet@3", "RR"}  # the number of queries is that of none of them
        for name, rows in out[kind].items():
            assert rows["0.5"]["value"] == pytest.approx(quantile_of(part[name].values.tolist(), 0.5), abs=1e-12)


@pytest.mark.plugins("columns")
@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--quantiles", "1.5"), ["--quantiles", "1.5"]),
        (("--quantiles", "0,0.5"), ["--quantiles", "0,0.5"]),
        (("--quantiles", "median"), ["--quantiles", "median"]),
        (("--quantiles", "nan"), ["--quantiles", "nan"]),
        (("--quantiles", ""), ["--quantiles", ""]),
        (("--quantiles", "0.5", "--format", "trec"), ["--format", "--quantiles"]),
        (("--quantiles", "0.5", "--cluster", "doc", "--ci"), ["--quantiles", "--cluster"]),
        (("--quantiles", "0.5", "--ci-method", "t"), ["--ci-method", "--ci"]),
        (("--quantiles", "0.5", "--score-columns", "all"), ["--quantiles", "--columns"]),
        (("--table", "quantiles", "--format", "csv"), ["--table"]),
    ],
)
def test_what_cannot_be_given_is_refused(
    files: tuple[str, str, str], options: tuple[str, ...], names: list[str]
) -> None:
    result = call("evaluate", *files[:2], "-m", "RR", *options)
    assert result.exit_code == 2
    assert names_in(result.stderr) == names
