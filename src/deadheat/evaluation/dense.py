"""Matrices of scores, or the vectors that give them, evaluated without a ranking: whole, or batch by batch."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from deadheat.checks import as_count, as_text, check_choice
from deadheat.data.doubts import note_of_negative
from deadheat.data.renderable import frame_of
from deadheat.data.tables import Qrels
from deadheat.errors import Advice, DataError, DuplicateError, ParameterError, SourceTypeError
from deadheat.evaluation.evaluate import check_measures, score_of
from deadheat.evaluation.evaluation import Evaluation
from deadheat.evaluation.sampled import POSITIVES, sampled_scores
from deadheat.evaluation.saved import ENCODING, SCHEMAS, DocumentKind, packed, unpacked_columns
from deadheat.evaluation.scores import Scores
from deadheat.evaluation.shapes import (
    FLAG_OR_NONE,
    TEXT,
    TEXTS,
    WHOLE_OR_NONE,
    Fields,
    NoneOr,
    OfConventions,
)
from deadheat.measures import Measure
from deadheat.measures.notation import MeasureLike, parse_measures
from deadheat.placements import policies
from deadheat.placements.dense import Counted, count_dense, ids_at
from deadheat.placements.embeddings import SIMILARITIES, count_embeddings
from deadheat.placements.lists import Lists
from deadheat.random_generators import Rng, random_generator
from deadheat.scalars import as_integer
from deadheat.settings import Conventions
from deadheat.wording import escape_invisible, format_count, format_given

TIES = ("expected", "best", "worst", "random")  # others look at ids or at the order of rows, which a matrix lacks
REPEATED = ("error", "once")
STATE_TABLES: dict[str, dict[str, type[pl.DataType]]] = {
    "queries": {"query_id": pl.String, "n_retrieved": pl.Int64},
    "judged": SCHEMAS["retrieved"],  # those that were not have tied 0
}
DEPTH = 20  # ranks of each list that are kept for items
PLACES: dict[str, type[pl.DataType]] = dict.fromkeys(("query", "document", "above", "tied"), pl.Int32)
DOCUMENTS: dict[str, type[pl.DataType]] = {"doc_id": pl.String}
STATE = DocumentKind(
    "deadheat accumulator",
    1,
    "the state of an accumulator",
    "Accumulator.save writes one",
    Fields(
        {
            "measures": TEXTS,
            "conventions": OfConventions(),
            "numbered": FLAG_OR_NONE,
            "data": NoneOr(Fields({"queries": TEXT, "judged": TEXT}, {"lists": TEXT, "documents": TEXT})),
        },
        {"items": WHOLE_OR_NONE},
    ),
)
OF_TIES = ("tie_std", "tie_min", "tie_max")


def evaluate_dense(
    scores: ArrayLike,
    relevant: object,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    exclude: object = None,
    mask: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    ties: str = "expected",
    rng: Rng = None,
    no_relevant: str = "zero",
    items: bool | int = False,
    sampled: int | None = None,
    positives: str = "together",
    name: str = "scores",
) -> Evaluation:
    """Evaluate a matrix of scores, as recommenders and embedding models give them.

    For each judged document the scores of its row that are above it and equal to it are counted: no ranking is made,
    no dict, and no copy. The result is what :func:`deadheat.evaluate` gives for the same scores. Numbers are compared
    as they are: float16 and bfloat16 scores tie where these tie.

    Parameters
    ----------
    scores : array of number, shape (n_queries, n_documents)
        Of NumPy, PyTorch, JAX, CuPy or another library that keeps to the array API standard; or lists. Higher scores
        rank first. Every document of a row is retrieved, also with a score of -inf. An array on a GPU is counted there
        (with the extra ``dense``). A vector, such as :func:`popularity` returns, is the same row for every query.
    relevant : list of lists of int, sparse matrix, or array of shape (n_queries, n_documents)
        The relevant documents of each query: their columns (relevance 1), or a matrix of relevance, in which 0 is an
        unjudged document. A matrix may be on another device than the scores.
    measures : measure or iterable of measures, optional
        As for :func:`deadheat.evaluate`.
    exclude : as `relevant`, optional
        Documents that are not retrieved for a query, such as the items of its training data. None may be relevant.
    mask : array of bool, shape (n_queries, n_documents), optional
        True where a document is retrieved; False for padding, and for what a first stage left out. Of the library and
        on the device of the scores. What scores are there is not looked at, and a judged document there counts as not
        retrieved.
    query_ids, doc_ids : array-like of str or int, optional
        By default rows and columns are called "0", "1", and so on.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`deadheat.evaluate`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
    items : bool or int, default False
        Whether to keep the first documents of each list in the same pass, for :meth:`Evaluation.item_profile`: 20
        ranks, or as many as the deepest measure looks at, or this number, with the whole tie at the end.
    sampled : int, optional
        Rank the relevant documents among so many others alone, drawn without replacement from those that are neither
        relevant nor excluded (those of negative relevance too; all of them where a query has fewer; at most the number
        of documents): values are exact means over all samples, and the spread over tie orders is that of these
        means. For linear measures (nDCG, DCG, P, R, RBP), RR and Hit. Such values are no estimates of those of full
        rankings, and may order systems otherwise.
    positives : {"together", "each"}, default "together"
        With `sampled`: all relevant documents of a query in one list; or each in a list of its own, whose ties are
        broken on their own, and a query has the mean over its lists.
    name : str, default "scores"
        Label of the evaluation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ParameterError
        Shapes or devices do not fit, or a relevant document is excluded.
    MeasureError
        A measure has no exact mean over samples.
    DataError
        A score is NaN, a relevance is not finite.
    MissingDependencyError
        The scores are not in main memory, and array-api-compat is not installed.

    References
    ----------
    Sampled negatives: Krichene and Rendle 2020, https://doi.org/10.1145/3394486.3403226.

    See Also
    --------
    Accumulator : The same, batch by batch.
    evaluate_embeddings : From vectors, without a matrix of all scores.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[0.9, 0.5, 0.5, 0.1], [0.2, 0.8, 0.8, 0.8]])
    >>> evaluate_dense(scores, [[1], [1, 3]], ["P@2"]).to_dict()
    {'0': {'P@2': 0.25}, '1': {'P@2': 0.6666666666666666}}
    >>> evaluate_dense(scores, [[1], [1, 3]], ["RR"], exclude=[[0], []]).to_dict()["0"]
    {'RR': 0.75}
    >>> evaluate_dense(scores, [[1], [1, 3]], ["RR"], mask=scores < 0.9).to_dict()["0"]
    {'RR': 0.75}
    """
    check_choice("ties", ties, TIES)
    check_choice("positives", positives, POSITIVES)
    as_text("name", name)
    conventions = Conventions.of(locals())
    chosen = parse_measures(measures)
    counts = count_dense(
        scores,
        relevant,
        exclude=exclude,
        mask=mask,
        query_ids=query_ids,
        doc_ids=doc_ids,
        depth=_depth(chosen, items=items),
    )
    _refuse_no_judgment(counts)
    if sampled is None:
        if positives != "together":
            raise ParameterError(
                "is about sampled negatives", argument="positives", given=positives, hint=Advice("sampled")
            )
        return evaluation_of_counted(counts, chosen, conventions, rng, name)
    n = as_count("sampled", sampled)
    if conventions.no_relevant not in {"zero", "skip"}:
        given = conventions.no_relevant
        raise ParameterError(argument="no_relevant", given=given, allowed=("zero", "skip"), beside={"sampled": n})
    n_documents = int(np.shape(scores)[-1])
    if n > n_documents:
        raise ParameterError(
            argument="sampled",
            given=n,
            allowed=f"at most {n_documents:,}, the number of documents",
            hint="leave it out to rank all documents",
        )
    found = sampled_scores(counts, chosen, n, positives=positives, conventions=conventions, rng=rng)
    note = f"sampled: relevant documents, {POSITIVES[positives]}, among {n} others; exact means over all samples"
    parts = evaluation_of_counted(counts, chosen, conventions, rng, name).parts()
    placed = parts["placements"]
    n_positive = np.bincount(placed.query[placed.relevance > 0], minlength=placed.n_queries)
    n_others = placed.n_retrieved - n_positive
    if n_fewer := int((n_others < n).sum()):
        note += f"; {n_fewer:,} of {placed.n_queries:,} queries have fewer, which all count"
    return Evaluation(found, **parts | {"notes": (note, *parts["notes"])})


def evaluate_embeddings(
    queries: ArrayLike,
    documents: ArrayLike,
    relevant: object,
    measures: MeasureLike | Iterable[MeasureLike] | None = None,
    *,
    similarity: str = "dot",
    block: int = 1024,
    exclude: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
    ties: str = "expected",
    rng: Rng = None,
    no_relevant: str = "zero",
    name: str = "embeddings",
) -> Evaluation:
    """Evaluate an exact search by embeddings over all documents.

    Scores are computed in tiles, counted and forgotten: there is never a matrix of all of them, no list is cut, and no
    index makes it approximate. Documents with identical vectors tie exactly. The result is the same, to the last bit,
    for every `block`.

    Parameters
    ----------
    queries : array of number, shape (n_queries, n_dimensions)
    documents : array of number, shape (n_documents, n_dimensions)
        Both of NumPy (also mapped from a file), PyTorch, JAX, CuPy or another library that keeps to the array API
        standard; on a GPU they are multiplied there (with the extra ``dense``). Short floats are multiplied as float32,
        whole numbers (int8) as float64 and so exactly.
    relevant : list of lists of int, sparse matrix, or array of shape (n_queries, n_documents)
        As for :func:`evaluate_dense`.
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    similarity : {"dot", "cosine"}, default "dot"
        The score: the inner product, or that of vectors brought to length 1.
    block : int, default 1024
        Queries that are scored together, rounded up to whole tiles. More read the documents less often, as is good for
        files, and take more memory: that of their vectors.
    exclude : as `relevant`, optional
        Documents that are not retrieved for a query, such as itself where queries are documents too.
    query_ids, doc_ids : array-like of str or int, optional
        By default rows are called "0", "1", and so on.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`evaluate`.
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
    name : str, default "embeddings"
        Label of the evaluation.

    Returns
    -------
    Evaluation

    Raises
    ------
    ParameterError
        Shapes or devices do not fit, or a relevant document is excluded.
    DataError
        A number of a vector is not finite, a product is NaN, or a vector of zeros has no cosine.
    MissingDependencyError
        The vectors are not in main memory, and array-api-compat is not installed.

    Notes
    -----
    A product is rounded in an order that the library chooses, so scores may differ in their last digits from those of
    another program; what ties there may not tie here, unless the vectors are identical or the products exact.

    Examples
    --------
    >>> queries = [[1.0, 0.0], [0.5, 0.5]]
    >>> documents = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8]]
    >>> evaluate_embeddings(queries, documents, [[0], [2]], ["RR"]).to_dict()
    {'0': {'RR': 0.75}, '1': {'RR': 0.6111111111111112}}
    """
    check_choice("ties", ties, TIES)
    check_choice("similarity", similarity, SIMILARITIES)
    conventions = Conventions.of(locals())
    chosen = parse_measures(measures)
    counts = count_embeddings(
        queries,
        documents,
        relevant,
        similarity=similarity,
        block=as_count("block", block),
        exclude=exclude,
        query_ids=query_ids,
        doc_ids=doc_ids,
    )
    _refuse_no_judgment(counts)
    return evaluation_of_counted(counts, chosen, conventions, rng, name)


def _depth(measures: Sequence[Measure], *, items: bool | int) -> int | None:
    """Return how many ranks of each list are kept, whole; None: none."""
    if not isinstance(items, bool):
        return as_count("items", items)
    return max(DEPTH, *(one.deepest or 0 for one in measures)) if items else None


def _refuse_no_judgment(counts: Counted) -> None:
    """Raise `ParameterError` if nothing is judged."""
    if not len(counts.query):
        raise ParameterError("names no relevant document", argument="relevant")


def evaluation_of_counted(
    counts: Counted, measures: Sequence[Measure], conventions: Conventions, rng: Rng, name: str
) -> Evaluation:
    """Return the evaluation of what was counted.

    Parameters
    ----------
    counts : Counted
    measures : sequence of Measure
    conventions : Conventions
    rng : numpy.random.Generator or int, optional
        For ``ties="random"``.
    name : str
    """
    check_measures(conventions, measures)
    placements = counts.placements()
    ranked = policies.apply(placements, conventions.ties, rng)
    return Evaluation(
        [score_of(measure, placements, ranked, conventions, None) for measure in measures],
        name=name,
        query_ids=placements.query_ids,
        conventions=conventions,
        placements=placements,
        qrels=Qrels.of_checked(counts.judgments(), "relevant"),
        notes=note_of_negative(placements.judged_relevance, "array"),
        lists=counts.lists and counts.lists.select(np.argsort(counts.query_ids)),
    )


class Accumulator:
    """Take matrices of scores batch by batch, and give the evaluation of all of them at any time.

    Of each batch it keeps what was counted, some numbers for each judged document, and not the scores. So the result
    is that of one matrix with all queries, however they came: no mean of means, and conventions that look at all
    judgments (the highest relevance in ERR) see all of them.

    Parameters
    ----------
    measures : measure or iterable of measures, optional
        As for :func:`evaluate`.
    ties : {"expected", "best", "worst", "random"}, default "expected"
        As for :func:`evaluate`.
    rng : int, optional
        For ``ties="random"``.
    no_relevant : {"zero", "skip", "one"}, default "zero"
        Every row is a query: one without a relevant document scores 0, is left out of the mean, or scores 1 (of
        measures from 0 to 1).
    repeated : {"error", "once"}, default "error"
        What to do about a query that comes again: refuse it; or count it once if it has the same judgments and ranks,
        as where a distributed sampler fills up its last batch, and refuse it otherwise.
    items : bool or int, default False
        As for :func:`evaluate_dense`; every batch has the same documents then.
    name : str, default "scores"
        Label of the evaluation.

    Attributes
    ----------
    n_queries : int
        Queries so far.

    Examples
    --------
    >>> accumulator = Accumulator(["RR", "P@1"])
    >>> accumulator.add([[0.9, 0.5], [0.5, 0.5]], [[0], [1]])
    >>> accumulator.add([[0.1, 0.2, 0.3]], [[0]])
    >>> accumulator.means()
    {'RR': 0.6944444444444445, 'P@1': 0.5}
    >>> accumulator["RR"].mean_tie_std, accumulator["RR"].n_queries
    (0.08333333333333333, 3)
    """

    def __init__(
        self,
        measures: MeasureLike | Iterable[MeasureLike] | None = None,
        *,
        ties: str = "expected",
        rng: int | None = None,
        no_relevant: str = "zero",
        repeated: str = "error",
        items: bool | int = False,
        name: str = "scores",
    ) -> None:
        check_choice("ties", ties, TIES)
        check_choice("repeated", repeated, REPEATED)
        self.measures = parse_measures(measures)
        self.conventions = Conventions.of(locals())
        self.repeated = repeated
        self._depth = _depth(self.measures, items=items)
        self.name = as_text("name", name)
        self._rng: Rng = _seed(rng) if ties == "random" else None
        self._parts: list[Counted] = []
        self._places: dict[str, int] = {}  # the row of each query that has an id
        self.n_queries = 0
        self._is_numbered: bool | None = None
        self._evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        names = ", ".join(measure.label for measure in self.measures)
        return escape_invisible(
            f"<Accumulator {self.name}: {format_count(self.n_queries, 'query', 'queries')}, {names}>"
        )

    def __len__(self) -> int:
        return self.n_queries

    def __contains__(self, query_id: object) -> bool:
        return str(query_id) in self._places

    def __getitem__(self, measure: MeasureLike) -> Scores:
        return self.evaluation()[measure]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_evaluation": None}  # which is made again

    def add(
        self,
        scores: ArrayLike,
        relevant: object,
        *,
        exclude: object = None,
        mask: object = None,
        query_ids: ArrayLike | None = None,
        doc_ids: ArrayLike | None = None,
    ) -> None:
        """Take a batch: the scores of some queries, with all documents of each.

        Parameters
        ----------
        scores, relevant, exclude, mask, query_ids, doc_ids
            As for :func:`evaluate_dense`. Give `query_ids` with every batch or with none; without them queries are
            numbered as they come, and one that comes again is not noticed.

        Raises
        ------
        DuplicateError
            A query comes again.
        ParameterError, DataError, MissingDependencyError
            As for :func:`evaluate_dense`; the batch then counts for nothing.
        """
        self._take(
            count_dense(
                scores, relevant, exclude=exclude, mask=mask, query_ids=query_ids, doc_ids=doc_ids, depth=self._depth
            ),
            "the batch",
            is_numbered=query_ids is None,
        )

    def merge(self, *others: "Accumulator") -> None:
        """Take what others have counted, such as those of other processes; they remain as they are.

        Parameters
        ----------
        *others : Accumulator
            With the same measures and conventions. Without query ids their queries are numbered after the own.

        Raises
        ------
        DataError
            One has other measures or conventions.
        DuplicateError
            A query is in two of them.
        """
        for other in others:
            if not isinstance(other, Accumulator):
                raise SourceTypeError(found=type(other).__name__, allowed="an Accumulator")
            where = f"the accumulator {other.name!r}"
            self._refuse_other(list(map(str, other.measures)), other.conventions, other._depth, where)  # noqa: SLF001 - of its own class
            self._take(other._whole(), where, is_numbered=other._is_numbered)  # noqa: SLF001 - of its own class

    def save(self, path: str | Path) -> None:
        """Write the state to a file, which is complete at any time: an earlier state there is replaced when it is.

        Parameters
        ----------
        path : path
            Of the JSON file; another file than a state is not replaced.
        """
        whole, means = self._whole(), self.means() if self.n_queries else {}
        head = {
            "n_queries": self.n_queries,
            "means": {name: mean if math.isfinite(mean) else None for name, mean in means.items()},
            "measures": list(map(str, self.measures)),
            "conventions": asdict(self.conventions),
            "numbered": self._is_numbered,
            "items": self._depth,
        }
        STATE.write(path, head, None if whole is None else _tables_of(whole))

    def resume(self, path: str | Path) -> None:
        """Take the state that `save` wrote, and go on from there.

        Parameters
        ----------
        path : path

        Raises
        ------
        DataError
            It was saved with other measures or conventions.
        DataError
            The file is missing, damaged or changed, or a query in it is already here.
        """
        measures, conventions, is_numbered, depth, found = STATE.read(path, _state_of)
        self._refuse_other(measures, conventions, depth, str(path))
        self._take(found, str(path), is_numbered=is_numbered)

    def evaluation(self) -> Evaluation:
        """Return the evaluation of all queries so far: to print, compare, save, or check by a gate.

        Raises
        ------
        ParameterError
            There is no query yet.
        """
        if self._evaluation is None:
            whole = self._whole()
            if whole is None:
                raise ParameterError("the accumulator has no query yet", hint="give it a batch, accumulator.add(...)")
            self._evaluation = evaluation_of_counted(whole, self.measures, self.conventions, self._rng, self.name)
        return self._evaluation

    def means(self) -> dict[str, float]:
        """Return the mean over all queries so far of each measure, as :meth:`Evaluation.means`."""
        return self.evaluation().means()

    def summary(self) -> pl.DataFrame:
        """Return measure, mean, tie_std, tie_min, tie_max (of the mean over tie orders), n_queries, n_without_relevant.

        Of a count, mean is the total, and the others are of the total. The last column says how many queries without a
        relevant document there are; they count as `no_relevant` says.
        """
        evaluation = self.evaluation()
        rows = []
        for scores in evaluation:
            row: dict[str, object] = {"measure": scores.measure.label, "mean": scores.reported()}
            for of_ties in OF_TIES:
                row[of_ties] = scores.reported(of_ties)
            row["n_queries"] = scores.n_queries
            row["n_without_relevant"] = len(evaluation.without_relevant(scores.measure))
            rows.append(row)
        return frame_of(rows)

    def _whole(self) -> Counted | None:
        if len(self._parts) > 1:
            self._parts = [Counted.joined(self._parts)]
        return self._parts[0] if self._parts else None

    def _refuse_other(self, measures: Sequence[str], conventions: Conventions, depth: int | None, where: str) -> None:
        """Raise `DataError` for a state that was made with other measures or conventions."""
        own = {"measures": sorted(map(str, self.measures)), "items": self._depth, **asdict(self.conventions)}
        for name, given in {"measures": sorted(measures), "items": depth, **asdict(conventions)}.items():
            if given != own[name]:
                raise DataError(
                    f"{where} was made with {name}={format_given(given)}, and this accumulator has"
                    f" {format_given(own[name])}"
                )

    def _take(self, found: Counted | None, where: str, *, is_numbered: bool | None) -> None:
        """Take what was counted, or nothing of it if it does not fit."""
        if None not in {is_numbered, self._is_numbered} and is_numbered != self._is_numbered:
            raise DataError(
                f"{where} and this accumulator cannot be told apart: only one of them has query ids",
                hint="give query_ids= with every batch, or with none",
            )
        if found is None:
            return
        first = self._parts[0].lists if self._parts else None
        if found.lists is not None and first is not None and not np.array_equal(found.lists.doc_ids, first.doc_ids):
            raise DataError(
                f"{where} has other documents than the batches before: with items=True every batch has the same",
                hint="give the same columns, in the same order, and the same doc_ids",
            )
        if is_numbered:
            numbers = ids_at(None, np.arange(self.n_queries, self.n_queries + len(found.query_ids)))
            found = replace(found, query_ids=numbers, lists=found.lists and replace(found.lists, query_ids=numbers))
        else:
            found = self._new_of(found, where)
            self._places |= {query: row for row, query in enumerate(found.query_ids.tolist(), self.n_queries)}
        self._parts.append(found)
        self.n_queries += len(found.query_ids)
        self._is_numbered, self._evaluation = is_numbered, None

    def _new_of(self, found: Counted, where: str) -> Counted:
        """Return the queries that are not here yet; raise for one that may not come again."""
        query_ids = found.query_ids.tolist()
        for row, query in enumerate(query_ids):
            if query in self._places and (whole := self._whole()) is not None:
                problem = f"{where} has the query {query!r}, which was here before"
                if self.repeated == "error":
                    raise DuplicateError(problem, hint="repeated='once' counts it once, if its ranks are the same")
                if found.rows_of(row) != whole.rows_of(self._places[query]):
                    raise DuplicateError(f"{problem} with other ranks")
        return found.select(np.array([query not in self._places for query in query_ids], np.bool_))


def _seed(rng: int | None) -> Rng:
    """Return a seed, with which the same order is drawn for the same queries whenever means are asked for."""
    if rng is not None and as_integer(rng) is None:
        raise ParameterError(argument="rng", given=rng, allowed="a whole number from 0 on, or None")
    random_generator(rng)  # checks it
    return int(np.random.default_rng().integers(2**63)) if rng is None else rng


def _tables_of(counts: Counted) -> dict[str, str]:
    columns = {one.name: getattr(counts, one.name) for one in fields(Counted)}
    columns |= {"query_id": counts.query_ids.tolist(), "doc_id": counts.doc_ids.tolist()}
    tables = {name: packed({one: columns[one] for one in schema}, schema) for name, schema in STATE_TABLES.items()}
    if counts.lists is not None:
        tables |= {
            "documents": packed({"doc_id": counts.lists.doc_ids.tolist()}, DOCUMENTS),
            "lists": packed({name: getattr(counts.lists, name) for name in PLACES}, PLACES),
        }
    return {"encoding": ENCODING, **tables}


def _state_of(
    document: dict[str, Any],
) -> tuple[list[str], Conventions, bool | None, int | None, Counted | None]:
    """Return the measures, the conventions, whether queries are numbered, the depth of lists, and what was counted."""
    data, depth, found = document["data"], document.get("items"), None
    if data is not None:
        tables = [unpacked_columns(data[name], name, schema) for name, schema in STATE_TABLES.items()]
        found = Counted(**tables[0], **tables[1])
        if depth is not None:
            lists = unpacked_columns(data["lists"], "places", PLACES)
            lists |= unpacked_columns(data["documents"], "documents", DOCUMENTS)
            found = replace(found, lists=Lists(query_ids=found.query_ids, depth=depth, **lists))
    return list(document["measures"]), Conventions(**document["conventions"]), document["numbered"], depth, found
