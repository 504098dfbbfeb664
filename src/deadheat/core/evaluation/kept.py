"""What features keep in saved evaluations: keys of judgments, ranking and measures, a table or columns of scores.

The core writes and reads what it knows, and asks here for the rest. A record of the registry (`SavedKeys`) names the
keys of a feature, so that a file with keys of a plugin that is not there is an error that names it. The module of that
record has `KEPT`, which says how they are written and read. It is imported where something of it is saved, or where a
file has one of its keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from deadheat.core import hooks
from deadheat.core.arrays import FloatArray
from deadheat.core.evaluation.shapes import TEXT, Fields, Shape, WrongValueError
from deadheat.core.structures import T

if TYPE_CHECKING:
    from deadheat.core.data.qrels import JudgingRule
    from deadheat.core.evaluation.parts import ScorePart
    from deadheat.core.evaluation.scores import Scores
    from deadheat.core.measures import Measure

Owner: TypeAlias = Literal["judgments", "ranking", "measures"]


class KeptKeys(NamedTuple):
    """Keys that a feature adds to what a file says of the judgments, of the ranking, or of a measure.

    Attributes
    ----------
    shapes : mapping of str to Shape
        Of the value of each key.
    write : callable
        Takes the `Qrels`, the `Run` or the measure, and returns the keys with values that JSON can hold. A key that is
        left out is not in the file; one with null is read as if it was not.
    read : callable
        Takes the `Qrels`, the `Run` or the `StoredMeasure`, as the core has read it, and what the file says of it, and
        returns it with what the feature knows. It is called where the file has one of the keys.
    judging_rule : callable or None, default None
        Of judgments of another kind than documents: takes what the file says, and the fingerprint, and returns how the
        qrels were made of them, for who reads no more of the file.
    """

    shapes: Mapping[str, Shape]
    write: Callable[[Any], Mapping[str, object]]
    read: Callable[[Any, Mapping[str, Any]], Any]
    judging_rule: Callable[[Mapping[str, Any], str], JudgingRule] | None = None


class KeptTable(NamedTuple):
    """A table of a part of scores, which all measures of an evaluation have or none.

    Attributes
    ----------
    part : str
        The key of the part, which is also that of the table in the file.
    write : callable
        Takes the part of each measure and returns the table as text, as `packed` makes it.
    read : callable
        Takes that text, the number of measures and that of queries, and returns the part of each measure.
    """

    part: str
    write: Callable[[Sequence[Any]], str]
    read: Callable[[str, int, int], Sequence[ScorePart]]

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """The shape of what the file has."""
        return {self.part: TEXT}


class KeptColumns(NamedTuple):
    """Columns of a part of scores that are in the table of scores; `ScorePart.columns` gives what is written.

    Attributes
    ----------
    part : str
        The key of the part.
    names : tuple of str
    read : callable
        Takes the measure and one array for each name, NaN where the file has null, and returns the part.
    """

    part: str
    names: tuple[str, ...]
    read: Callable[..., ScorePart]


class Kept(NamedTuple):
    """What a feature keeps in saved evaluations: the ``KEPT`` of its module.

    Attributes
    ----------
    judgments, ranking : KeptKeys or None, default None
    table : KeptTable or None, default None
    columns : KeptColumns or None, default None
    measures : KeptKeys or None, default None
    """

    judgments: KeptKeys | None = None
    ranking: KeptKeys | None = None
    table: KeptTable | None = None
    columns: KeptColumns | None = None
    measures: KeptKeys | None = None


@dataclass(frozen=True)
class FieldsOfFeatures(Fields):
    """An object with certain keys, to which features add others.

    Attributes
    ----------
    place : {"judgments", "ranking", "measures", "table"}
    """

    place: Literal["judgments", "ranking", "measures", "table"]

    def check(self, value: Any, place: str) -> None:  # noqa: ANN401 - whatever JSON holds
        """Raise as `Fields` does, and `MissingPluginError` for a key of a plugin that is not there."""
        super().check(value, place)
        for module in hooks.load_modules_that_read(self.place, filled(value)):
            Fields({}, getattr(module.KEPT, self.place).shapes).check(value, place)


def filled(stated: Mapping[str, Any]) -> list[str]:
    """Return the keys that have a value other than null."""
    return [key for key, value in stated.items() if value is not None]


def keys_of(owner: Owner, subject: object) -> dict[str, object]:
    """Return the keys that features add to what a file says of judgments, of a run, or of a measure.

    Parameters
    ----------
    owner : {"judgments", "ranking", "measures"}
    subject : Qrels, Run or Measure
    """
    added: dict[str, object] = {}
    for module in hooks.load_modules_that_save(owner):
        added |= getattr(module.KEPT, owner).write(subject)
    return added


def with_keys(owner: Owner, subject: T, stated: Mapping[str, Any]) -> T:
    """Return judgments, a run or a measure, with what features read of a file.

    Parameters
    ----------
    owner : {"judgments", "ranking", "measures"}
    subject : Qrels, Run or StoredMeasure
    stated : mapping of str to object
        What the file says of it.
    """
    for module in hooks.load_modules_that_read(owner, filled(stated)):
        subject = getattr(module.KEPT, owner).read(subject, stated)
    return subject


def rule_in(stated: Mapping[str, Any], fingerprint: str) -> JudgingRule | None:
    """Return how judgments of another kind made the qrels of a file; None if no such judgments did.

    Parameters
    ----------
    stated : mapping of str to object
        What the file says of the qrels.
    fingerprint : str
    """
    for module in hooks.load_modules_that_read("judgments", filled(stated)):
        keys: KeptKeys = module.KEPT.judgments
        if keys.judging_rule is not None:
            return keys.judging_rule(stated, fingerprint)
    return None


def tables_of(scores: Sequence[Scores]) -> dict[str, object]:
    """Return the tables of parts of scores, one sequence of an evaluation, by their keys."""
    tables: dict[str, object] = {}
    for module in hooks.load_modules_that_read("table", _parts_of_all(scores)):
        table: KeptTable = module.KEPT.table
        tables[table.part] = table.write([one.parts[table.part] for one in scores])
    return tables


def _parts_of_all(scores: Iterable[Scores]) -> list[str]:
    """Return the keys of the parts that all of these scores have."""
    common = None
    for one in scores:
        common = [key for key in one.parts if common is None or key in common]
    return common or []


def parts_in_tables(data: Mapping[str, Any], n_measures: int, n_queries: int) -> list[dict[str, ScorePart]]:
    """Return the parts of the scores of each measure, by their keys, of which a file has a table.

    Parameters
    ----------
    data : mapping of str to object
        The tables of the file, by their keys.
    n_measures, n_queries : int
    """
    of_measures: list[dict[str, ScorePart]] = [{} for _ in range(n_measures)]
    for module in hooks.load_modules_that_read("table", filled(data)):
        table: KeptTable = module.KEPT.table
        for parts, part in zip(of_measures, table.read(data[table.part], n_measures, n_queries), strict=True):
            parts[table.part] = part
    return of_measures


def parts_in_columns(measure: Measure, columns: Mapping[str, FloatArray]) -> dict[str, ScorePart]:
    """Return the parts of the scores of a measure, by their keys, of which a file has columns.

    Parameters
    ----------
    measure : Measure
    columns : mapping of str to ndarray, shape (n_queries,)
        Those of the table of scores.
    """
    parts: dict[str, ScorePart] = {}
    for module in hooks.load_modules_that_read("columns", columns):
        kept: KeptColumns = module.KEPT.columns
        for name in kept.names:
            if name not in columns or columns[name].dtype != float:
                raise WrongValueError(f"lacks column {name!r} of scores, of numbers")
        parts[kept.part] = kept.read(measure, *(columns[name] for name in kept.names))
    return parts
