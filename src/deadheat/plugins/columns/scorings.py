"""evaluate_columns(): many scorings of one collection, such as features, each evaluated as a run of its own."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from deadheat.core.arrays import FloatArray
from deadheat.core.data.document_table import DocumentTable
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.rounding import ScorePrecision, round_and_warn
from deadheat.core.data.rows import make_blocks
from deadheat.core.data.run import LOWER_FIRST, Run
from deadheat.core.data.sources import Source, as_path, make_label
from deadheat.core.errors import ColumnError, ParameterError, SourceTypeError
from deadheat.core.evaluation.evaluate_runs import evaluate_under
from deadheat.core.evaluation.evaluation import Evaluation
from deadheat.core.evaluation.warned import warn
from deadheat.core.io.columns import check_given
from deadheat.core.io.duplicates import refuse_merging
from deadheat.core.io.folders import choose_file
from deadheat.core.io.guarding import guard_polars
from deadheat.core.io.kinds import KEYS
from deadheat.core.measures import Custom, Measure
from deadheat.core.measures.notation import Measures, parse_measures
from deadheat.core.placements.contiguous import ContiguousEngine, find_judged
from deadheat.core.placements.tied_rows import are_tied
from deadheat.core.random_generators import Rng, random_generator
from deadheat.core.settings import Conventions
from deadheat.core.structures import copy_with
from deadheat.plugins.columns.tables import scan_columns, score_columns

MOST = 10_000  # columns that are evaluated without being named: a column takes about a millisecond
N_THREADS = 2  # columns at a time: NumPy sorts and adds without the interpreter's lock


def evaluate_columns(
    qrels: Source,
    table: Source | None = None,
    measures: Measures = None,
    columns: Sequence[str] | None = None,
    *,
    ties: str = "expected",
    rng: Rng = None,
    missing: str | None = None,
    no_relevant: str | None = None,
    score_precision: ScorePrecision = None,
    ascending: bool = False,
    duplicates: str = "error",
    rel: float | None = None,
    judged_only: bool = False,
    depth: int | None = None,
) -> dict[str, Evaluation]:
    """Evaluate every column of a table as a run of its own, to see which feature ranks best.

    The table is joined with the judgments once; the numbers are those of :func:`deadheat.evaluate` for each column.

    Parameters
    ----------
    qrels : path, dict of dict, dataframe or Qrels
        As for :func:`deadheat.evaluate`. A LETOR (SVMlight) file or a table with a column of relevance holds qrels and
        scores at once.
    table : path or dataframe, optional
        Columns query_id, doc_id, and one score a column: CSV, TSV, Parquet, JSON Lines, LETOR or a dataframe; by
        default the same as the qrels. In LETOR a feature that a line lacks is 0, and documents without ``docid =`` in
        their comment are numbered from 0 in the order of the file.
    measures : measure or iterable of measures, optional
        As for :func:`deadheat.evaluate`.
    columns : list of str, optional
        The columns to evaluate; features of LETOR by their numbers as text. By default all columns of numbers but for
        ids, relevance and ranks.
    ties, rng, missing, no_relevant, score_precision, rel, judged_only, depth
        As for :func:`deadheat.evaluate`; each column is drawn with the same seed.
    ascending : bool, default False
        Lower scores rank first, in every column.
    duplicates : {"error", "trust"}, default "error"
        As for :func:`deadheat.evaluate`. Nothing is merged, as the best row differs from column to column.

    Returns
    -------
    dict of str to Evaluation
        By the name of the column, in the order of the table.

    Raises
    ------
    DataError
        The data cannot be evaluated; the message names the place.
    MeasureError, ParameterError
        A measure or an option is unknown.

    Notes
    -----
    The best of many columns looks better on the queries that it was chosen by than on others. Choose on some queries,
    and evaluate on others; or compare with :func:`deadheat.compare_evaluations`, which corrects for the number of rows.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame(
    ...     {
    ...         "query_id": ["q"] * 3,
    ...         "doc_id": ["a", "b", "c"],
    ...         "relevance": [1, 0, 0],
    ...         "bm25": [2.5, 1.0, 3.0],
    ...         "clicks": [7, 7, 0],
    ...     }
    ... )
    >>> {name: one.means() for name, one in evaluate_columns(table, measures="RR").items()}
    {'bm25': {'RR': 0.5}, 'clicks': {'RR': 0.75}}
    """
    conventions = Conventions.of(locals())
    refuse_merging(duplicates, "several columns of scores")
    chosen = parse_measures(measures)
    judged, scorings = open_scorings(qrels, table, columns, ascending=ascending)
    judged.check_duplicates()
    if duplicates != "trust":
        scorings.check_duplicates()
    # one draw a call: a generator gives each column the same orders, as a seed does
    seed = int(random_generator(rng).integers(2**62)) if isinstance(rng, np.random.Generator) else rng
    found = {one.name: one.evaluation for one in evaluate_scorings(conventions, judged, scorings, chosen, seed)}
    first = next(iter(found.values()))
    warn({scorings.where: first}, judged, {scorings.where: scorings.run(first.name)}, missing=missing)
    return found


class Scorings:
    """A table with one score a column.

    Parameters
    ----------
    source : path or dataframe
        CSV, TSV, Parquet, JSON Lines or LETOR (SVMlight), or a dataframe that Narwhals takes.
    columns : sequence of str, optional
        The columns of scores; by default all columns of numbers but for ids, relevance and ranks.
    names : dict of str to str, optional
        Names of other columns that are not recognised, such as ``{"doc_id": "hit"}``.
    ascending : bool, default False
        Lower scores rank first.

    Attributes
    ----------
    where : str
        Where the rows come from, for messages.
    ids : polars.DataFrame
        query_id and doc_id.
    scores : dict of str to ndarray of float, shape (n_rows,)
        Higher ones rank first.
    qrels : Qrels or None
        The judgments that a LETOR file holds too.
    notes : tuple of str
    """

    def __init__(
        self,
        source: Source,
        columns: Sequence[str] | None = None,
        *,
        names: Mapping[str, str] | None = None,
        ascending: bool = False,
    ) -> None:
        if isinstance(source, DocumentTable):
            raise SourceTypeError(given=source, allowed="a path or a dataframe with one score a column")
        names_asked = _check_names(columns)
        given = check_given(names or {})
        path = as_path(source)
        if path is not None and path.is_dir():
            path = choose_file(path, "run")[0]
        self.where = str(path) if path else "the table"
        with guard_polars(self.where):
            if path:
                found = scan_columns(path, names_asked, given)
            else:
                found = score_columns(source, names_asked, given, self.where)
        if names_asked is None and len(found.scores) > MOST:
            raise ColumnError(
                f"{len(found.scores):,} columns of scores are too many to evaluate all",
                allowed=f"{MOST:,} or fewer",
                hint="name some of them (columns=, --score-columns)",
                path=path or self.where,
            )
        self._path, self._given = path, given
        self.ids = found.ids
        self.scores: dict[str, FloatArray] = dict(found.scores)
        self.notes = tuple(found.notes)
        if ascending:
            self.scores = {name: 0.0 - scores for name, scores in found.scores.items()}
            self.notes = (*found.notes, LOWER_FIRST)
        self.qrels: Qrels | None = None
        if found.relevance is not None and path is not None:
            judgments = found.ids.with_columns(relevance=found.relevance)
            self.qrels = copy_with(Qrels.of_checked(judgments, make_label(path)), path=path)

    def check_duplicates(self) -> None:
        """Raise `DuplicateError` if a (query, document) pair is repeated."""
        first = next(iter(self.scores))
        own = {"name": self.where, "path": self._path, "columns": {**self._given, "score": first}}
        copy_with(self.run(first), **own).check_duplicates()

    def run(self, name: str) -> Run:
        """Return one of the scorings as a run."""
        frame = self.ids.select(KEYS).with_columns(score=pl.Series(self.scores[name]))
        return Run.of_checked(frame, name).noted(self.notes)


def _check_names(columns: Sequence[str] | None) -> list[str] | None:
    """Return the names of columns that were asked for, one or more; None for all."""
    if columns is None:
        return None
    names = [columns] if isinstance(columns, str) else list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        raise ParameterError(argument="columns", given=columns, allowed="names of columns, as text, or None for all")
    return names


def open_scorings(
    qrels: Source,
    table: Source | None,
    columns: Sequence[str] | None,
    *,
    ascending: bool = False,
    names: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Qrels, Scorings]:
    """Read judgments and scores; a LETOR file that holds both is read once.

    Parameters
    ----------
    qrels, table, columns, ascending
        As for :func:`evaluate_columns`.
    names : mapping of str to mapping, optional
        Names of columns that the user says, of "qrels" and of "run".
    """
    given = names or {}
    scorings = Scorings(qrels if table is None else table, columns, names=given.get("run"), ascending=ascending)
    if isinstance(qrels, Qrels):
        return qrels, scorings
    path, other = as_path(qrels), None if table is None else as_path(table)
    is_same = table is None or (path is not None and other is not None and path.resolve() == other.resolve())
    judged = scorings.qrels if is_same else None  # of a LETOR file
    return judged or Qrels(qrels, columns=given.get("qrels")), scorings


@dataclass(frozen=True, eq=False)
class Scored:
    """The evaluation of one column.

    Attributes
    ----------
    name : str
    evaluation : Evaluation
    n_tied, n_documents : int
        Documents that tie with another of their query, and all, in queries that have judgments.
    reversed : float or None
        Mean of the first measure if the lowest scores ranked first; None if it was not asked for.
    """

    name: str
    evaluation: Evaluation
    n_tied: int
    n_documents: int
    reversed: float | None = None


def evaluate_scorings(
    conventions: Conventions,
    qrels: Qrels,
    scorings: Scorings,
    measures: Sequence[Measure],
    rng: Rng = None,
    *,
    both_ways: bool = False,
) -> Iterator[Scored]:
    """Yield the evaluation of each column, one at a time, without warnings and without a check for duplicates.

    Parameters
    ----------
    conventions : Conventions
    qrels : Qrels
    scorings : Scorings
    measures : sequence of Measure
    rng : numpy.random.Generator or int, optional
    both_ways : bool, default False
        Whether to evaluate the first measure for the reverse order too.
    """
    table = scorings.run(next(iter(scorings.scores)))  # its name and notes: the scores are those of the column
    blocks = make_blocks(scorings.ids.select(KEYS).with_columns(row=pl.int_range(pl.len())))
    rows = blocks.frame["row"].to_numpy()
    with guard_polars(scorings.where):
        judged = find_judged(qrels.to_polars(), blocks)
    is_judged = blocks.query_ids.is_in(qrels.to_polars()["query_id"].unique().implode()).to_numpy()
    counts = np.repeat(is_judged, np.diff(blocks.bounds))

    def evaluated(name: str, scores: FloatArray) -> Scored:
        def under(some: Sequence[Measure], given: FloatArray) -> Evaluation:
            own = replace(blocks, frame=blocks.frame.with_columns(score=pl.Series(given)))
            engine = ContiguousEngine(qrels, table, own, judged)
            return evaluate_under(conventions, qrels, table.renamed(name), some, rng, engine=engine)

        own = scores[rows]
        evaluation, reverse = under(measures, own), None
        if both_ways:
            reverse = next(iter(under(measures[:1], 0.0 - own))).reported()
        n_tied = int(np.count_nonzero(are_tied(own, blocks.bounds) & counts))
        return Scored(name, evaluation, n_tied, int(np.count_nonzero(counts)), reverse)

    # a user's function may not be made for several threads
    n_threads = 1 if any(isinstance(one, Custom) for one in measures) else N_THREADS
    rounded = (round_and_warn(given, conventions.score_precision) for given in scorings.scores.values())
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(evaluated, scorings.scores, rounded)
