"""simulate_rerankers(): rerankers that tie more or less often, and queries that are more or less hard, made up.

What is simulated, the simulation of many queries at once, and what it returns: judgments, runs, and what their ties do.
simulate_scenarios() simulates small rankings of which some tie, and no reranker.
"""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import MISSING, astuple, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import numpy as np
import polars as pl

from deadheat.core.arrays import BoolArray, FloatArray, IntArray
from deadheat.core.checks import as_count
from deadheat.core.data.qrels import Qrels
from deadheat.core.data.renderable import Plottable
from deadheat.core.data.run import Run
from deadheat.core.errors import ParameterError
from deadheat.core.io.file_names import LONGEST_NAME, make_file_name
from deadheat.core.io.files import check_path
from deadheat.core.io.formats import write
from deadheat.core.io.guarding import check_threads
from deadheat.core.io.writing import write_files
from deadheat.core.measures import RR, Hit, Measure
from deadheat.core.measures.notation import MeasureLike, parse_measures
from deadheat.core.random_generators import Rng, check_rng, random_generator
from deadheat.core.scalars import as_integer, is_number
from deadheat.core.settings import Settings, setting
from deadheat.core.wording import did_you_mean, escape_invisible, format_count
from deadheat.plugins.ties.coarsening import check_coarse
from deadheat.plugins.ties.profile import TieProfile, tie_profile

Named = TypeVar("Named", "Reranker", "QueryType")

ROOM = 60  # bytes of a file name that endings and temporary names may take
TIED_AT_LEAST = 2  # documents of one tie of a query
TIED_AT_MOST = 4
FEWEST_SCORES = 3  # that the documents of a query share
STREAM_OF_QUERIES = 1  # of random numbers
STREAM_OF_RERANKERS = 2
MEASURES = (RR(), Hit() @ 5)
MEASURES_OF_SCENARIOS = (RR(), Hit() @ 3)
CUTOFFS = (1, 3, 5, 10)


def _as_name(name: str, given: object) -> object:
    if not isinstance(given, str) or not given.strip() or not given.isprintable():
        raise ParameterError(argument=name, given=given, allowed="a word or words that can be printed")
    return given


def _is_share(given: object) -> bool:
    return is_number(given) and 0 <= cast("float", given) <= 1


def _as_share(name: str, given: object) -> object:
    if not _is_share(given):
        raise ParameterError(argument=name, given=given, allowed="a probability, from 0 to 1")
    return given


def _as_span(name: str, given: object, *, is_allowed: Callable[[object], bool], allowed: str) -> object:
    if isinstance(given, tuple) and len(given) == 2:
        low, high = given
        if is_allowed(low) and is_allowed(high) and low <= high:
            return given
    raise ParameterError(argument=name, given=given, allowed=f"{allowed}, the lower one first")


def _as_levels(_: str, given: int) -> int | None:
    check_coarse(levels=given)
    return as_integer(given)


def _is_count(given: object) -> bool:
    number = as_integer(given)
    return number is not None and number > 0


_as_counts = partial(_as_span, is_allowed=_is_count, allowed="a tuple of two whole numbers from 1 on")
_as_shares = partial(_as_span, is_allowed=_is_share, allowed="a tuple of two numbers from 0 to 1")


@dataclass(frozen=True)
class Reranker(Settings):
    """A reranker to simulate.

    Attributes
    ----------
    name : str
        Of its run and its file.
    levels : int or None
        Scores that it can give, equally spaced from 0 to 1; None for any score.
    tie_probability : float
        With this probability each document, one after the other, gives its score to another one.
    lowest, highest : float, default 0.1 and 0.9
        Between these a score lies before it is raised for relevant documents.

    Examples
    --------
    >>> Reranker("grades", levels=4, tie_probability=0.0)
    Reranker(name='grades', levels=4, tie_probability=0.0, lowest=0.1, highest=0.9)
    """

    name: str = setting(MISSING, _as_name)
    levels: int | None = setting(None, _as_levels)
    tie_probability: float = setting(0.0, _as_share)
    lowest: float = 0.1
    highest: float = 0.9

    def __post_init__(self) -> None:
        """Check each setting, and that scores lie between two numbers."""
        super().__post_init__()
        _as_span("lowest and highest", (self.lowest, self.highest), is_allowed=_is_share, allowed="numbers from 0 to 1")

    @property
    def file_name(self) -> str:
        """The name of the file of its run, without the ending; one word, which a TREC run can hold too."""
        return make_file_name("_".join(self.name.split()), LONGEST_NAME - ROOM)


@dataclass(frozen=True)
class QueryType(Settings):
    """A kind of query to simulate.

    Attributes
    ----------
    name : str
    performance : float
        Probability that a reranker raises the score of a relevant document.
    tie_probability : float
        Probability that two to four documents of the query get one score.
    raised : tuple of float, default (0.2, 0.4)
        By how much a score is raised: at least and at most.
    n_documents, n_relevant : tuple of int
        At least and at most.
    repeated : float, default 0
        Probability that the documents of the query share a few scores: three, or more up to as many as documents, of
        which each document has one at random.
    """

    name: str = setting(MISSING, _as_name)
    performance: float = setting(MISSING, _as_share)
    tie_probability: float = setting(0.0, _as_share)
    raised: tuple[float, float] = setting((0.2, 0.4), _as_shares)
    n_documents: tuple[int, int] = setting((10, 19), _as_counts)
    n_relevant: tuple[int, int] = setting((1, 3), _as_counts)
    repeated: float = setting(0.0, _as_share)


# The four of source 1: levels, and how often a document gives its score to another.
PRESETS = (
    Reranker("low", 20, 0.1),
    Reranker("medium", 10, 0.3),
    Reranker("high", 5, 0.5),
    Reranker("very-high", 3, 0.7),
)
# Its four kinds of queries.
QUERY_TYPES = (
    QueryType("simple factual", 0.8, 0.2),
    QueryType("complex reasoning", 0.6, 0.4),
    QueryType("multi-hop", 0.7, 0.5),
    QueryType("ambiguous", 0.5, 0.6),
)
# Those that it tries its rerankers on, which are all alike.
PLAIN = QueryType("plain", 0.9, 0.0, (0.1, 0.3), (8, 19), (1, 4))
# The small rankings that it begins with, whose scores say nothing about relevance.
SCENARIO = QueryType("scenario", 0.0, n_documents=(5, 14), n_relevant=(1, 3), repeated=0.3)
CHANCE = Reranker("chance", lowest=0.1, highest=1.0)


@dataclass(frozen=True, eq=False)
class Simulation(Plottable, figures="ties", shown=("traditional", "largest_tie", "tie_histogram")):
    """Simulated queries, judgments and runs. Made by :func:`simulate_rerankers` and :func:`simulate_scenarios`.

    Attributes
    ----------
    qrels : Qrels
        Every document is judged: 1 is relevant, 0 is not.
    runs : dict of str to Run
        By the name of the reranker.
    queries : polars.DataFrame
        query_id and query_type.
    rerankers : tuple of Reranker
    query_types : tuple of QueryType
    measures : tuple of Measure
        By which it is told what ties do.
    """

    qrels: Qrels
    runs: dict[str, Run]
    queries: pl.DataFrame
    rerankers: tuple[Reranker, ...]
    query_types: tuple[QueryType, ...]
    measures: tuple[Measure, ...] = MEASURES

    def __repr__(self) -> str:
        n_queries = format_count(self.queries.height, "query", "queries")
        return escape_invisible(f"<Simulation of {', '.join(self.runs)}: {n_queries}>")

    @cached_property
    def profiles(self) -> dict[str, TieProfile]:
        """The ties of each run by the name of its reranker, with the order of the input beside the exact values."""
        profiles = {}
        for name, run in self.runs.items():
            profiles[name] = tie_profile(run, self.qrels, CUTOFFS, self.measures, beside="input")
        return profiles

    def summary(self) -> pl.DataFrame:
        """Return what ties do to each reranker, as a row for each and for each measure.

        Returns
        -------
        polars.DataFrame
            reranker, levels, tie_probability, measure, n_queries; tie_ratio (share of the documents of a query that
            tie, its mean over queries) and tie_ratio_std; mean_ties and mean_largest_tie (of a query); share_with_ties
            (of the queries) and share_affected (queries whose value depends on the order of ties); input_order (the
            mean if ties keep the order of the input, as "traditional" measures do), exact (over all orders), and their
            standard deviations over queries; mean, maximum and standard deviation over queries of the absolute
            difference of the two.
        """
        check_threads()
        rows = []
        for reranker in self.rerankers:
            rows += self._summarise(reranker)
        frame = pl.DataFrame(rows, schema_overrides={"levels": pl.Int64}, infer_schema_length=None)
        return frame.with_columns(pl.col(pl.Float64).fill_nan(None))

    def _summarise(self, reranker: Reranker) -> list[dict[str, Any]]:
        """Return the rows of :meth:`summary` of one reranker."""
        profile = self.profiles[reranker.name]
        ratio = profile.queries["tie_ratio"]
        rows = []
        for decided, stability in zip(profile.decided, profile.stability, strict=True):
            difference = stability.difference
            row = {
                "reranker": reranker.name,
                "levels": reranker.levels,
                "tie_probability": float(reranker.tie_probability),
                "measure": difference.measure.label,
                "n_queries": difference.n_queries,
                "tie_ratio": ratio.mean(),
                "tie_ratio_std": ratio.std(),
                "mean_ties": profile.mean_ties,
                "mean_largest_tie": profile.mean_largest_tie,
                "share_with_ties": profile.n_queries_with_ties / profile.n_queries,
                "share_affected": decided.share_of_queries,
                "input_order": difference.traditional,
                "input_order_std": difference.traditional_std,
                "exact": difference.exact,
                "exact_std": difference.std,
                "mean_difference": difference.mean,
                "max_difference": difference.max,
                "std_difference": difference.distance_std,
            }
            rows.append(row)
        return rows

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write qrels.txt, a TREC run for each reranker (NAME.run) and queries.csv: all of them or none.

        Parameters
        ----------
        folder : path
            Made if it does not exist; its parent must.
        force : bool, default False
            Replace files that are there and differ.

        Returns
        -------
        list of pathlib.Path

        Raises
        ------
        DataError
            A file is there already and differs, or the folder cannot be made.
        """
        check_threads()
        write_qrels = partial(write, self.qrels.to_polars(), kind="qrels", format="trec")
        files: dict[str, Callable[[IO[bytes]], Any]] = {"qrels.txt": write_qrels}
        for reranker in self.rerankers:
            run = self.runs[reranker.name].to_polars()
            file_name = reranker.file_name
            files[f"{file_name}.run"] = partial(write, run, kind="run", format="trec", tag=file_name)
        files["queries.csv"] = self.queries.write_csv
        return write_files(check_path(folder), files, force=force)


def simulate_rerankers(
    n_queries: int = 100,
    presets: Iterable[str | Reranker] | str | Reranker | None = None,
    rng: Rng = 0,
    *,
    query_types: Iterable[str | QueryType] | str | QueryType | None = None,
    measures: MeasureLike | Iterable[MeasureLike] = MEASURES,
) -> Simulation:
    """Simulate queries with judged documents, and the runs of rerankers that tie more or less often.

    A document has a random score; that of a relevant one is mostly raised. The score is set to the nearest level that
    the reranker has. Then each document in turn gives its score to another one with the probability of the reranker.

    Parameters
    ----------
    n_queries : int, default 100
    presets : names or Reranker, or several of them, optional
        "low", "medium", "high" and "very-high": with 20, 10, 5 and 3 levels, and a probability of ties of 0.1, 0.3, 0.5
        and 0.7. By default all four.
    rng : int, numpy.random.Generator or None, default 0
        With the same seed a reranker gives the same scores, whatever other rerankers there are.
    query_types : names or QueryType, or several of them, optional
        "simple factual", "complex reasoning", "multi-hop" and "ambiguous", which follow each other in turn (the
        default); "plain": all alike, easier, with ties of the reranker alone; "scenario": as
        :func:`simulate_scenarios`.
    measures : measure or iterable of measures, default RR and Hit@5
        By which ``profiles`` and ``summary()`` tell what ties do.

    Returns
    -------
    Simulation
        ``qrels``, ``runs`` by name, ``queries``, ``profiles`` of ties, ``summary()``, ``plot()`` and
        ``write(folder)``.

    Raises
    ------
    ParameterError
        There is no such preset or type of query, or a number is not allowed.

    Examples
    --------
    >>> found = simulate_rerankers(200, ["low", "very-high"])
    >>> list(found.runs), found.queries["query_type"].n_unique()
    (['low', 'very-high'], 4)
    >>> found.summary().select("reranker", "measure", pl.col("mean_difference").round(2)).rows()
    [('low', 'RR', 0.06), ('low', 'Hit@5', 0.03), ('very-high', 'RR', 0.18), ('very-high', 'Hit@5', 0.19)]
    """
    check_threads()
    n_queries = as_count("n_queries", n_queries)
    check_rng("rng", rng)
    rerankers = choose("presets", presets, PRESETS, PRESETS)
    kinds = choose("query_types", query_types, (*QUERY_TYPES, PLAIN, SCENARIO), QUERY_TYPES)
    made = _make_queries(n_queries, kinds, random_generator(rng, STREAM_OF_QUERIES))
    query_ids = _number_ids("q", n_queries)
    documents = _name_documents(made, query_ids)
    runs = {}
    for reranker in rerankers:
        settings = repr(astuple(reranker)).encode()  # each reranker has random numbers of its own
        generator = random_generator(rng, STREAM_OF_RERANKERS, *hashlib.sha256(settings).digest())
        scores = _draw_scores(reranker, made, generator)
        runs[reranker.name] = Run.of_checked(documents.with_columns(score=scores[made.has_document]), reranker.name)
    relevance = made.is_relevant[made.has_document].astype(np.float64)
    names_of_kinds = [kinds[n].name for n in made.kind.tolist()]
    return Simulation(
        Qrels.of_checked(documents.with_columns(relevance=relevance), "simulated"),
        runs,
        pl.DataFrame({"query_id": query_ids, "query_type": names_of_kinds}),
        rerankers,
        kinds,
        parse_measures(measures),
    )


def simulate_scenarios(
    n_scenarios: int = 200, rng: Rng = 0, *, measures: MeasureLike | Iterable[MeasureLike] = MEASURES_OF_SCENARIOS
) -> Simulation:
    """Simulate small rankings, with ties in about three of ten, to see what the order of ties does.

    Each has 5 to 14 documents, of which 1 to 3 are relevant, in an order that is chance. In three of ten the documents
    share a few scores; in the others no two scores are equal.

    Parameters
    ----------
    n_scenarios : int, default 200
    rng : int, numpy.random.Generator or None, default 0
    measures : measure or iterable of measures, default RR and Hit@3

    Returns
    -------
    Simulation
        Of one run, "chance", whose queries are the scenarios.

    Raises
    ------
    ParameterError
        A number is not allowed.

    Examples
    --------
    >>> found = simulate_scenarios(200)
    >>> found.profiles["chance"].n_queries_with_ties
    60
    >>> found.summary().select("measure", pl.col("mean_difference", "max_difference").round(2)).rows()
    [('RR', 0.04, 0.54), ('Hit@3', 0.02, 0.67)]
    """
    n_scenarios = as_count("n_scenarios", n_scenarios)
    return simulate_rerankers(n_scenarios, CHANCE, rng, query_types=SCENARIO, measures=measures)


@dataclass(frozen=True, eq=False)
class MadeQueries:
    """Queries and their documents.

    Attributes
    ----------
    kinds : tuple of QueryType
    kind : ndarray of int, shape (n_queries,)
        The place of each query's kind in `kinds`.
    has_document : ndarray of bool, shape (n_queries, most_documents)
        Where there is a document.
    is_relevant : ndarray of bool, shape (n_queries, most_documents)
    """

    kinds: tuple[QueryType, ...]
    kind: IntArray
    has_document: BoolArray
    is_relevant: BoolArray

    @property
    def n_documents(self) -> IntArray:
        """Documents of each query, of shape (n_queries,)."""
        return self.has_document.sum(axis=1)

    def of_kind(self, name: str) -> FloatArray:
        """Return a number of each query's kind, of shape (n_queries, 1), or a pair of numbers, (n_queries, 2)."""
        numbers = np.array([getattr(kind, name) for kind in self.kinds], np.float64)
        return numbers.reshape(len(self.kinds), -1)[self.kind]


def _number_ids(letter: str, n: int) -> pl.Series:
    """Return q1, q2 and so on, with zeros in front, so that texts sort as numbers."""
    return letter + pl.Series(np.arange(1, n + 1)).cast(pl.String).str.zfill(len(str(n)))


def _name_documents(made: MadeQueries, query_ids: pl.Series) -> pl.DataFrame:
    """Return query_id and doc_id of every document, query by query: q1-d1, q1-d2, ..."""
    query, place = np.nonzero(made.has_document)
    query_of_document = query_ids.gather(query.tolist())
    name_of_document = _number_ids("d", made.has_document.shape[1]).gather(place.tolist())
    return pl.DataFrame({"query_id": query_of_document, "doc_id": query_of_document + "-" + name_of_document})


def _make_queries(n_queries: int, kinds: tuple[QueryType, ...], rng: np.random.Generator) -> MadeQueries:
    """Draw how many documents each query has, and which of them are relevant; kinds follow each other in turn."""
    kind = np.arange(n_queries) % len(kinds)
    fewest_documents, most_documents = np.array([query_type.n_documents for query_type in kinds])[kind].T
    fewest_relevant, most_relevant = np.array([query_type.n_relevant for query_type in kinds])[kind].T
    n_documents = rng.integers(fewest_documents, most_documents, endpoint=True)
    n_relevant = rng.integers(
        np.minimum(fewest_relevant, n_documents), np.minimum(most_relevant, n_documents), endpoint=True
    )
    has_document = np.arange(n_documents.max()) < n_documents[:, None]
    is_relevant = has_document & (_shuffle_places(has_document, rng) < n_relevant[:, None])
    return MadeQueries(kinds, kind, has_document, is_relevant)


def _shuffle_places(has_document: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return the places 0, 1, ... of the documents of each query in a random order."""
    keys = np.where(has_document, rng.random(has_document.shape), np.inf)
    return keys.argsort(axis=1).argsort(axis=1)


def _draw_scores(reranker: Reranker, made: MadeQueries, rng: np.random.Generator) -> FloatArray:
    """Draw the scores of a reranker, of shape (n_queries, most_documents)."""
    shape = made.has_document.shape
    scores: FloatArray = rng.uniform(reranker.lowest, reranker.highest, shape)
    if made.of_kind("repeated").any():  # where none is, nothing is drawn, so that later random numbers stay the same
        scores = _share_some(scores, made, rng)
    low, high = np.hsplit(made.of_kind("raised"), 2)
    is_raised = made.is_relevant & (rng.random(shape) < made.of_kind("performance"))
    scores += is_raised * rng.uniform(low, high, shape)
    scores = np.clip(_tie_some(scores, made, rng), 0.0, 1.0)
    if reranker.levels is not None:  # the nearest of equally spaced levels, of two the lower one
        last_level = reranker.levels - 1
        scores = np.ceil(scores * last_level - 0.5) / max(last_level, 1) + 0.0
    return _give_scores(scores, made, reranker.tie_probability, rng)


def _share_some(scores: FloatArray, made: MadeQueries, rng: np.random.Generator) -> FloatArray:
    """Let the documents of some queries have one of a few scores each, as often as the kind of the query says."""
    n_documents = made.n_documents[:, None]
    n_scores = rng.integers(np.minimum(FEWEST_SCORES, n_documents), n_documents, endpoint=True)
    is_shared = rng.random(n_documents.shape) < made.of_kind("repeated")
    places = rng.integers(n_scores, size=scores.shape)
    shared_scores = np.take_along_axis(scores, places, axis=1)
    return np.where(is_shared, shared_scores, scores)


def _tie_some(scores: FloatArray, made: MadeQueries, rng: np.random.Generator) -> FloatArray:
    """Give two to four documents of a query the score of one of its documents, as often as its kind says."""
    n_documents = made.n_documents
    probability = made.of_kind("tie_probability")[:, 0]
    has_tie = (rng.random(len(scores)) < probability) & (n_documents >= TIED_AT_LEAST)
    size = rng.integers(TIED_AT_LEAST, np.clip(n_documents, TIED_AT_LEAST, TIED_AT_MOST), endpoint=True)
    score = scores[np.arange(len(scores)), rng.integers(n_documents)]
    is_tied = has_tie[:, None] & (_shuffle_places(made.has_document, rng) < size[:, None])
    return np.where(is_tied, score[:, None], scores)


def _give_scores(scores: FloatArray, made: MadeQueries, probability: float, rng: np.random.Generator) -> FloatArray:
    """Let each document in turn give its score to another one: what it gives may have been given to it."""
    n_documents = made.n_documents
    rows = np.arange(len(scores))
    for place in range(scores.shape[1]):
        gives = (rng.random(len(rows)) < probability) & (place < n_documents) & (n_documents > 1)
        other = rng.integers(np.maximum(n_documents - 1, 1))
        other += other >= place
        scores[rows[gives], other[gives]] = scores[gives, place]
    return scores


def choose(
    argument: str,
    given: Iterable[str | Named] | str | Named | None,
    known: tuple[Named, ...],
    default: tuple[Named, ...],
) -> tuple[Named, ...]:
    """Return the rerankers chosen, by name or made by the caller; their names must differ, also as file names."""
    if given is None:
        return default
    by_name: dict[Any, Named] = {preset.name: preset for preset in known}
    kind = type(known[0])
    is_single = isinstance(given, str | kind) or not isinstance(cast("object", given), Iterable)
    listed: list[Any] = [given] if is_single else list(cast("Iterable[Any]", given))
    allowed = f"names among {', '.join(map(repr, by_name))}, or a {kind.__name__}"
    if not listed:
        raise ParameterError(argument=argument, given=listed, allowed=allowed)
    chosen: list[Any] = []
    for entry in listed:
        preset = by_name.get(entry, entry) if isinstance(entry, str) else entry
        if not isinstance(preset, kind):
            hint = did_you_mean(preset, map(str, by_name))
            raise ParameterError(argument=argument, given=preset, allowed=allowed, hint=hint)
        chosen.append(preset)
    names = [str(getattr(preset, "file_name", preset.name)).casefold() for preset in chosen]
    for name, preset in zip(names, chosen, strict=True):
        if names.count(name) > 1:
            raise ParameterError(f"two {argument} would be called {preset.name!r}", hint="give each a name of its own")
    return tuple(chosen)
