"""What a command takes, its function in Python takes: by the same name, or where this file says."""

from __future__ import annotations

import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import deadheat as dh
from deadheat import registry
from deadheat.errors import DeadheatError, ParameterError
from deadheat.plugins.gates.notation import preset_gates, read_settings
from support.command import command as command_of, ok
from support.error_parts import raises_parts
from support.small_bench import CASES, DOCUMENTS, known

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "evaluate": (dh.evaluate,),
    "compare": (dh.compare, dh.Comparison.orders),
    "fuse": (dh.fuse, dh.tune_fusion, dh.evaluate),
    "agree": (dh.agree, dh.agree_systems),
    "leaderboard": (dh.leaderboard,),
    "gate": (dh.gate,),
    "rescore": (dh.Evaluation.rescored, dh.evaluate),
    "diff": (dh.diff_qrels, dh.evaluate),
    "ties": (dh.tie_profile,),
    "steps": (dh.Evaluation.steps, dh.evaluate),
    "explain": (dh.explain,),
    "history": (dh.history,),
    "holes": (dh.holes,),
    "judges": (dh.judge_agreement,),
    "items": (dh.item_profile, dh.exposure),
    "simulate": (dh.coarsening_profile, dh.simulate_rerankers, dh.simulate_scenarios),
    "bench": (dh.bench,),
}
WITHOUT = {  # commands that are no function, and what they are in Python
    "report": "to_html(full=True) of evaluations, comparisons and benchmarks",
    "trec_eval": "the drop-in for the tool itself; deadheat.compat has it for Python",
    "measures": "dh.measures() and help()",
    "convert": "files to files",
    "validate": "a check of files; dh.read_cases() and what Polars does",
    "schema": "files of the package, about the JSON of commands",
    "plugins": "what is installed; deadheat.api.third_party_plugins() has those of other distributions",
    "demo": "data of the package",
}
RENAMED = {
    "notations": "measures",
    "seed": "rng",
    "texts": "reported",
    "train": "popularity",
    "similarity": "kind",
    "files": "evaluation",
    "saved": "self",
    "presets": "rerankers",
    "coarsen": "runs",
}
SHOWN = {  # how something is printed, drawn or written, which methods of the results do
    *(
        "form",
        "output",
        "digits",
        "table",
        "compact",
        "full",
        "per_query",
        "sort",
        *("no_title", "figure_width"),
        "figures",
        "figure_names",
        "figure_format",
        "save",
        "judge",
        "force",
        *("target", "to_format"),
    ),
    *("quiet", "verbose", "debug", "help_all", "list_presets"),
}
ELSEWHERE: dict[str, tuple[Callable[..., Any], str]] = {
    "columns": (dh.Run, "columns"),
    "doc_id_of": (dh.Run, "doc_id_of"),
    "file_formats": (dh.Run, "format"),
    "fuse tune": (dh.tune_fusion, "measure"),
    "grades": (dh.read_judgments, "grades"),
    "decimal": (dh.decimal, "mark"),
    "encoding": (dh.encoding, "name"),
    "normalize_ids": (dh.Run.normalized, "form"),
    "exclude": (dh.evaluate, "exclude"),  # whose result has the judgments and the run that remain
    "max_memory": (dh.max_memory, "n_bytes"),
    **{f"evaluate {name}": (dh.Evaluation.save, name) for name in ("save_depth", "label", "commit")},
    "replace": (dh.Evaluation.save, "replace"),
    "evaluate beside": (dh.tie_profile, "beside"),
    "repeats": (dh.Repeats, "runs"),
    "spans": (dh.Spans, "source"),
    **{name: (dh.Spans, name) for name in ("overlap", "overlap_of", "documents")},
    "evaluate score_columns": (dh.evaluate_columns, "columns"),
    "evaluate by": (dh.Evaluation.by, "columns"),
    "evaluate pool_languages": (dh.Evaluation.by, "pool_languages"),
    "evaluate quantiles": (dh.Scores.quantile, "quantile"),
    "evaluate ci": (dh.Evaluation.intervals, "options"),
    **{
        f"evaluate {name}": (dh.Scores.interval, name)
        for name in ("confidence_level", "method", "n_resamples", "cluster", "queries")
    },
    "bench ascending": (dh.Run, "ascending"),  # of retrievers that are runs
    "diff documents": (dh.diff_qrels, "collection"),
    "compare judgments": (dh.compare_evaluations, "judgments"),
    "compare by": (dh.Comparison.by, "columns"),
    "compare pool_languages": (dh.Comparison.by, "pool_languages"),
    "compare queries_worst": (dh.Comparison.queries, "n"),
    "compare ranks": (dh.Comparison.rank_intervals, "confidence_level"),
    "compare orders": (dh.Comparison.orders, "p"),
    "agree runs": (dh.agree, "other"),
    "history saved": (dh.history, "source"),
    "judges by": (dh.JudgeAgreement.by, "columns"),
    "judges queries": (dh.JudgeAgreement.by, "queries"),
    "simulate files": (dh.coarsening_profile, "runs"),
    "gate preset": (preset_gates, "name"),
    "gate config": (read_settings, "path"),
    **{
        f"gate {name}": (dh.evaluate, name)
        for name in (
            *("ties", "missing", "no_relevant", "rel", "judged_only", "depth", "unjudged", "unjudged_max_rel"),
            *("score_precision", "then_by", "ascending", "duplicates", "weights"),
        )
    },
    **{f"bench {name}": (dh.read_cases, name) for name in ("id_pattern", "language")},
    "bench input_format": (dh.read_cases, "format"),
    "bench columns": (dh.read_cases, "columns"),
    **{f"bench {name}": (dh.LLM, name) for name in ("endpoint", "model", "api_key_env", "prompt")},
    "bench yes": (dh.bench, "confirm"),
    "ties listed": (dh.tie_orders, "scores"),
}
ENGINES = {"engine", "spark_master", "spark_conf"}  # functions take the frame of an engine as a run


def options() -> list[tuple[str, str]]:
    commands = {name: command_of(name) for name in registry.ORDER_OF_COMMANDS}
    assert set(commands) == {*COMMANDS, *WITHOUT}
    return [
        (name, str(one.name))
        for name, command in commands.items()
        if name in COMMANDS
        for one in command.params
        if one.name not in SHOWN | ENGINES
    ]


@pytest.mark.parametrize(("command", "option"), options())
def test_what_a_command_takes_the_function_takes(command: str, option: str) -> None:
    taken = {name for one in COMMANDS[command] for name in inspect.signature(one).parameters}
    names = {option, option.removesuffix("s"), RENAMED.get(option, option)}
    if names & taken:
        return
    function, name = ELSEWHERE.get(f"{command} {option}") or ELSEWHERE[option]
    assert name in inspect.signature(function).parameters


def test_nothing_is_said_to_be_elsewhere_that_is_not_asked_for() -> None:
    asked = {f"{command} {option}" for command, option in options()} | {option for _, option in options()}
    assert set(ELSEWHERE) <= asked
    assert set(RENAMED) <= asked


evaluate: Any = dh.evaluate  # of one run or of several
QRELS = {f"q{q}": {f"d{d}": (q + d) % 3 for d in range(5)} for q in range(12)}
NEAR = {f"q{q}": {f"d{d}": (q * d) % 4 + 0.5 for d in range(6)} for q in range(12)}
FAR = {query: {doc: -score for doc, score in own.items()} for query, own in NEAR.items()}
FIRST = {f"q{q}": {f"d{d}": float((q + 2 * d) % 5) for d in range(6)} for q in range(12)}


@pytest.mark.parametrize(
    "function",
    [
        lambda run, **options: evaluate(QRELS, run, "RR nDCG@3", **options).to_dict(),
        lambda run, **options: {
            name: one.to_dict() for name, one in evaluate(QRELS, {"a": run, "b": run}, "RR", **options).items()
        },
        lambda run, **options: dh.compare(QRELS, {"a": run, "b": FIRST}, "RR", **options).evaluations["a"].to_dict(),
        lambda run, **options: dh.agree(run, run, **options).means(),
        lambda run, **options: str(dh.tie_profile(run, QRELS, measures="RR", **options)),
        lambda run, **options: dh.explain(QRELS, run, {"RR": 0.5}, **options).matches,
        lambda run, **options: dh.holes(QRELS, {"a": run}, "RR", **options).documents.rows(),
        lambda run, **options: dh.item_profile(run, **options).means(),
        lambda run, **options: [row.value for row in dh.coarsening_profile(QRELS, run, "RR", **options).rows],
    ],
)
def test_lower_scores_rank_first_where_they_are_asked_to(function: Callable[..., Any]) -> None:
    wanted = function(NEAR)
    found = function(FAR, ascending=True)
    if isinstance(wanted, str):
        assert (
            re.sub(r"-?[\d.]+ \(\d+\)|lower scores.*", "", found).split()[:40]
            == re.sub(r"-?[\d.]+ \(\d+\)", "", wanted).split()[:40]
        )
        return
    assert found == wanted
    with raises_parts(ParameterError, argument="ascending", given=True, hint="write Run(..., ascending=True)"):
        function(dh.Run(FAR), ascending=True)


@pytest.mark.parametrize("key", [FIRST, dh.Run(FIRST, name="first"), [FIRST, NEAR]])
def test_ties_are_ordered_by_other_runs(key: Any) -> None:  # noqa: ANN401 - a run or several
    wanted = {name: dh.evaluate(QRELS, run, "RR AP", then_by=key).to_dict() for name, run in (("a", NEAR), ("b", FAR))}
    found = dh.compare(QRELS, {"a": NEAR, "b": FAR}, "RR AP", then_by=key)
    assert {name: one.to_dict() for name, one in found.evaluations.items()} == wanted
    alone = dh.compare(QRELS, {"a": NEAR}, "RR AP", then_by=key)
    plain, ordered = alone.evaluations.values()
    assert (plain.to_dict(), ordered.to_dict()) == (dh.evaluate(QRELS, NEAR, "RR AP").to_dict(), wanted["a"])
    profile = dh.tie_profile(NEAR, QRELS, measures="RR AP", then_by=key)
    assert [one.mean for one in profile.decided] == [
        pytest.approx(dh.evaluate(QRELS, NEAR, name, then_by=key).means()[name]) for name in ("RR", "AP")
    ]


def test_a_margin_and_what_is_to_be_detected_are_shown(tmp_path: Path) -> None:
    """As the command shows them."""
    found = dh.compare(QRELS, {"a": NEAR, "b": FIRST}, "RR", margin=0.1, detect=0.2)
    text = str(found)
    assert "No worse by a margin of 0.1" in text
    assert "To detect 0.2 " in text
    evaluations = evaluate(QRELS, {"a": NEAR, "b": FIRST}, "RR")
    assert "No worse by a margin of 0.1" in str(dh.compare_evaluations(evaluations, margin=0.1))
    for wrong in ({"margin": 0}, {"detect": -1}, {"detect": float("nan")}):
        with pytest.raises(ParameterError, match="must be a number above 0"):
            dh.compare(QRELS, {"a": NEAR, "b": FIRST}, "RR", **wrong)
    for name, table in (("qrels", QRELS), ("a", NEAR), ("b", FIRST)):
        (tmp_path / f"{name}.json").write_text(json.dumps(table))
    files = [tmp_path / f"{name}.json" for name in ("qrels", "a", "b")]
    out = ok("compare", *files, "-m", "RR", "--margin", "0.1", "--detect", "0.2")
    assert [line for line in out.splitlines() if "0.2 with a power" in line] == [
        line for line in text.splitlines() if "0.2 with a power" in line
    ]
    rows, others = (re.findall(r"[\d.]+", one[one.index("To detect") :].partition("\n\n")[0]) for one in (text, out))
    assert rows == others


def test_measures_of_a_benchmark_may_be_one_text() -> None:
    options = {"n_resamples": 99}
    for measures in ("RR Hit@2", ["RR Hit@2"], ["RR", "Hit@2"], (dh.RR, dh.Hit @ 2)):
        result = dh.bench(CASES, DOCUMENTS, {"known": known}, measures, **options)  # type: ignore[arg-type]
        assert [str(one) for one in result.measures] == ["RR", "Hit@2"]


TYPES = {f"q{q}": "odd" if q % 2 else "even" for q in range(12)}
ROWS = [{"query_id": query, "type": kind} for query, kind in TYPES.items()]
TABLES: dict[str, Any] = {
    "{query: value}": TYPES,
    "{query: row}": {query: {"type": kind} for query, kind in TYPES.items()},
    "rows": ROWS,
    "tuple of rows": tuple(ROWS),
    "columns": {"query_id": list(TYPES), "type": list(TYPES.values())},
    "arrays": {"query_id": np.array(list(TYPES)), "type": np.array(list(TYPES.values()))},
    "rows of users": [{"user_id": query, "type": kind} for query, kind in TYPES.items()],
    "columns of questions": {"question": list(TYPES), "type": list(TYPES.values())},
    **{
        f"{library.__name__} {name}": library.DataFrame({name: list(TYPES), "type": list(TYPES.values())})
        for library in (pl, pd)
        for name in ("query_id", "qid", "question", "user_id", "user", "topic_id", "query")
    },
}


@pytest.mark.parametrize("table", TABLES)
def test_strata_are_read_from_what_a_user_has(table: str) -> None:
    for found in (
        dh.evaluate(QRELS, NEAR, "RR").by("type", queries=TABLES[table]),
        dh.compare(QRELS, {"a": NEAR, "b": FIRST}, "RR").by("type", TABLES[table]),
    ):
        assert {name: len(one.query_ids) for name, one in found.items()} == {"even": 6, "odd": 6}
    interval = dh.evaluate(QRELS, NEAR, "RR")["RR"].interval(cluster="type", queries=TABLES[table], n_resamples=99)
    assert interval.n_clusters == 2


def test_numbers_are_labels_and_ids_too() -> None:
    qrels, run = ({int(query[1:]): own for query, own in table.items()} for table in (QRELS, NEAR))
    strata = dh.evaluate(qrels, run, "RR").by("level", queries={query: query % 3 for query in range(12)})
    assert {name: len(one.query_ids) for name, one in strata.items()} == {"0": 4, "1": 4, "2": 4}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"q0": "x", "q1": ["y"]}, r"expected a dict of dicts .* or of lists .* got 'x' for 'q0'"),
        ({"query_id": ["q0", "q1"], "type": ["x"]}, "of lists .* of one length"),
        ({"nobody": ["q0"], "type": ["x"]}, "without a column 'query_id'"),
        ([{"type": "x"}], "without a column 'query_id'"),
        (["q0"], "cannot read queries from list: give a path, a dict of dicts, a list of dicts or a dataframe"),
    ],
)
def test_tables_that_cannot_be_read_are_refused(table: Any, message: str) -> None:  # noqa: ANN401 - wrong ones
    with pytest.raises(DeadheatError, match=message):
        dh.evaluate(QRELS, NEAR, "RR").by("type", queries=table)
