"""deadheat compare."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import click

from deadheat.cli.app import debug_option
from deadheat.cli.engines import engine_options
from deadheat.cli.figures import check_figures, figures_options, with_figures
from deadheat.cli.files import (
    PATH,
    check_inputs,
    input_path,
    label,
    open_qrels,
    open_run,
    second_keys,
    shown_path,
    within_collection,
)
from deadheat.cli.options import (
    StratumOptions,
    cluster_option,
    collection_options,
    comparing_options,
    conventions_of,
    decompressed_option,
    design_of,
    duplicates_option,
    examples,
    lists_options,
    measure_option,
    parsed_measures,
    precision_option,
    queries_options,
    reading_options,
    stratum_options,
    test_options,
    then_by_option,
    ties_option,
    unique_names,
)
from deadheat.cli.output import (
    check_table,
    output_options,
    prepare,
    print_report,
    table_option,
    warn_of_nothing_judged,
    with_table_first,
)
from deadheat.cli.progress import progress
from deadheat.wording import joined

if TYPE_CHECKING:
    from deadheat.comparison.comparison import Comparison
    from deadheat.comparison.languages import Languages
    from deadheat.comparison.pairs import Design
    from deadheat.data.queries import Queries
    from deadheat.evaluation.conventions import Conventions
    from deadheat.measures import Measure
    from deadheat.report.model import Fact, Report, Table

PARTS = ("document", "rows", "scores")
TABLES = ("systems", "across_languages", "language_differences", "language_interactions")
DATA = ("json", "csv")
OWN_TABLES = ("detect", "queries_worst", "ranks")  # options whose results are tables
OF_MANY = ("queries_worst", "ranks")  # those whose tables have other rows than the pairs
EXAMPLES = examples(
    "deadheat compare qrels.txt bm25.run dense.run hybrid.run --baseline bm25.run -m nDCG@10",
    "deadheat compare qrels.txt llm.run --then-by bm25.run    # what does the first stage decide?",
    "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' --test tukey",
    "deadheat compare qrels.txt bm25.run dense.run --by difficulty --queries queries.csv",
    "deadheat compare qrels.txt old.run new.run --margin 0.01    # is the new one no worse?",
    "deadheat compare qrels.txt old.run new.run --detect 0.02    # how many queries would it take?",
    "deadheat compare qrels.txt *.run -m 'nDCG@10 AP' --compact -o table.tex    # for a paper",
    "deadheat compare main.json branch.json    # saved by deadheat evaluate --save",
)


@click.command(short_help="Say which runs differ by more than chance, and than ties.", **EXAMPLES)
@click.argument("qrels", type=PATH, metavar="QRELS|SAVED")
@click.argument("runs", type=PATH, nargs=-1, required=True, metavar="RUN RUN...|SAVED...")
@click.option("--baseline", metavar="RUN", help="Compare all others with this run; by default every pair.")
@measure_option
@test_options
@click.option(
    "--margin", type=click.FloatRange(0, min_open=True), help="Also test that a system is no worse by this margin."
)
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
@click.option("--ranks", is_flag=True, help="Also give the rank of each system as a range, and P(best).")
@comparing_options
@cluster_option
@click.option("--rng", "seed", type=click.IntRange(0), metavar="SEED", default=0, help="Seed; default 0.")
@stratum_options
@ties_option
@figures_options
@output_options(*PARTS)
@table_option("that of the pairs", *TABLES)
@click.option(
    "--compact",
    is_flag=True,
    help="One table for a paper: systems by measures, the best bold, with marks of significance and a caption.",
)
@queries_options
@lists_options
@precision_option
@then_by_option
@reading_options
@collection_options
@engine_options
@duplicates_option
@decompressed_option
@debug_option
@click.pass_context
def compare(
    ctx: click.Context,
    /,
    qrels: str,
    runs: tuple[str, ...],
    notations: tuple[str, ...],
    **options: Any,  # noqa: ANN401 - click's
) -> None:
    """Compare runs in pairs over the same queries; or evaluations that deadheat evaluate --save has saved.

    For each measure: the means with their intervals, the differences with p values before and after the correction
    (a star: significant), and the differences whose sign a random tie-break reverses with some probability, beside
    the difference with ties broken by document id, as trec_eval. csv and json hold every number;
    csv has one row per pair, to which --margin and --detect add columns, or the table that --table names. For counts
    all of this is about totals, --margin and --detect included; csv and json hold the total instead of the mean.

    If the table of --queries has columns language and pair_id, queries of one pair_id are compared across languages.
    """
    qrels, *given = map(input_path, (qrels, *runs))
    from deadheat.evaluation.evaluate import DEFAULT_MEASURES

    # report typos before large files are read
    strata = StratumOptions.of(options)
    inputs = [qrels, *given, *([strata.path] if strata.path else [])]
    form = prepare(options["form"], options["output"], PARTS, inputs)
    _check_tables(options, form)
    check_table(options["table"], form)
    check_figures(options["figures"])
    conventions = conventions_of(options)
    measures = parsed_measures(notations) or DEFAULT_MEASURES
    saved = saved_evaluations(ctx, [qrels, *given])
    given = saved or given
    named = dict(zip(unique_names(given, lambda path: label(path, "run")), given, strict=True))
    if len(named) == 1 and (keys := second_keys()):  # the run alone, and with its ties ordered
        (name,) = named
        named[", then ".join([name, *(label(key, "run") for key in keys)])] = given[0]
    options["baseline"] = baseline_of(options["baseline"], named)
    design = design_of(options, has_queries=strata.path is not None)
    design.check_systems(list(named), has_clusters=strata.cluster is not None)
    check_inputs(inputs)
    queries = strata.read()
    of_clusters: dict[str, Any] = {"cluster": strata.cluster, "queries": queries if strata.cluster else None}
    is_checked = options["check_duplicates"]
    if saved:
        comparison = _compare_saved(named, design, **of_clusters)
    else:
        comparison = _compare(
            qrels, named, measures, conventions, design, given=options, **of_clusters, check_duplicates=is_checked
        )
    warn_of_nothing_judged(comparison.evaluations.values())
    columns = () if queries is None else strata.columns(queries, comparison.query_ids.tolist())
    asked = _Asked(form, **{one.name: options[one.name] for one in fields(_Asked) if one.name != "form"})
    report = _report(comparison, qrels, queries, columns, asked)
    if options["figures"] is not None:
        report = _drawn(report, comparison, queries, columns, options)
    report = with_table_first(report, options["table"])
    print_report(report, form=form, output=options["output"], digits=options["digits"])


@dataclass(frozen=True)
class _Asked:
    """What a report is to be and to have beside the comparison: the options of these names."""

    form: str
    margin: float | None
    detect: float | None
    queries_worst: int | None
    ranks: bool
    compact: bool
    digits: int | None
    table: str | None


def _check_tables(options: Mapping[str, Any], form: str) -> None:
    """Refuse what a single table has no place for."""
    given = [f"--{name.replace('_', '-')}" for name in OF_MANY if options[name]]
    if form == "csv" and given:
        raise click.UsageError(f"csv has one table, with a row for each pair: {given[0]} is for json and text formats")
    if not options["compact"]:
        return
    if form in DATA:
        raise click.UsageError(f"--compact is a table for people: {form} has every number without it")
    for name in OWN_TABLES:
        if options[name]:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--compact is one table, and {option} has tables of its own: leave out one of them")


def baseline_of(given: str | None, named: Mapping[str, str]) -> str | None:
    """Return the name of the baseline, which may be given as a path."""
    of_path = {path: name for name, path in named.items()}
    return given if given is None else of_path.get(input_path(given), given)


def saved_evaluations(ctx: click.Context, paths: list[str]) -> list[str]:
    """Return the paths if they are saved evaluations, else none; refuse a mix, and options of evaluating."""
    from deadheat.evaluation.saved import is_saved

    if not is_saved(paths[0]):
        return []
    other = next((path for path in paths if not is_saved(path)), None)
    if other is not None:
        raise click.UsageError(
            f"{paths[0]} is a saved evaluation, and {other} is none: give saved ones only, or QRELS RUN RUN..."
        )
    of_evaluating = ("ties", "missing", "no_relevant", "score_precision", "rel", "judged_only", "depth", "unjudged")
    for name in ("notations", *of_evaluating, "check_duplicates", "collection", "strict"):
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "-m" if name == "notations" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} is for QRELS RUN RUN...: {paths[0]} is already evaluated")
    return paths


def _compare_saved(named: Mapping[str, str], design: Design, **options: Any) -> Comparison:  # noqa: ANN401 - of clusters
    from deadheat.comparison.compare import compare_evaluated
    from deadheat.evaluation.evaluate import load_evaluation

    return compare_evaluated(design, {name: load_evaluation(path) for name, path in named.items()}, **options)


def _compare(
    qrels: str,
    named: Mapping[str, str],
    measures: Sequence[Measure],
    conventions: Conventions,
    design: Design,
    *,
    given: Mapping[str, Any],
    **options: Any,  # noqa: ANN401 - of clusters and duplicates
) -> Comparison:
    from deadheat.comparison.compare import compare_under
    from deadheat.evaluation.warned import warn_of_form

    with progress([qrels, *named.values()]) as begin:
        begin(qrels)
        judgments, runs = within_collection(open_qrels(qrels), given), {}
        alone = next(iter(named)) if len(set(named.values())) == 1 else ""
        for name, path in named.items():
            begin(path)
            runs[name] = open_run(path, name, keyed=name != alone)
        found = compare_under(design, conventions, judgments, runs, measures, **options)
    for name, run in runs.items():
        warn_of_form(found.evaluations[name], judgments, run)
    return found


def _report(
    comparison: Comparison,
    qrels: str,
    queries: Queries | None,
    columns: Sequence[str],
    asked: _Asked,
) -> Report:
    from deadheat.comparison.languages import judge_languages
    from deadheat.errors import UnlabelledQueriesWarning
    from deadheat.report.model import Fact
    from deadheat.report.of_compact import report_compact
    from deadheat.report.of_comparison import report_comparison
    from deadheat.report.of_planning import beside, planned
    from deadheat.report.of_queries import list_queries, list_ranks, tell_ranks

    strata, is_data = None, asked.form in DATA
    if queries is not None and columns:
        with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # the report names them
            strata = comparison.by(columns, queries, pool_languages=True)
    named: dict[str, Any] = {"qrels": shown_path(qrels, "the qrels"), "columns": columns, "strata": strata}
    if asked.compact:
        return report_compact(comparison, **named, margin=asked.margin, digits=asked.digits)
    languages = _languages(comparison, queries)
    among = "systems" if languages else ""
    report = report_comparison(comparison, **named, for_people=not is_data, margin=asked.margin, among=among)
    parts = {(): comparison} if strata is None else strata
    added, facts = planned(parts, columns, asked.margin, asked.detect)
    # csv has room for one table, by default the first
    tables = (beside(report.tables[0], *added), *report.tables[1:]) if asked.form == "csv" else (*report.tables, *added)
    if asked.ranks:
        tables, facts = (*tables, list_ranks(comparison, columns, strata)), [*facts, tell_ranks(comparison)]
    opening = report.opening
    if languages and (asked.form != "csv" or asked.table):
        said = judge_languages(languages, margin=asked.margin)
        opening = joined(opening, *said)
        facts.append(Fact("language_verdicts", {languages.name: list(said)}))
        tables, facts = (*tables, *_of_languages(languages, asked)), [*facts, *_told(languages, asked)]
    if asked.queries_worst:
        texts = {} if queries is None else queries.texts(comparison.query_ids.tolist())
        tables += tuple(list_queries(comparison, asked.queries_worst, texts, for_people=not is_data))
    facts += _of_strata(queries, parts)
    return replace(report, tables=tables, facts=(*report.facts, *facts), opening=opening)


def _languages(comparison: Comparison, queries: Queries | None) -> Languages | None:
    """Compare the languages of queries that belong together by a column pair_id."""
    from deadheat.comparison.compare_languages import languages_of_queries

    return None if queries is None else languages_of_queries(comparison, queries)


def _of_languages(languages: Languages, asked: _Asked) -> Iterator[Table]:
    from deadheat.report.model import Column
    from deadheat.report.of_languages import data_of_languages, list_languages

    if asked.form in DATA:
        yield from data_of_languages({"queries": languages}, leading=Column("of", "of"), margin=asked.margin)
    else:
        yield from list_languages(languages, languages.measures, margin=asked.margin)


def _told(languages: Languages, asked: _Asked) -> Iterator[Fact]:
    from deadheat.report.of_languages import facts_of_languages, tell_beside, tell_gaps, tell_languages

    yield from facts_of_languages({languages.name: languages})
    yield from tell_languages(languages, margin=asked.margin)
    yield from tell_beside(languages)
    yield from tell_gaps(languages)


def _drawn(
    report: Report,
    comparison: Comparison,
    queries: Queries | None,
    columns: Sequence[str],
    options: Mapping[str, Any],
) -> Report:
    """Draw the figures of a comparison, and of its strata if there are any."""
    from deadheat.errors import UnlabelledQueriesWarning

    subjects: list[tuple[str, Any, Mapping[str, Any]]] = [("", comparison, {})]
    if languages := _languages(comparison, queries):
        subjects.append(("", languages, {}))
    if queries is not None and columns:
        with warnings.catch_warnings(action="ignore", category=UnlabelledQueriesWarning):  # the report names them
            of_each = {
                name: one.by(columns, queries, pool_languages=True) for name, one in comparison.evaluations.items()
            }
        codes = comparison.cluster
        cluster = None if codes is None else dict(zip(comparison.query_ids.tolist(), codes.tolist(), strict=True))
        subjects.append(("", of_each, {"options": comparison.design.with_clusters(cluster)}))
    measures = [one.label for one in comparison.measures]
    return with_figures(report, options["figures"], options["figure_format"], subjects, measures)


def _of_strata(queries: Queries | None, parts: Mapping[Any, Comparison]) -> list[Fact]:
    """Say where the strata are from, and which are small."""
    from deadheat.evaluation.strata import SMALLEST, label
    from deadheat.report.model import Fact
    from deadheat.report.of_strata import few_queries

    if queries is None or () in parts:
        return []
    sizes = {label(stratum): len(part.query_ids) for stratum, part in parts.items()}
    small = {name: n for name, n in sizes.items() if n < SMALLEST}
    return [
        Fact("strata", len(parts), "strata", f"{len(parts)} from {shown_path(queries.where, 'the table of queries')}"),
        *([Fact("small", list(small), "small", few_queries(small, SMALLEST))] if small else []),
    ]
