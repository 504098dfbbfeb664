"""Saved evaluations: a JSON file that people and programs read, and a Parquet file of all queries beside it."""

from __future__ import annotations

import hashlib
import io
import json
import math
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Unpack

import numpy as np
import polars as pl

from deadheat.arguments import whole
from deadheat.confidence import intervals
from deadheat.errors import DataError, FileFormatError, MeasureError, ParameterError
from deadheat.evaluation import Conventions, Evaluation
from deadheat.io.source import decoded, read_all, readable
from deadheat.io.writing import replacing
from deadheat.measures import Measure, parse_measure
from deadheat.scores import Scores
from deadheat.spread import StoredSpread

if TYPE_CHECKING:
    from deadheat.arrays import FloatArray, TextArray
    from deadheat.confidence import Interval, IntervalOptions
    from deadheat.placement import Placements

KIND, FORMAT = "deadheat evaluation", 1
SUFFIX, BESIDE = ".json", ".parquet"
NUMBERS = ("value", "tie_mean", "tie_std", "tie_min", "tie_max", "standard_error")
COLUMNS: dict[str, type[pl.DataType]] = {
    "query_id": pl.String,
    "measure": pl.String,
    **dict.fromkeys(NUMBERS, pl.Float64),
    "has_relevant": pl.Boolean,
}
HINT = "Evaluation.save or deadheat evaluate --save writes one"


@dataclass(frozen=True, kw_only=True, repr=False)
class StoredMeasure(Measure):
    """A measure of a saved evaluation that only its program can compute: what is left of a `Custom`.

    Attributes
    ----------
    notation : str
        What it was called.
    higher_is_better, total : bool
    """

    title: ClassVar[str] = "measure of a saved evaluation"
    range: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    notation: str = ""
    higher_is_better: bool = True  # type: ignore[misc]  # of each measure here, of the class elsewhere
    total: bool = False  # type: ignore[misc]

    def __post_init__(self) -> None:
        """Take what the file says."""

    def __repr__(self) -> str:
        return self.notation

    def mean(self, placements: Placements) -> FloatArray:  # noqa: ARG002 - as every measure
        """Refuse: the file has the values, not the function."""
        self._refuse()

    def variance(self, placements: Placements) -> FloatArray:  # noqa: ARG002 - as every measure
        """Refuse: the file has the values, not the function."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        msg = f"{self.notation} comes from a file, which holds its values but not its function: give the Custom measure"
        raise MeasureError(msg)


def save(evaluation: Evaluation, path: str | Path, **options: Unpack[IntervalOptions]) -> None:
    """Write an evaluation to a JSON file and, beside it, the scores of all queries to a Parquet file.

    Folders that are missing are made; files of an earlier save are replaced.

    Parameters
    ----------
    evaluation : Evaluation
    path : path
        Of the JSON file, ``.json``; the other one has the same name and ``.parquet``.
    **options
        Of the intervals, as for `intervals`.

    Raises
    ------
    ParameterError
        The name does not end in ``.json``, or an option of the intervals is wrong.
    DataError
        A Parquet file of this name is there and is none of a saved evaluation.
    """
    path = Path(path)
    if path.suffix.lower() != SUFFIX:
        msg = f"path must end in {SUFFIX}, got {str(path)!r}. Did you mean {str(path.with_suffix(SUFFIX))!r}?"
        raise ParameterError(msg)
    beside = path.with_suffix(BESIDE)
    _refuse_foreign(beside)
    held = io.BytesIO()
    _by_query(evaluation).write_parquet(held)
    found = intervals(list(evaluation), **options)
    document = {
        "kind": KIND,
        "format": FORMAT,
        "deadheat": version("deadheat"),
        "name": evaluation.name,
        "conventions": asdict(evaluation.conventions),
        "n_queries": len(evaluation.query_ids),
        "measures": {str(one.measure): _summary(one, its) for one, its in zip(evaluation, found, strict=True)},
        "intervals": _settings(options),
        "qrels_hash": evaluation.qrels_hash,
        "queries_hash": evaluation.queries_hash,
        "missing_queries": list(evaluation.missing_queries),
        "unjudged_queries": list(evaluation.unjudged_queries),
        "per_query": {"file": beside.name, "sha256": hashlib.sha256(held.getvalue()).hexdigest()},
    }
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    _make_folder(path.parent)
    # inside out: a JSON file never stands there without the rows that it speaks of
    with replacing(path) as file, replacing(beside) as table:
        file.write(text.encode())
        table.write(held.getvalue())


def load_evaluation(path: str | Path) -> Evaluation:
    """Read an evaluation that :meth:`Evaluation.save` wrote.

    Every score, mean, tie number and interval is that of the original; the placements are not saved. A measure that
    only its program can compute (`Custom`) keeps its name and its scores.

    Parameters
    ----------
    path : path
        Of the JSON file; the Parquet file stands beside it.

    Returns
    -------
    Evaluation

    Raises
    ------
    DataError
        A file is missing or damaged, was written by a newer deadheat, or the two do not belong together.
    """
    path = Path(path)
    if path.suffix.lower() == BESIDE:
        msg = f"holds the queries of a saved evaluation; give the JSON file beside it, {path.stem + SUFFIX!r}"
        raise FileFormatError(msg, path=path)
    document = _read_document(path)
    try:
        return _evaluation(document, _read_rows(path, document["per_query"]))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        msg = f"is no complete saved evaluation ({type(error).__name__}: {error}); {HINT}"
        raise FileFormatError(msg, path=path) from error


def opened(evaluation: object) -> Evaluation:
    """Return an evaluation that was given as such or by the path of a saved one."""
    if isinstance(evaluation, Evaluation):
        return evaluation
    if not isinstance(evaluation, str | Path):
        msg = f"expected an Evaluation or the path of a saved one, got {type(evaluation).__name__}"
        raise ParameterError(msg)
    return load_evaluation(evaluation)


def _by_query(evaluation: Evaluation) -> pl.DataFrame:
    """Return a row for each measure and query, the queries in their order within each measure; null for no value."""
    frames = [
        pl.DataFrame(
            {
                "query_id": scores.query_ids.tolist(),
                "measure": [str(scores.measure)] * len(scores.query_ids),
                "value": scores.values,
                "tie_mean": scores.tie_mean,
                "tie_std": scores.tie_std,
                "tie_min": scores.tie_min,
                "tie_max": scores.tie_max,
                "standard_error": scores.standard_error,
                "has_relevant": scores.spread.has_relevant,
            },
            schema=COLUMNS,
        )
        for scores in evaluation
    ]
    return pl.concat(frames).with_columns(pl.col(NUMBERS).fill_nan(None))


def _summary(scores: Scores, interval: Interval) -> dict[str, object]:
    measure = scores.measure
    numbers = {
        "mean": scores.mean,
        "low": interval.low,
        "high": interval.high,
        "standard_error": interval.standard_error,
        "query_standard_error": interval.query_standard_error,
        "tie_standard_error": interval.tie_standard_error,
        "tie_std": scores.mean_tie_std,
        "tie_min": scores.mean_tie_min,
        "tie_max": scores.mean_tie_max,
    }
    return {
        **{name: _plain(number) for name, number in numbers.items()},
        "n_queries": scores.n_queries,
        "higher_is_better": measure.higher_is_better,
        "total": measure.total,
        "custom": not _can_be_read(measure),
    }


def _plain(number: float) -> float | str | None:
    """Return a number as JSON can hold it: NaN, which is no value, as null."""
    return None if math.isnan(number) else number if math.isfinite(number) else str(number)


def _can_be_read(measure: Measure) -> bool:
    """Tell whether the notation of a measure leads back to it: a custom one may even look like another."""
    try:
        return parse_measure(str(measure)) == measure
    except MeasureError:
        return False


def _settings(options: IntervalOptions) -> dict[str, object]:
    """Return how the intervals were made, in plain numbers; of clusters only the column, or that there were some."""
    used = {**(intervals.__kwdefaults__ or {}), **options}
    rng, cluster = used["rng"], used["cluster"]
    return {
        "method": used["method"],
        "confidence_level": float(used["confidence_level"]),
        "n_resamples": whole(used["n_resamples"]),
        "rng": "generator" if isinstance(rng, np.random.Generator) else whole(rng),
        "cluster": cluster if cluster is None or isinstance(cluster, str) else "given",
    }


def _refuse_foreign(beside: Path) -> None:
    """Raise an error if the Parquet file that would be replaced is something else, such as a run."""
    if not beside.is_file():
        return
    try:
        is_ours = dict(pl.read_parquet_schema(beside)) == COLUMNS
    except (pl.exceptions.PolarsError, OSError):
        is_ours = False
    if not is_ours:
        msg = "is there already and holds no saved evaluation: it would be replaced; choose another name"
        raise DataError(msg, path=beside)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        msg = "cannot be made a folder: part of it is a file; choose another one"
        raise DataError(msg, path=folder) from None


def _read_document(path: Path) -> dict[str, Any]:
    """Read the JSON file, as far as it is one of a saved evaluation in a format that is known."""
    text = decoded(read_all(readable(path)), path)
    try:
        document = json.loads(text)
    except ValueError as error:
        what = f"is damaged or not complete ({error})" if text.lstrip().startswith("{") else "holds no JSON"
        msg = f"{what}, expected a saved evaluation; {HINT}"
        raise FileFormatError(msg, path=path) from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        is_nested = isinstance(document, dict) and all(isinstance(inner, dict) for inner in document.values())
        what = "what looks like qrels or a run" if document and is_nested else "other JSON"
        msg = f"holds {what}, expected a saved evaluation; {HINT}"
        raise FileFormatError(msg, path=path)
    given = document.get("format")
    if given != FORMAT:
        by = document.get("deadheat", "another version")
        msg = f"was saved in format {given!r} by deadheat {by}; this is {version('deadheat')}, which reads {FORMAT}"
        raise FileFormatError(f"{msg}: install a newer one, or save the evaluation again", path=path)
    return document


def _read_rows(path: Path, stated: dict[str, Any]) -> pl.DataFrame:
    """Read the Parquet file that has the hash which the JSON states: files may have been renamed together."""
    beside = path.with_suffix(BESIDE)
    candidates = [one for one in dict.fromkeys((beside, path.with_name(stated["file"]))) if one.is_file()]
    if not candidates:
        msg = f"no such file; it holds the queries of {path.name}: copy it there too, or save the evaluation again"
        raise DataError(msg, path=beside)
    for candidate in candidates:
        data = candidate.read_bytes()
        if hashlib.sha256(data).hexdigest() == stated["sha256"]:
            return pl.read_parquet(io.BytesIO(data))
    msg = f"does not belong to {path.name}, or was changed: save the evaluation again"
    raise FileFormatError(msg, path=candidates[0])


def _evaluation(document: dict[str, Any], rows: pl.DataFrame) -> Evaluation:
    n_queries, measures = document["n_queries"], document["measures"]
    if not measures:
        msg = "it names no measure"
        raise ValueError(msg)
    blocks = [rows.slice(n * n_queries, n_queries) for n in range(len(measures))]
    for notation, block in zip(measures, blocks, strict=True):
        if not ((block["measure"] == notation).all() and block["query_id"].equals(blocks[0]["query_id"])):
            msg = f"the rows of {notation} are not where they belong"
            raise ValueError(msg)
    named = [_measure(notation, of_measure) for notation, of_measure in measures.items()]
    query_ids = np.array(blocks[0]["query_id"].to_list(), dtype=object)
    conventions = document["conventions"]
    return Evaluation(
        [_scores(measure, query_ids, block) for measure, block in zip(named, blocks, strict=True)],
        name=document["name"],
        query_ids=query_ids,
        conventions=Conventions(**{one.name: conventions[one.name] for one in fields(Conventions)}),
        missing_queries=tuple(document["missing_queries"]),
        unjudged_queries=tuple(document["unjudged_queries"]),
        qrels=document["qrels_hash"],
    )


def _measure(notation: str, of_measure: dict[str, Any]) -> Measure:
    if not of_measure["custom"]:
        return parse_measure(notation)
    return StoredMeasure(notation=notation, higher_is_better=of_measure["higher_is_better"], total=of_measure["total"])


def _scores(measure: Measure, query_ids: TextArray, block: pl.DataFrame) -> Scores:
    value, mean, std, low, high, error = (block[name].fill_null(math.nan).to_numpy() for name in NUMBERS)
    spread = StoredSpread(mean, std, (low, high), error, block["has_relevant"].to_numpy())
    return Scores(measure, query_ids, value, spread)
