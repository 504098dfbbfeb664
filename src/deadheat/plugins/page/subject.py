"""What a page is about: runs on one set of qrels and their files; the numbers at its top, and what changed."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path, PurePath
from typing import NamedTuple, Self

import narwhals as nw
import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray, IntArray, align_values
from deadheat.core.data.queries import Queries
from deadheat.core.data.rows import MemoryRows, collect_rows
from deadheat.core.data.run import Run
from deadheat.core.data.unread_rows import LazyRows, UnreadRows
from deadheat.core.design import MAX_T_CORRECTIONS, Design
from deadheat.core.evaluation.evaluation import UNKNOWN, Evaluation
from deadheat.core.evaluation.intervals import Interval
from deadheat.core.evaluation.scores import Scores
from deadheat.core.evaluation.strata import Strata
from deadheat.core.evaluation.stratum import strata_of
from deadheat.core.measures import Measure, unit_of
from deadheat.core.placements.grouping import group_run, group_scores, select_queries
from deadheat.core.report.cells import Span, count_cell, format_cell
from deadheat.core.report.interval_facts import interval_cell
from deadheat.core.report.model import QUERY, Column, Table, tabulate
from deadheat.core.report.totals import tie_range_cell
from deadheat.core.scalars import NOISE
from deadheat.core.wording import format_count, format_level, format_percentage, is_share_known
from deadheat.plugins.compare.comparison import Comparison, knows_ties
from deadheat.plugins.compare.pair import Pair
from deadheat.plugins.compare.report import best_first
from deadheat.plugins.compare.verdict import Verdict
from deadheat.plugins.compare.verdict_facts import CORRECTION_NAMES, format_number, format_signed

N_DECIDING = 20  # queries whose rankings a page holds
MOST_QUERIES = 5_000  # whose values a page holds; of more it holds those that decide
N_HELD = 3_000  # about so many of them
MOST_SYSTEMS = 40  # whose values by query, and rankings, a page holds


@dataclass(frozen=True)
class Input:
    """A file that a page was made from.

    Attributes
    ----------
    role : str
        Such as "qrels" or "run".
    path : str
        As it was given.
    n_bytes : int or None
        None if it is not a file that can be read again.
    sha256 : str
    """

    role: str
    path: str
    n_bytes: int | None = None
    sha256: str = ""

    @classmethod
    def of(cls, role: str, path: str, shown: str = "") -> Self:
        """Look at a file; `shown` is its name for people."""
        if not Path(path).is_file():
            return cls(role, shown or path)
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return cls(role, shown or path, Path(path).stat().st_size, digest)


@dataclass(frozen=True, eq=False, kw_only=True)
class Subject:
    """Runs on one set of qrels.

    Attributes
    ----------
    name : str
        What tells it from other subjects of the page; empty if it is the only one.
    evaluations : mapping of str to Evaluation
        By system.
    comparison : Comparison or None
        None of a single system.
    qrels : str
        The name of the qrels.
    runs : mapping of str to Run
        By system; empty if they are not at hand, as for saved evaluations.
    queries : Queries or None
        Their texts and labels.
    groupings : tuple of tuple of str
        Labels to report by: the columns of each set of strata.
    margin : float or None
        That the verdict tests against.
    names : mapping of str to str
        What documents are called.
    tables : tuple of Table
        Others that come below the verdict, open.
    heading : str
        Of these tables.
    """

    evaluations: Mapping[str, Evaluation]
    comparison: Comparison | None = None
    name: str = ""
    qrels: str = "the qrels"
    runs: Mapping[str, Run] = field(default_factory=dict)
    queries: Queries | None = None
    groupings: tuple[tuple[str, ...], ...] = ()
    margin: float | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    tables: tuple[Table, ...] = ()
    heading: str = "Found and not found"

    @property
    def first(self) -> Evaluation:
        """The first evaluation."""
        return next(iter(self.evaluations.values()))

    @property
    def knows_ties(self) -> bool:
        """Whether it is known what orders of ties make of the values."""
        return self.first.ties != UNKNOWN

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of all evaluations."""
        return self.first.measures

    @property
    def main(self) -> Measure:
        """The measure that systems are ranked by: the first one that is of single queries."""
        return next((one for one in self.measures if not one.only_total), self.measures[0])

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """The systems, best first by the main measure."""
        return tuple(best_first(self.evaluations, self.main))

    @property
    def duel(self) -> tuple[str, str] | None:
        """The two systems that are looked at first: the leader, and the baseline or the next best; None of a single.

        Of two saves the later one comes first.
        """
        if len(self.ranked) < 2:
            return None
        later = None if self.comparison is None else self.comparison.later
        if later is not None:
            earlier = next(name for name in self.ranked if name != later)
            return later, earlier
        baseline = None if self.comparison is None else next(iter(self.comparison.design.against), None)
        leader, second, *_ = self.ranked
        return leader, second if baseline is None or baseline == leader else baseline

    @cached_property
    def intervals(self) -> Mapping[tuple[str, str], Interval]:
        """The interval of each system, by its name and the label of a measure."""
        if self.comparison is not None:
            return self.comparison.intervals
        return {
            (name, label): found for name, one in self.evaluations.items() for label, found in one.intervals().items()
        }

    @cached_property
    def query_ids(self) -> list[str]:
        """The queries of all systems, sorted."""
        return sorted(set().union(*(one.query_ids.tolist() for one in self.evaluations.values())))

    @cached_property
    def texts(self) -> list[str] | None:
        """The text of each query; None if it is not known of any."""
        if self.queries is None or self.queries.text_column is None:
            return None
        texts = self.queries.texts(self.query_ids)
        return [texts.get(query, "") for query in self.query_ids]

    @property
    def is_summary(self) -> bool:
        """Whether there are so many queries that a page holds the values of some alone."""
        return len(self.query_ids) > MOST_QUERIES

    @cached_property
    def held(self) -> IntArray:
        """The places of the queries whose values a page holds: of many those that decide, by each measure."""
        if not self.is_summary:
            return np.arange(len(self.query_ids))
        measures = [measure for measure in self.measures if not measure.only_total] or [self.main]
        keys = [key for measure in measures for key in self._decisive(measure)]
        n_of_key = max(1, N_HELD // len(keys))
        chosen: list[IntArray] = [np.array(self.deciding, np.int64)]
        chosen += [first_places(-key, n_of_key) for key in keys]
        return np.unique(np.concatenate(chosen))

    def _decisive(self, measure: Measure) -> list[FloatArray]:
        """Return how much each query decides: by the difference of the duel, by its ties, and by how bad it is."""
        looked_at = [self.evaluations[name][measure] for name in self.duel or self.ranked[:1]]
        values = [self.of_all_queries(scores, scores.values) for scores in looked_at]
        spans = [self.of_all_queries(scores, scores.tie_max - scores.tie_min) for scores in looked_at]
        worth = np.max([measure.sign * column for column in values], axis=0)  # the better of the two
        keys = [np.sum(spans, axis=0), -worth]
        if len(values) > 1:
            keys.append(np.abs(values[0] - values[1]))
        return [np.nan_to_num(key, nan=-np.inf) for key in keys]

    @cached_property
    def held_ids(self) -> list[str]:
        """The ids of the queries whose values a page holds."""
        return [self.query_ids[place] for place in self.held.tolist()]

    @cache  # noqa: B019 - a subject lives as long as its page is made
    def rows_of(self, system: str) -> pl.DataFrame | None:
        """Return the rows of a run for the queries that a page holds; None if the run is not at hand."""
        run = self.runs.get(system)
        if run is None:
            return None
        is_held = nw.col("query_id").is_in(self.held_ids)
        if isinstance(run.rows, UnreadRows) and run.rows.in_polars:  # they were checked when they were evaluated
            run.rows.check_file()
            rows = collect_rows(run.rows.unchecked.filter(is_held))
            return run.rows.reading.read_in_polars(MemoryRows(rows).lazy).frame
        if isinstance(run.rows, LazyRows):  # those of other queries are not fetched
            return collect_rows(run.rows.lazy.filter(is_held))
        return run.to_polars().filter(pl.col("query_id").is_in(self.held_ids))

    @cache  # noqa: B019 - as above
    def ties_of(self, system: str) -> pl.DataFrame | None:
        """Return the ties of the queries that a page holds in a run; None if it is not at hand."""
        run = self.runs.get(system)
        if run is None:
            return None
        rows = self.rows_of(system) if self.is_summary else None
        groups = group_run(run) if rows is None else group_scores(rows)
        return select_queries(groups.describe_queries(), self.held_ids)

    def by_doc_id(self, system: str, measure: Measure) -> Scores | None:
        """Return the scores of a system with its ties broken by document id; None if they are not known."""
        return None if self.comparison is None else self.comparison.scores_by_doc_id(system, measure)

    @cache  # noqa: B019 - as above
    def strata(self, columns: tuple[str, ...]) -> dict[str, Strata]:
        """Return the strata of each system by some columns of the queries, one of the `groupings`."""
        return {name: strata_of(one, columns, self.queries) for name, one in self.evaluations.items()}

    def of_all_queries(self, scores: Scores, values: FloatArray) -> FloatArray:
        """Return values of a system for all queries; NaN where it has none."""
        if len(values) == len(self.query_ids):  # those of all systems
            return values
        return align_values(values, scores.query_ids, np.array(self.query_ids, dtype=object))

    @cached_property
    def deciding(self) -> list[int]:
        """The queries that decide most between the duel's systems, then between all; of one system the worst."""
        names = self.duel or self.ranked[:1]
        looked_at = [self.evaluations[name][self.main] for name in names]
        # how far tie order alone can move their values
        span = np.nan_to_num([self.of_all_queries(one, one.tie_max - one.tie_min) for one in looked_at]).sum(axis=0)
        every = {
            name: self.of_all_queries(one[self.main], one[self.main].values) for name, one in self.evaluations.items()
        }
        values = [every[name] for name in names]
        if len(names) == 1:
            keys = [self.main.sign * values[0], -span]
        else:
            spread = np.nan_to_num(np.fmax.reduce(list(every.values())) - np.fmin.reduce(list(every.values())))
            apart = np.abs(values[0] - values[1])
            if looked_at[0].weights is not None and looked_at[0].is_weighted:
                apart *= self.of_all_queries(looked_at[0], looked_at[0].weights)
            keys = [-np.round(apart, 12), -np.round(spread, 12), -span]
        order = np.lexsort((np.arange(len(span)), *reversed([np.nan_to_num(key, nan=np.inf) for key in keys])))
        return [int(n) for n in order[:N_DECIDING]]


def first_places(keys: FloatArray, n: int) -> IntArray:
    """Return the places of the n smallest keys, of equal ones the first.

    Examples
    --------
    >>> first_places(np.array([2.0, 1.0, 2.0, 3.0]), 2).tolist()
    [1, 0]
    """
    if n >= len(keys):
        return np.argsort(keys, kind="stable")
    limit = np.partition(keys, n - 1)[n - 1]
    places = np.flatnonzero(keys <= limit)
    return places[np.argsort(keys[places], kind="stable")][:n]


class Glance(NamedTuple):
    """A number that a reader looks at first.

    Attributes
    ----------
    heading : str
    value, text : str
        The number, and the line that says what it is; empty where there is nothing to say.
    """

    heading: str
    value: str
    text: str


def headline_of(subject: Subject, measure: Measure | None = None) -> str:
    """Return what was found in few words."""
    if subject.comparison is not None:
        return subject.comparison.judge(subject.margin, measure=measure).headline
    name, main = subject.ranked[0], subject.main if measure is None else measure
    scores = subject.evaluations[name][main]
    level, n = "total" if main.total else "mean", format_count(scores.n_queries, "query", "queries")
    return f"{name} has a {level} {main.label} of {format_cell(scores.reported())} over {n}."


def about(subject: Subject) -> str:
    """Return what it is about in one line: qrels, queries, how ties were broken."""
    n, ties = format_count(len(subject.query_ids), "query", "queries"), subject.first.ties
    return (
        f"{PurePath(subject.qrels).name}: {n}, {format_count(len(subject.ranked), 'system')},"
        f" ties: {'mean over all orders' if ties == 'expected' else ties}"
    )


def glance(subject: Subject, measure: Measure | None = None) -> list[Glance]:
    """Return three numbers: how large the lead is, how often ties reverse it, what so many queries can show."""
    if subject.comparison is None:
        return _of_one(subject, subject.main if measure is None else measure)
    found = subject.comparison.judge(subject.margin, measure=measure)
    wanted, design = (found.measure, found.system, found.baseline), subject.comparison.design
    pair = next((one for one in subject.comparison.pairs if (one.measure, one.system, one.baseline) == wanted), None)
    return [_lead(found, design, subject.comparison.later), _ties(pair), _smallest(found, design)]


def _of_one(subject: Subject, measure: Measure) -> list[Glance]:
    """Return the mean of the only system with its interval, and what ties make of it."""
    scores = subject.evaluations[subject.ranked[0]][measure]
    found = [Glance("level", format_cell(scores.reported()), f"{'total' if measure.total else 'mean'} {measure.label}")]
    if not measure.total and not np.isnan((interval := scores.interval()).low):
        text = f"{format_level(interval.confidence_level)} interval of the mean"
        why = "" if interval.is_known else f", which cannot be known: {interval.unknown}"
        found.append(Glance("interval", format_cell(interval_cell(interval)), text + why))
    ties = tie_range_cell(scores)
    if not ties.high - ties.low > NOISE:  # NaN too
        return found
    return [*found, Glance("ties", format_cell(ties), "what the order of equal scores alone can make of it")]


def _lead(found: Verdict, design: Design, later: str | None) -> Glance:
    """Return how far the leader is ahead; of two saves what the later one changed."""
    if found.leader is None:
        return Glance("lead", "none", f"nobody leads by {found.measure}")
    heading, sign = "lead", 1
    text = f"{found.measure}, {found.leader} over {found.runner_up}"
    if later in {found.leader, found.runner_up}:
        heading = "change"
        earlier = found.runner_up
        if later == found.runner_up:
            sign, earlier = -1, found.leader
        text = f"{found.measure}, {later} - {earlier}"
    if not np.isnan(found.low) and found.low < found.high:
        low, high = sorted((sign * found.low, sign * found.high))
        text += f"; {format_level(design.confidence_level)} interval {format_number(low)} to {format_number(high)}"
    return Glance(heading, format_signed(sign * found.difference) + unit_of(found.measure), text)


def _ties(pair: Pair | None) -> Glance:
    heading = "reversed by ties"
    if pair is None or np.isnan(pair.flip_probability) or not pair.can_flip:
        return Glance(heading, "", "")  # no lead to reverse, or no order that does: there is no box
    if not is_share_known(pair.flip_probability, pair.flip_standard_error):
        return Glance(heading, "?", "some order of the tied scores does, how many do is not known")
    chance = format_percentage(pair.flip_probability, pair.flip_standard_error)
    return Glance(heading, chance, "of random orders of the tied scores")


def _smallest(found: Verdict, design: Design) -> Glance:
    heading = "detectable difference"
    if found.detectable is None:
        return Glance(heading, "-", "not known for these data")
    level = f"{1 - design.confidence_level:.3g}"
    if found.n_tests > 1:
        level += f"/{found.n_tests}, corrected by {CORRECTION_NAMES[design.correction]}"
        if design.correction in MAX_T_CORRECTIONS:
            level = f"{1 - design.confidence_level:.3g} over {found.n_tests} differences"
    return Glance(
        heading,
        format_number(found.detectable) + unit_of(found.measure),
        f"the smallest that {format_count(found.n_queries, 'query', 'queries')} would show (power 80%, level {level})",
    )


MOST = 10  # queries that fell, and that rose
MOST_JUDGMENTS = 20


def before_and_after(comparison: Comparison, texts: dict[str, str]) -> tuple[Table, ...]:
    """Return the queries that fell and rose most by the first measure, and the judgments that changed.

    Parameters
    ----------
    comparison : Comparison
        Of two, of which the baseline is before.
    texts : dict of str to str
        Of queries, where there are any.
    """
    measure = comparison.measures[0]
    rows = comparison.queries(MOST).filter(pl.col("measure") == measure.label, pl.col("kind").is_in(["worst", "best"]))
    pair = next(one for one in comparison.pairs if one.measure == measure.label)
    less = " (less is better)" * (not measure.higher_is_better)
    has_ties = knows_ties(comparison)
    kind = Column("kind", "", lambda row: f"{'rose' if row['difference'] > 0 else 'fell'}{less}")
    columns = (
        Column("difference", "difference"),
        Column("baseline_value", pair.baseline),
        Column("value", pair.system),
        *([Column("ties", "over tie orders", lambda row: Span(row["tie_min"], row["tie_max"]))] if has_ties else []),
        *([Column("weight", "weight")] if any(row["weight"] is not None for row in rows.iter_rows(named=True)) else []),
        *([Column("text", "text", lambda row: texts.get(row["query_id"], ""))] if texts else []),
    )
    moved = rows.sort(pl.col("kind") == "best", maintain_order=True).to_dicts()
    first = (
        f"; the first {MOST} of {format_count(pair.losses, 'loss', 'losses')} and of {format_count(pair.wins, 'win')}"
    )
    title = f"{measure.label}: what fell and rose, {pair.system} - {pair.baseline}" + first * (
        max(pair.wins, pair.losses) > MOST
    )
    tables = [tabulate("moved", (kind, QUERY), columns, moved, title=title, has_blocks=True)] if moved else []
    for name, found in ({} if comparison.together is None else comparison.together.changes).items():
        documents = found.documents.sort("query_id", "doc_id")
        shown = documents.head(MOST_JUDGMENTS).to_dicts()
        grades = [Column(key, key, lambda row, key=key: count_cell(row[key])) for key in ("old", "new")]
        n = format_count(documents.height, "judgment")
        title = f"Judgments that changed since {name}: {n}" + ", the first" * (len(shown) < documents.height)
        tables.append(tabulate("judgments", (QUERY, Column("doc_id", "document")), grades, shown, title=title))
    return tuple(tables)
