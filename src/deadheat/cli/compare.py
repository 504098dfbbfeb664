"""deadheat compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import deadheat as dh
from deadheat.cli.app import missing, refuse, refuse_if
from deadheat.cli.files import (
    INPUT,
    Output,
    asked,
    befores,
    checked_run,
    label,
    labels_of_judge,
    named_runs,
    open_pairs,
    open_qrels,
    open_run,
    output_options,
    shown_path,
    split_repeats,
    table_option,
    warn_of_nothing_judged,
    with_figures,
)
from deadheat.cli.options import (
    COLLECTION,
    ENGINE,
    FIGURES,
    INTERVALS,
    LAST,
    LISTS,
    OF_EVALUATING,
    READING,
    SPANS,
    STRATA,
    TESTS,
    check_strata,
    conventions_of,
    design_of,
    examples,
    measures_of,
    named_baselines,
    read_queries,
    sets_of_strata,
    takes,
    with_spans,
)
from deadheat.errors import joined
from deadheat.settings import Conventions

if TYPE_CHECKING:
    from deadheat.measures import Measure
    from deadheat.report.model import Fact, Report

TABLES = ("systems", "one_tie_rule", "orders", "across_languages", "language_differences", "language_interactions")
OWN_TABLES = ("detect", "queries_worst", "orders", "ranks")  # options whose results are tables
OF_MANY = ("queries_worst", "ranks")  # those whose tables have other rows than the pairs


@click.command(
    short_help="Say which runs differ by more than chance, and than ties.",
    **examples(
        "deadheat compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25.run -m nDCG@10",
        "deadheat compare qrels.txt llm.run --then-by bm25.run    # what does the first stage decide?",
        "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' --test tukey",
        "deadheat compare qrels.txt bm25.run dense.run --by difficulty --queries queries.csv",
        "deadheat compare qrels.txt old.run new.run --margin 0.01    # is the new one no worse?",
        "deadheat compare qrels.txt old.run new.run --detect 0.02    # how many queries would it take?",
        "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' --compact -o table.tex    # for a paper",
        "deadheat compare --spans spans.csv chunks-200.jsonl chunks-1000.jsonl -m R@5",
        "deadheat compare main.json branch.json    # saved by deadheat evaluate --save",
    ),
)
@click.argument("qrels", type=INPUT, metavar="QRELS|SAVED")
@click.argument("runs", type=INPUT, nargs=-1, metavar="RUN RUN...|SAVED...")
@takes("repeats", "baseline", "judgments", "measures", *TESTS, "margin")
@click.option(
    "--detect",
    type=click.FloatRange(0, min_open=True),
    help="Also say how many queries it takes to detect a difference of this size.",
)
@click.option(
    "--queries-worst",
    type=click.IntRange(1),
    metavar="N",
    help="Also list the N queries on which a system is best, worst, and that hang most on ties; with their texts if"
    " --queries has a column such as text.",
)
@click.option(
    "--judge",
    type=INPUT,
    metavar="QRELS",
    help="Labels of a judge, such as a language model, for the queries of the human labels, a random sample, and for"
    " more: differences are estimated from both.",
)
@click.option(
    "--orders",
    is_flag=True,
    help="Also say how far orders of the systems agree: by two measures, and by document id, as trec_eval.",
)
@click.option("--ranks", is_flag=True, help="Also give the rank of each system as a range, and P(best).")
@takes(*INTERVALS, "cluster", "seed", *STRATA, "ties", *FIGURES)
@output_options("document", "rows", "scores")
@table_option("that of the pairs", *TABLES)
@click.option(
    "--compact",
    is_flag=True,
    help="One table for a paper: systems by measures, the best bold, with marks of significance and a caption.",
)
@takes(*SPANS, *LISTS, "then_by", *READING, *COLLECTION, *ENGINE, *LAST)
def compare(qrels: str, runs: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - click's
    """Compare runs in pairs over the same queries; or evaluations that deadheat evaluate --save has saved.

    For each measure: the means with their intervals, the differences with p values before and after the correction
    (a star: significant), and the differences whose sign a random tie-break reverses with some probability, beside
    the difference with ties broken by document id, as trec_eval. csv and json hold every number;
    csv has one row per pair, to which --margin and --detect add columns, or the table that --table names. For counts
    all of this is about totals, --margin and --detect included; csv and json hold the total instead of the mean.

    If the table of --queries has columns language and pair_id, queries of one pair_id are compared across languages.
    """
    from deadheat.comparison.languages import languages_of_queries
    from deadheat.report.model import side_by_side

    qrels, runs = with_spans(qrels, runs)
    if options["spans"]:
        refuse(("judgments",), "is not for --spans")
    check_strata(options)
    output = Output(options, [qrels, *runs, options["queries"], options["judge"]])
    _check_tables(options, output)
    if not (runs or options["repeats"]):
        raise missing("runs")
    saved = saved_evaluations([qrels, *runs])
    refuse_if(saved and options["repeats"], f"--repeats are of QRELS RUN...: {qrels} is already evaluated")
    named = named_runs(saved or runs)
    if not saved:
        refuse(("judgments",), "is for saved evaluations: runs are evaluated under the same judgments")
        named, options["repeats"] = split_repeats(named, options["repeats"])
    if options["repeats"]:
        refuse(("judge", "then_by", "unjudged", "margin", "detect", "ranks", "figures"), "is not for repeats of a run")
    alone = next(iter(named)) if len(named) == 1 and asked().get("then_by") else ""
    if alone:  # the run alone, and with its ties ordered
        named[", then ".join([alone, *map(label, asked()["then_by"])])] = named[alone]
    comparison, _, queries = compare_files("" if saved else qrels, named, options, alone=alone)
    groupings = sets_of_strata(queries, comparison.evaluations.values(), options)
    output.check_sets(groupings)
    languages = None if queries is None else languages_of_queries(comparison, queries)
    reports = {}
    for n, columns in enumerate(groupings):  # what is of all queries comes once
        own = options if not n else {**options, "queries_worst": None}
        reports[":".join(columns)] = _report(comparison, qrels, queries, columns, None if n else languages, output, own)
    subjects = _subjects(comparison, queries, groupings, languages)
    output.print(with_figures(side_by_side(reports), subjects, [one.label for one in comparison.measures]))


def _check_tables(options: Mapping[str, Any], output: Output) -> None:
    """Refuse what a single table has no place for."""
    if output.form == "csv":
        refuse(OF_MANY, "is for json and text formats: csv has one table, with a row for each pair")
    if options["compact"]:
        refuse_if(output.is_data, f"--compact is a table for people: {output.form} has every number without it")
        refuse(("judge",), "has a table of its own, and --compact is one table: leave out one of them")
        refuse(OWN_TABLES, "has tables of its own, and --compact is one table: leave out one of them")


def compare_files(
    qrels: str, named: Mapping[str, str], options: Mapping[str, Any], *, alone: str = ""
) -> tuple[dh.Comparison, dict[str, dh.Run], dh.Queries | None]:
    """Compare runs by name, or saved evaluations where there are no qrels, as the options of a command say.

    Parameters
    ----------
    qrels : str
        Empty for saved evaluations.
    named : mapping of str to str
        The files, by the names of the systems.
    options : mapping
    alone : str, default ""
        The one run whose ties --then-by does not order.

    Returns
    -------
    comparison : Comparison
    runs : dict of str to Run
        None of saved evaluations.
    queries : Queries or None
    """
    from deadheat.comparison.comparison import compare_evaluated, compare_under
    from deadheat.evaluation.evaluate import evaluate_many
    from deadheat.evaluation.warned import warn_of_form
    from deadheat.io.splitting import in_pieces

    # report typos before large files are read
    conventions, measures = conventions_of(options), measures_of(options)
    design = design_of({**options, "baseline": named_baselines(options, named)})
    of_queries = {"has_clusters": options["cluster"] is not None, "has_weights": options["weights"] is not None}
    design.check_systems([*named, *options.get("repeats", ())], **of_queries)
    queries = read_queries(options)
    table = queries if options["cluster"] or options["weights"] else None
    clusters = {"cluster": options["cluster"], "weights": options["weights"], "queries": table}
    runs: dict[str, dh.Run] = {}
    if options.get("repeats") or options.get("spans"):
        evaluations = {}
        for judged, opened in open_pairs(qrels, named):
            each = evaluate_many(conventions, judged, opened, measures)
            for run, (evaluation, _) in zip(opened, each, strict=True):
                evaluations[run.name], runs[run.name] = evaluation, run
        if options.get("repeats"):
            evaluations |= evaluate_repeats(open_qrels(qrels), options["repeats"], measures, conventions)
        comparison = compare_evaluated(design, evaluations, **clusters)
    elif not qrels:
        evaluations = {name: dh.load_evaluation(path).called(name) for name, path in named.items()}
        comparison = compare_evaluated(
            design,
            evaluations,
            **clusters,
            judgments=options.get("judgments"),
            judge=labels_of_judge(options.get("judge")),
        )
    else:
        judgments = open_qrels(qrels)
        for piece in in_pieces(list(named.items()), lambda item: Path(item[1])):
            runs |= {name: open_run(path, name, keyed=name != alone) for name, path in piece}
        judge = labels_of_judge(options.get("judge"))
        comparison = compare_under(
            design, conventions, judgments, runs, measures, **clusters, check_duplicates=False, judge=judge
        )
        for name, run in runs.items():
            warn_of_form(comparison.evaluations[name], judgments, run)
    warn_of_nothing_judged(comparison.evaluations.values())
    return comparison, runs, queries


def evaluate_repeats(
    qrels: dh.Qrels,
    repeats: Mapping[str, Sequence[str | dh.Run]],
    measures: Sequence[Measure],
    conventions: Conventions,
) -> dict[str, dh.Evaluation]:
    """Return the evaluation of each system that was run several times, by its name."""
    from deadheat.evaluation.evaluate import evaluate_under
    from deadheat.evaluation.repeats import together

    missing = conventions.missing
    own = replace(conventions, missing="empty") if missing == "skip" else conventions
    runs = {
        name: (open_run(one, label(one)) if isinstance(one, str) else checked_run(one) for one in some)
        for name, some in repeats.items()
    }
    each = {name: [evaluate_under(own, qrels, run, measures) for run in some] for name, some in runs.items()}
    return {name: together(name, evaluations, missing) for name, evaluations in each.items()}


def evaluate_files(
    qrels: str,
    path: str,
    conventions: Conventions,
    measures: Sequence[Measure],
    *,
    name: str = "",
    seed: int | None = None,
    judge: str | None = None,
) -> tuple[dh.Evaluation, dh.Run]:
    """Return the evaluation of one run, and the run."""
    from deadheat.evaluation.evaluate import evaluate_under
    from deadheat.evaluation.warned import warn_of_form

    judgments, (run,) = next(open_pairs(qrels, {name or label(path): path}))
    evaluation = evaluate_under(conventions, judgments, run, measures, seed, judge=labels_of_judge(judge))
    warn_of_form(evaluation, judgments, run)
    warn_of_nothing_judged([evaluation])
    return evaluation, run


def saved_evaluations(paths: list[str]) -> list[str]:
    """Return the paths if they are saved evaluations, else none; refuse a mix, and options of evaluating."""
    from deadheat.evaluation.saved import is_saved

    if not is_saved(paths[0]):
        return []
    other = next((path for path in paths if not is_saved(path)), None)
    refuse_if(
        other is not None,
        f"{paths[0]} is a saved evaluation, and {other} is none: give saved ones only, or QRELS RUN RUN...",
    )
    refuse(OF_EVALUATING, f"is for QRELS RUN RUN...: {paths[0]} is already evaluated")
    return paths


def _report(  # noqa: PLR0917 - what a report is made of
    comparison: dh.Comparison,
    qrels: str,
    queries: dh.Queries | None,
    columns: Sequence[str],
    languages: dh.Languages | None,
    output: Output,
    options: Mapping[str, Any],
) -> Report:
    from deadheat.comparison.languages import PAIR, judge_languages
    from deadheat.evaluation.intervals import strata_of
    from deadheat.report import of_tasks
    from deadheat.report.model import Column, Fact, note
    from deadheat.report.of_comparison import report_comparison
    from deadheat.report.of_comparison_tables import (
        beside,
        list_queries,
        list_ranks,
        planned,
        report_compact,
        tell_ranks,
    )
    from deadheat.report.of_judgments import list_orders, tell_orders

    is_data, margin = output.is_data, options["margin"]
    strata = strata_of(comparison, columns, queries) if queries is not None and columns else None
    named: dict[str, Any] = {"qrels": shown_path(qrels, "the qrels"), "columns": columns, "strata": strata}
    if options["compact"]:
        return report_compact(comparison, **named, margin=margin, digits=output.digits)
    among = "systems" if languages else ""
    report = report_comparison(comparison, **named, for_people=not is_data, margin=margin, among=among)
    parts = {(): comparison} if strata is None else strata
    added, facts = planned(parts, columns, margin, options["detect"])
    # csv has room for one table, by default the first
    is_csv = output.form == "csv"
    tables = (beside(report.tables[0], *added), *report.tables[1:]) if is_csv else (*report.tables, *added)
    if options["ranks"]:
        tables, facts = (*tables, list_ranks(comparison, columns, strata)), [*facts, tell_ranks(comparison)]
    if options["orders"]:
        orders = comparison.orders()
        tables, facts = (*tables, list_orders(orders)), [*facts, *tell_orders(orders)]
    opening = report.opening
    if languages and (not is_csv or output.table):
        said = judge_languages(languages, margin=margin)
        opening = joined(opening, *said)
        facts += [
            Fact("language_verdicts", {languages.name: list(said)}),
            *of_tasks.facts_of_languages({languages.name: languages}),
            *of_tasks.tell_languages(languages, margin=margin),
            *of_tasks.tell_beside(languages),
            *of_tasks.tell_gaps(languages),
        ]
        if is_data:
            of_queries, leading = {"queries": languages}, Column("of", "of")
            tables += tuple(of_tasks.data_of_languages(of_queries, leading=leading, margin=margin))
        else:
            tables += tuple(of_tasks.list_languages(languages, languages.measures, margin=margin))
    if options["queries_worst"]:
        texts = {} if queries is None else queries.texts(comparison.query_ids.tolist())
        tables += tuple(list_queries(comparison, options["queries_worst"], texts, for_people=not is_data))
    if comparison.weights is not None and queries is not None and PAIR in queries.columns:
        facts.append(note("languages", "not compared by pairs of queries, each of which has two weights"))
    facts += _of_strata(queries, parts)
    return replace(report, tables=tables, facts=(*report.facts, *facts), opening=opening)


def _subjects(
    comparison: dh.Comparison,
    queries: dh.Queries | None,
    groupings: Sequence[tuple[str, ...]],
    languages: dh.Languages | None,
) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield what figures are drawn of: the comparison, its languages, and its strata if there are any."""
    from deadheat.evaluation.intervals import IntervalOptions, strata_of

    yield "", comparison, {}
    if languages is not None:
        yield "", languages, {}
    for before, columns in zip(befores(groupings), groupings, strict=True):
        if queries is None or not columns:
            continue
        of_each = {name: strata_of(one, columns, queries) for name, one in comparison.evaluations.items()}
        codes = comparison.cluster
        cluster = None if codes is None else dict(zip(comparison.query_ids.tolist(), codes.tolist(), strict=True))
        yield before, of_each, {"options": IntervalOptions.of(vars(comparison.design), cluster=cluster)}


def _of_strata(queries: dh.Queries | None, parts: Mapping[Any, dh.Comparison]) -> list[Fact]:
    """Say where the strata are from, and which are small."""
    from deadheat.evaluation.intervals import SMALLEST, label
    from deadheat.report.model import Fact
    from deadheat.report.of_evaluation import OVERLAP, few_queries

    if queries is None or () in parts:
        return []
    sizes = {label(stratum): len(part.query_ids) for stratum, part in parts.items()}
    n_twice = sum(sizes.values()) - len(set().union(*(part.query_ids.tolist() for part in parts.values())))
    small = {name: n for name, n in sizes.items() if n < SMALLEST}
    return [
        Fact("strata", len(parts), "strata", f"{len(parts)} from {shown_path(queries.where, 'the table of queries')}"),
        *([Fact("overlap", n_twice, "overlap", OVERLAP.format(n_twice))] if n_twice else []),
        *([Fact("small", list(small), "small", few_queries(small, SMALLEST))] if small else []),
    ]
