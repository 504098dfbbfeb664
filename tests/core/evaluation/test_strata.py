"""Strata: every number against a group-by of the scores of queries, joined with the table by hand."""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
import scipy

import deadheat as dh
from deadheat.core.evaluation.stratum import NONE, label
from deadheat.core.evaluation.stratum_places import groups
from deadheat.errors import ColumnError, DataError, DeadheatError, DeadheatWarning, ParameterError
from support.command import names_in
from support.error_parts import raises_parts
from support.shared_data import hpo_qrels, hpo_run, needs_shared_data, qrels_dict, run_dict

if TYPE_CHECKING:
    from deadheat import Strata

N_QUERIES = 60
MEASURES = ["nDCG@3", "RR", "FRP"]


@cache
def case() -> dh.Evaluation:
    """Evaluate random scores of three levels: most queries have ties, and a few have no value for FRP."""
    rng = np.random.default_rng(5)
    names = [f"q{n:02}" for n in range(N_QUERIES)]
    qrels = {query: {f"d{n}": int(rng.integers(0, 3)) for n in range(8)} for query in names}
    run = {query: {f"d{n}": float(rng.integers(0, 3)) for n in range(8)} for query in names[3:]}
    return dh.evaluate(qrels, run, MEASURES, missing="empty")


def table() -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for n in range(N_QUERIES):
        language = "de" if n < 35 else "en" if n < 55 else "fr"
        difficulty = None if n % 20 == 7 else ("easy", "hard")[n % 2]
        found[f"q{n:02}"] = {"language": language, "difficulty": difficulty, "document": f"doc{n // 4}"}
    return found


def joined(*columns: str) -> pl.DataFrame:
    """Join the scores of queries with the table, without a look at strata."""
    labels = pl.DataFrame([{"query_id": query, **row} for query, row in table().items()])
    rows = case().to_polars().join(labels.select("query_id", *columns), on="query_id")
    return rows.with_columns(pl.col(columns).fill_null(NONE))


def quietly(*columns: str, smallest: int = 10) -> Strata:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dh.DeadheatWarning)
        return case().by(columns, table(), smallest=smallest)


def test_one_column_gives_strata_by_text() -> None:
    strata = case().by("language", queries=table())
    assert list(strata) == ["de", "en", "fr"]
    assert repr(strata).endswith(" by language: de: 35; en: 20; fr: 5>")
    assert strata.columns == ("language",)
    assert strata.whole is case()
    assert strata.small == ("fr",)
    assert strata.unassigned == ()
    assert {part.name for part in strata.values()} == {"run"}
    assert strata["fr"].query_ids.tolist() == [f"q{n}" for n in range(55, 60)]
    assert strata["de"].missing_queries == ("q00", "q01", "q02")
    assert strata["en"].missing_queries == ()
    assert "nl" not in strata
    with pytest.raises(KeyError):
        strata["nl"]


@pytest.mark.parametrize("columns", [("language",), ("difficulty",), ("language", "difficulty")])
def test_the_summary_is_a_group_by(columns: tuple[str, ...]) -> None:
    expected = (
        joined(*columns)
        .group_by(*columns, "measure")
        .agg(
            n_queries=pl.col("value").count(),
            mean=pl.col("value").mean(),
            standard_error=pl.col("value").std() / pl.col("value").count().sqrt(),
            tie_std=pl.col("tie_std").pow(2).sum().sqrt() / pl.col("value").count(),
            tie_min=pl.col("tie_min").mean(),
            tie_max=pl.col("tie_max").mean(),
        )
        .with_columns(is_small=pl.col("n_queries") < 10)
    )
    half = pl.Series(
        [scipy.stats.t.ppf(0.95, n - 1) if n > 1 else None for n in expected["n_queries"]], dtype=pl.Float64
    )
    expected = expected.with_columns(
        low=pl.col("mean") - half * pl.col("standard_error"), high=pl.col("mean") + half * pl.col("standard_error")
    )
    found = quietly(*columns).summary("t", confidence_level=0.9)
    assert found.columns[: len(columns) + 5] == [*columns, "measure", "n_queries", "mean", "low", "high"]
    assert found.schema["n_queries"] == pl.Int64
    both = found.join(expected, on=[*columns, "measure"], suffix="_expected")
    assert len(both) == len(found) == len(expected)
    for name in ("n_queries", "mean", "low", "high", "standard_error", "tie_std", "tie_min", "tie_max", "is_small"):
        left, right = both[name], both[f"{name}_expected"]
        assert left.is_null().to_list() == right.is_null().to_list()
        np.testing.assert_allclose(left.drop_nulls(), right.drop_nulls(), rtol=0, atol=1e-12)


def test_a_stratum_of_one_query_has_no_interval() -> None:
    strata = case().by("alone", {query: {"alone": "yes" if query == "q10" else "no"} for query in table()})
    (row,) = strata.summary("t").filter(alone="yes", measure="RR").rows(named=True)
    assert row["mean"] == case().to_dict()["q10"]["RR"]
    assert (row["n_queries"], row["low"], row["high"], row["standard_error"]) == (1, None, None, None)
    assert row["is_small"]
    assert strata.small == ("yes",)
    # q00 is missing: it has no value for FRP
    alone = case().by("alone", {query: {"alone": "yes" if query == "q00" else "no"} for query in table()})
    (row,) = alone.summary("t").filter(alone="yes", measure="FRP").rows(named=True)
    assert (row["n_queries"], row["mean"], row["low"]) == (0, None, None)


def test_intervals_are_those_of_the_queries_of_a_stratum() -> None:
    strata = case().by("language", table())
    found = strata.intervals(method="bca", n_resamples=2000, rng=1)["en"]["RR"]
    values = joined("language").filter(language="en", measure="RR")["value"].to_numpy()
    resampled = scipy.stats.bootstrap((values,), np.mean, n_resamples=20_000, method="BCa", random_state=3)
    low, high = resampled.confidence_interval
    assert math.isclose(found.low, low, abs_tol=0.02)
    assert math.isclose(found.high, high, abs_tol=0.02)
    assert found.n_queries == len(values) == 20


def test_clusters_come_from_the_same_table() -> None:
    strata = case().by("language", table())
    found = strata.intervals(method="t", cluster="document")["en"]["RR"]
    rows = joined("language", "document").filter(language="en", measure="RR")
    sums = rows.group_by("document").agg(pl.col("value").sum(), n=pl.len())
    n_clusters, mean = len(sums), rows["value"].mean()
    assert isinstance(mean, float)
    residuals = (sums["value"] - sums["n"] * mean).to_numpy()
    error = math.sqrt(n_clusters / (n_clusters - 1) * (residuals**2).sum()) / len(rows)
    assert found.n_clusters == n_clusters == 6
    assert math.isclose(found.standard_error, error, rel_tol=1e-12)
    same = strata.summary("t", cluster={query: row["document"] for query, row in table().items()})
    assert same.filter(language="en", measure="RR")["standard_error"].item() == found.standard_error
    with pytest.raises(ParameterError, match="name the column"):
        strata.intervals(queries=table())
    assert strata.summary("t", cluster="document").equals(same)
    whole = case()["RR"].interval("t", cluster="document", queries=table())
    assert whole.n_clusters == 15


def test_averages() -> None:
    rows = joined("language")
    averages = case().by("language", table()).averages()
    assert averages.columns == ["measure", "micro", "macro", "n_strata", "variance", "std", "lowest", "highest"]
    assert averages["measure"].to_list() == MEASURES
    for found in averages.rows(named=True):
        own = rows.filter(measure=found["measure"]).drop_nulls("value")
        means = {key[0]: part["value"].to_numpy().mean() for key, part in own.group_by("language")}
        values = np.array(list(means.values()))
        assert math.isclose(found["micro"], own["value"].to_numpy().mean(), rel_tol=1e-12)
        assert math.isclose(found["macro"], np.mean(values), rel_tol=1e-12)
        assert math.isclose(found["variance"], np.var(values), rel_tol=1e-9)  # as source 3 does
        assert math.isclose(found["std"], np.std(values), rel_tol=1e-9)
        assert found["n_strata"] == 3
        assert (means[found["lowest"]], means[found["highest"]]) == (values.min(), values.max())


def test_queries_without_a_stratum_count_in_micro_only() -> None:
    strata = quietly("difficulty")
    assert list(strata) == ["easy", "hard", NONE]
    assert strata.unassigned == ("q07", "q27", "q47")
    assert len(strata[NONE].query_ids) == 3
    rows = joined("difficulty").filter(measure="RR")
    (found,) = strata.averages().filter(measure="RR").rows(named=True)
    means = [rows.filter(difficulty=key)["value"].mean() for key in ("easy", "hard")]
    assert math.isclose(found["micro"], case()["RR"].mean, rel_tol=1e-12)
    assert math.isclose(found["macro"], np.mean(means), rel_tol=1e-12)  # type: ignore[arg-type]
    assert found["n_strata"] == 2
    with pytest.warns(dh.DeadheatWarning, match=r"3 of 60 .*\(q07, q27, q47\) .* difficulty"):
        case().by("difficulty", table(), pool_languages=True)


def test_crossed_strata_are_tuples_of_what_occurs() -> None:
    strata = quietly("language", "difficulty")
    keys = sorted({(row["language"] or "", row["difficulty"] or NONE) for row in table().values()})
    assert sorted(strata) == keys
    assert list(strata)[:4] == [("de", "easy"), ("de", "hard"), ("de", NONE), ("en", "easy")]
    assert ("fr", NONE) not in strata
    assert sum(len(part.query_ids) for part in strata.values()) == N_QUERIES
    assert strata.unassigned == ("q07", "q27", "q47")
    assert label(("de", "easy")) == "de, easy"


def test_averages_within_a_language() -> None:
    averages = quietly("language", "difficulty").averages("language")
    assert averages.columns[:2] == ["language", "measure"]
    rows = joined("language", "difficulty")
    for found in averages.rows(named=True):
        own = rows.filter(language=found["language"], measure=found["measure"]).drop_nulls("value")
        means = {
            difficulty: own.filter(difficulty=difficulty)["value"].mean()
            for difficulty in ("easy", "hard")
            if difficulty in own["difficulty"]
        }
        values = np.array(list(means.values()))
        assert math.isclose(found["micro"], own["value"].to_numpy().mean(), rel_tol=1e-12)
        assert math.isclose(found["macro"], values.mean(), rel_tol=1e-12)
        assert math.isclose(found["variance"], np.var(values), abs_tol=1e-12)
        assert means[found["lowest"]] == values.min()


def test_one_stratum_has_no_variance() -> None:
    averages = case().by("all", {query: {"all": "yes"} for query in table()}).averages()
    assert averages["variance"].to_list() == averages["std"].to_list() == [None] * 3
    assert averages["n_strata"].to_list() == [1, 1, 1]
    with pytest.warns(dh.DeadheatWarning, match="59 of 60 queries"):
        nobody = case().by("all", {"q00": {"all": "yes"}})  # it has no value for FRP
    assert nobody.averages().filter(measure="FRP").rows()[0][2:] == (None, 0, None, None, None, None)


@pytest.mark.plugins("compare")
def test_languages_are_not_averaged_silently() -> None:
    message = (
        r"strata by difficulty average over queries in 3 languages \(de, en, fr\): pass"
        r" columns=\['language', 'difficulty'\] to keep them apart, or pool_languages=True if that is intended"
    )
    complete = {query: {**row, "difficulty": row["difficulty"] or "easy"} for query, row in table().items()}
    with pytest.warns(dh.DeadheatWarning, match=message) as caught:
        case().by("difficulty", complete)
    assert caught[0].filename == __file__
    qrels, run = {query: {"a": 1} for query in table()}, {query: {"a": 1.0} for query in table()}
    comparison = dh.compare(qrels, {"one": run, "two": run}, "RR", test="t", method="t")
    with pytest.warns(dh.DeadheatWarning, match=message) as caught:
        comparison.by("difficulty", complete)
    assert caught[0].filename == __file__
    for quiet in ({"pool_languages": True}, {}):
        columns = ["document"] if quiet else ["document", "language"]
        case().by(columns, table(), **quiet)
    one = {query: {**row, "language": "de"} for query, row in table().items()}
    case().by("document", one)
    case().by("document", {query: {"document": row["document"]} for query, row in table().items()})


def test_groups_are_places_for_others() -> None:
    places = groups(["q00", "q59", "q01"], "language", table())
    assert {key: own.tolist() for key, own in places.items()} == {"de": [0, 2], "fr": [1]}
    with pytest.warns(dh.DeadheatWarning, match="languages"):
        groups(["q00", "q59"], "document", table())


@pytest.mark.parametrize(
    ("columns", "options", "error", "parts"),
    [
        ("langauge", {}, ColumnError, {"match": "'langauge'", "hint": "Did you mean 'language'?"}),
        ([], {}, ParameterError, {"argument": "columns", "given": []}),
        (["language", "language"], {}, ParameterError, {"argument": "columns", "given": ["language", "language"]}),
        ("language", {"smallest": -1}, ParameterError, {"argument": "smallest", "given": -1}),
        ("language", {"smallest": True}, ParameterError, {"argument": "smallest", "given": True}),
        ("mean", {}, ColumnError, {"match": "stratum column 'mean'"}),
    ],
)
def test_what_is_refused(
    columns: str, options: dict[str, Any], error: type[DeadheatError], parts: dict[str, Any]
) -> None:
    rows = {query: {**row, "mean": "x"} for query, row in table().items()}
    with raises_parts(error, **parts):
        case().by(columns, rows, **options)


def test_a_table_of_other_queries_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        case().by("language", {str(n): {"language": "de"} for n in range(1, 9)})
    assert names_in(str(caught.value)) == ["q00", "q01", "q02", "1", "2", "3"]


def test_averages_within_what() -> None:
    with raises_parts(ParameterError, argument="within", given="difficulty"):
        case().by("language", table()).averages("difficulty")
    with raises_parts(ParameterError, argument="within", given="document", allowed=("language", "difficulty")):
        quietly("language", "difficulty").averages("document")


def test_counts_and_skipped_queries_are_those_of_the_stratum() -> None:
    qrels = {f"q{n}": {"a": int(n < 3)} for n in range(6)}
    run = {f"q{n}": {"a": 1.0, "b": float(n % 2)} for n in range(5)}
    labels = {f"q{n}": {"part": "x" if n < 4 else "y"} for n in range(6)}
    evaluation = dh.evaluate(qrels, run, ["NumRelRet", "RR"], missing="skip", no_relevant="skip")
    strata = evaluation.by("part", labels)
    assert [part.query_ids.tolist() for part in strata.values()] == [["q0", "q1", "q2", "q3"], ["q4"]]
    assert strata["x"]["NumRelRet"].total == 3
    assert strata["x"]["RR"].n_queries == 3
    assert strata["y"]["RR"].n_queries == 0
    assert strata.averages().filter(measure="RR")["n_strata"].item() == 1


@pytest.mark.slow
@needs_shared_data
def test_languages_of_real_runs() -> None:
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for language in ("de", "en"):
        qrels |= {f"{language}-{query}": docs for query, docs in qrels_dict(hpo_qrels(language)).items()}
        run |= {f"{language}-{query}": docs for query, docs in run_dict(hpo_run(f"{language}.minilm-2dec")).items()}
    rows = {query: {"lang": query[:2], "set": query[3:].split("-")[0]} for query in qrels}
    strata = dh.evaluate(qrels, run, ["nDCG@10", "RR"]).by(["lang", "set"], dh.Queries(rows))
    for language in ("de", "en"):
        alone = dh.evaluate(hpo_qrels(language), hpo_run(f"{language}.minilm-2dec"), ["nDCG@10", "RR"])
        by_set = alone.to_polars().with_columns(set=pl.col("query_id").str.extract("^([a-z0-9]+)-"))
        for (name, measure), part in by_set.group_by("set", "measure"):
            found = strata[language, str(name)][str(measure)]
            assert math.isclose(found.mean, part["value"].to_numpy().mean(), rel_tol=1e-12)
            assert math.isclose(found.mean_tie_max, part["tie_max"].to_numpy().mean(), rel_tol=1e-12)
        (row,) = strata.averages("lang").filter(lang=language, measure="RR").rows(named=True)
        assert math.isclose(row["micro"], alone["RR"].mean, rel_tol=1e-12)
    assert strata.small == (("de", "tiny"), ("en", "tiny"))


@pytest.mark.parametrize(
    "expected",
    [
        ["easy", "medium", "hard", NONE],
        ["low", "medium", "high"],
        ["very easy", "easy", "moderate", "difficult", "very hard"],
        ["Easy", "Medium", "Hard"],
        ["-2", "0.5", "2", "10", "10.5", "100"],
        ["k1", "k2", "k10", "k10b", "k" + "9" * 5000, "k1" + "0" * 5000],
        ["easy", "3", "complex", "exact_match", NONE],
        ["2024-01-09", "2024-01-10", "2024-02-01"],
    ],
)
def test_strata_are_in_the_order_that_their_values_have(expected: list[str]) -> None:
    rng = np.random.default_rng(0)
    values = rng.permutation(np.array(expected, dtype=object)).tolist()
    ids = [f"q{number}" for number in range(len(values))]
    queries = pl.DataFrame({"query_id": ids, "level": [None if value == NONE else value for value in values]})
    run = {query: {"d": 1.0} for query in ids}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeadheatWarning)  # queries without a value
        strata = dh.evaluate({query: {"d": 1} for query in ids}, run, "RR").by("level", queries)
    assert list(strata) == expected
    assert strata.summary()["level"].to_list() == expected


@pytest.mark.parametrize("ties", ["expected", "best"])
def test_split_is_select_of_each_set(ties: str) -> None:
    """Empty sets, repeated queries and other orders too; measures make the same of the placements."""
    rng = np.random.default_rng(3)
    qrels = {f"q{n}": {f"d{doc}": int(rng.integers(0, 3)) for doc in range(6)} for n in range(12)}
    run = {query: {f"d{doc}": float(rng.integers(0, 3)) for doc in range(8)} for query in [*qrels][2:]}
    evaluation = dh.evaluate(qrels, run, ["nDCG@3", "AP", "bpref"], ties=ties)
    sets = [np.array(places, np.int64) for places in ([3, 0, 7], [], [1], [5, 5, 2], [11])]
    for places, part in zip(sets, evaluation.split(sets), strict=True):
        alone = evaluation.select(places)
        assert part.missing_queries == alone.missing_queries
        assert part.query_ids.tolist() == alone.query_ids.tolist() == [evaluation.query_ids[n] for n in places]
        assert part.to_dict() == alone.to_dict()
        assert part.placements.to_polars().equals(alone.placements.to_polars())
        for measure in evaluation.measures:
            for found in (part.placements, part.placements.before or part.placements):
                assert measure.mean(found).tolist() == measure.mean(evaluation.placements)[places].tolist()
            assert part.placements.n_relevant(1).tolist() == evaluation.placements.n_relevant(1)[places].tolist()
