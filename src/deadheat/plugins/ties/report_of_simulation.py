"""The reports of simulations: what coarser scores cost, and what ties do to rerankers that were made up."""

import math
from collections.abc import Sequence
from dataclasses import replace

from deadheat.core.measures.notation import unit_of
from deadheat.core.report.cells import share_cell
from deadheat.core.report.data_facts import tell_data, warn_of_nothing_judged
from deadheat.core.report.model import MEASURE, SYSTEM, Column, Fact, Report, prose_fact, tabulate
from deadheat.core.report.totals import tell_geometric
from deadheat.core.wording import BY_DOC_ID, format_count
from deadheat.plugins.ties.coarsening_profile import CoarseningProfile
from deadheat.plugins.ties.report import report_profile
from deadheat.plugins.ties.rerankers import Simulation

RUN, SCORES = Column("run", "run"), Column("scores", "scores")
COLUMNS = (
    Column("n_queries", "queries", is_data=True),
    Column("n_distinct", "distinct", spare=6),
    Column("share_tied", "tied", lambda row: share_cell(row.share_tied)),
    Column("value", "exact"),
    Column("tie_std", "tie std", spare=5),
    Column("tie_min", "tie min", spare=2),
    Column("tie_max", "tie max", spare=2),
    Column("doc_id", BY_DOC_ID, spare=4),
    Column("original", "original", is_data=True),
    Column("error", "error"),
    Column("change", "change", spare=3),
)
WRONG = Column("wrong_winner", "wrong winner", lambda row: share_cell(row.wrong_winner))
PAIR = (
    Column("original", "difference as given"),
    Column("difference", "difference"),
    WRONG,
    Column("no_winner", "no winner", lambda row: share_cell(row.no_winner)),
    Column("method", "method", is_detail=True),
    Column("standard_error", "error", is_detail=True),
)
OF_ERROR = (
    f"exact: mean over all orders of the ties. error: the value with ties broken {BY_DOC_ID}, less the exact value of"
    " the scores as given. change: the exact value less that one."
)
OF_WINNER = (
    " wrong winner: the probability that ties broken at random put the run on the wrong side of another one, the"
    " highest over the others; the winner is that of the exact values of the scores as given. Whether these differ by"
    " more than chance, deadheat compare says."
)

SIMULATED = (
    Column("n_queries", "queries", is_data=True),
    Column("levels", "levels", spare=2),
    Column("tie_probability", "p(tie)", lambda row: share_cell(row["tie_probability"]), spare=1),
    Column("tie_ratio", "tied", lambda row: share_cell(row["tie_ratio"])),
    Column("tie_ratio_std", "std", is_data=True),
    Column("input_order", "input"),
    Column("input_order_std", "std", is_data=True),
    Column("exact", "exact"),
    Column("exact_std", "std", is_data=True),
    Column("mean_difference", "mean diff"),
    Column("max_difference", "max diff"),
    Column("std_difference", "std diff", spare=5),
    Column("share_with_ties", "with ties", lambda row: share_cell(row["share_with_ties"]), spare=4),
    Column("share_affected", "affected", lambda row: share_cell(row["share_affected"]), spare=3),
    Column("mean_ties", "ties", spare=6),
    Column("mean_largest_tie", "largest", spare=7),
)
OF_SIMULATED = (
    "tied: share of a query's documents that share their score, mean over queries. input: ties are broken by"
    " the order of the documents, as traditional measures do. exact: mean over all orders of the ties. diff: absolute"
    " difference of the two in a query. with ties: share of the queries; affected: of those whose value depends on the"
    " order. ties, largest: of a query, means."
)


def report_coarsening(found: CoarseningProfile, *, for_people: bool = True) -> Report:
    """Return the report of runs with coarser scores.

    Parameters
    ----------
    found : CoarseningProfile
    for_people : bool, default True
        Without the table of all pairs, and without the name of a single run beside each row.
    """
    most = max((row for row in found.rows if not math.isnan(row.error)), key=lambda row: abs(row.error), default=None)
    runs = list(dict.fromkeys(row.run for row in found.rows))
    is_single = len(runs) == 1
    labels = (MEASURE, SCORES) if is_single and for_people else (MEASURE, RUN, SCORES)
    # of two runs, the rival is the other one
    columns = (*COLUMNS, WRONG, Column("rival", "against", is_data=len(runs) < 3, spare=1)) if found.pairs else COLUMNS
    of_pair, title = (MEASURE, SYSTEM, Column("baseline", "baseline"), SCORES), "The winner of each pair"
    return Report(
        (
            tabulate("scores", labels, columns, found.rows, main=3, has_blocks=True),
            *([tabulate("pairs", of_pair, PAIR, found.pairs, title=title)] if found.pairs and not for_people else []),
        ),
        tuple(_facts(found)),
        heading=f"{runs[0] if is_single else format_count(len(runs), 'run')} with coarser scores:"
        f" {format_count(found.n_queries, 'query', 'queries')}",
        closing=OF_ERROR + (OF_WINNER if found.pairs else ""),
        subject=found,
        headline=""
        if most is None
        else f"{most.run}, {most.scores}: ties broken by document id move {most.measure} by {most.error:+.4f}.",
    )


def _facts(found: CoarseningProfile) -> list[Fact]:
    evaluations = list(found.evaluations.values())
    totals = ", ".join(str(one) for one in evaluations[0].measures if one.total)
    is_open = found.pairs and any(math.isnan(row.wrong_winner) for row in found.rows)
    errors = [pair.standard_error for pair in found.pairs if pair.method == "sampled"]
    return [
        Fact("n_queries", found.n_queries),
        Fact(
            "per_query",
            found.per_query,
            "levels",
            "between the lowest and the highest score of each query" if found.per_query else "",
        ),
        *(
            Fact("nothing_judged", one.name, "WARNING", warn_of_nothing_judged(one.name), is_warning=True)
            for one in evaluations
            if one.placements.is_unmatched
        ),
        *tell_data(evaluations),
        *tell_geometric(str(one) for one in evaluations[0].measures),
        prose_fact("counts", f"{totals}: means over queries" if totals else ""),
        prose_fact(
            "winner", "-: the exact values of the scores as given are equal, so that neither wins" if is_open else ""
        ),
        prose_fact(
            "wrong winner",
            f"{len(errors)} of {format_count(len(found.pairs), 'pair')} from drawn orders, standard error at most"
            f" {max(errors):.1%}"
            if errors
            else "",
        ),
    ]


def report_scenarios(simulation: Simulation, *, seed: object = None, files: Sequence[str] = ()) -> Report:
    """Return the report of the ties of simulated scenarios; arguments are as for :func:`report_simulation`."""
    (profile,) = simulation.profiles.values()
    report = report_profile(profile)
    return replace(
        report,
        tables=tuple(sorted(report.tables, key=lambda table: table.key != "stability")),  # CSV holds the first
        facts=(*report.facts, *_made(seed, files)),
        subject=simulation,
    )


def _made(seed: object, files: Sequence[str]) -> tuple[Fact, ...]:
    return (
        Fact("seed", seed, "seed", "" if seed is None else str(seed)),
        Fact("files", list(files), "written", ", ".join(files)),
    )


def report_simulation(simulation: Simulation, *, seed: object = None, files: Sequence[str] = ()) -> Report:
    """Return the report of a simulation.

    Parameters
    ----------
    simulation : Simulation
    seed : int, optional
        Of its random numbers.
    files : sequence of str
        What was written.
    """
    rows = simulation.summary().to_dicts()
    table = tabulate(
        "rerankers",
        (MEASURE, Column("reranker", "reranker")),
        SIMULATED,
        [row for measure in simulation.measures for row in rows if row["measure"] == measure.label],
        main=7,
        has_blocks=True,
    )
    types = [one.name for one in simulation.query_types]
    n_queries, n_documents = simulation.queries.height, simulation.qrels.to_polars().height
    heading = (
        f"Simulated: {format_count(len(simulation.rerankers), 'reranker')},"
        f" {format_count(n_queries, 'query', 'queries')}, {format_count(n_documents, 'document')}"
    )
    facts = (
        Fact("n_queries", n_queries),
        Fact("n_documents", n_documents),
        Fact("query_types", types, "queries", ", ".join(types)),
        *tell_geometric(one.label for one in simulation.measures),
        *_made(seed, files),
    )
    most = max(rows, key=lambda row: row["mean_difference"] or 0.0)
    return Report(
        (table,),
        facts,
        heading,
        OF_SIMULATED,
        subject=simulation,
        headline=f"{most['reranker']}: breaking ties in input order moves {most['measure']} by"
        f" {most['mean_difference'] or 0:.4f}{unit_of(most['measure'])} a query on average.",
    )
