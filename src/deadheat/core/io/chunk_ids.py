"""Ids of chunks, such as ``d1#0``, and of the documents that they are parts of: `doc_id_of`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from deadheat.core.errors import Advice, ParameterError
from deadheat.core.io.duplicates import MERGING
from deadheat.core.libraries import polars as pl

ALLOWED = "a separator such as '#', or a regular expression with one group, such as '(.+)_chunk[0-9]+$'"
# That are looked for between a document and its chunk; a point is not, as in "7.0" it stands in a number
SEPARATORS = ("#", "::", ":", "/", "|", "@", "_", "-")


@dataclass(frozen=True)
class DocIdOf:
    """Makes the id of a document of that of a chunk; an id that has another form stays as it is.

    Attributes
    ----------
    given : str
        As the user gave it.
    pattern : str
        A regular expression, whose first group is the id of the document.
    """

    given: str
    pattern: str

    @classmethod
    def of(cls, given: object) -> DocIdOf:
        """Return what a separator or a regular expression makes of ids; raise `ParameterError` if it is neither.

        Examples
        --------
        >>> DocIdOf.of("#").documents_of(["a#b#0", "c#12", "d", "#1"])
        ['a#b', 'c', 'd', '#1']
        >>> DocIdOf.of(r"^(.+)_chunk[0-9]+$").documents_of(["a_chunk1", "a_chunk"])
        ['a', 'a_chunk']
        """
        if not isinstance(given, str) or not given:
            raise ParameterError(argument="doc_id_of", given=given, allowed=ALLOWED)
        if "(" not in given:
            return cls(given, f"(?s)^(.+){pl.escape_regex(given)}")  # up to the last separator
        try:
            n_groups = re.compile(given).groups
            pl.Series(["id"]).str.extract(given)  # without look-around, which Polars does not know
        except (re.error, pl.exceptions.PolarsError) as error:
            raise ParameterError(
                "is no regular expression that can be searched for",
                argument="doc_id_of",
                given=given,
                hint=f"give {ALLOWED}",
            ) from error
        if n_groups != 1:
            raise ParameterError(f"has {n_groups} groups", argument="doc_id_of", given=given, hint=f"give {ALLOWED}")
        return cls(given, given)

    @property
    def expression(self) -> pl.Expr:
        """The column doc_id with ids of documents."""
        chunk = pl.col("doc_id")
        document = chunk.str.extract(self.pattern)
        return pl.when(document != "").then(document).otherwise(chunk).alias("doc_id")

    def documents_of(self, ids: Iterable[str]) -> list[str]:
        """Return the documents of some ids."""
        return pl.DataFrame({"doc_id": list(ids)}, {"doc_id": pl.String}).select(self.expression)["doc_id"].to_list()


def check_merging(doc_id_of: str, duplicates: str) -> None:
    """Raise `ParameterError` if documents come of chunks, and nobody said what becomes of several of one document."""
    if duplicates not in MERGING:
        raise ParameterError(
            "makes one document of several chunks",
            argument="doc_id_of",
            given=doc_id_of,
            hint=Advice("duplicates", "best"),
        )


def find_separator(ids: Iterable[str]) -> str | None:
    """Return a separator that all of some ids have inside; None if there is none.

    Examples
    --------
    >>> find_separator(["d1#0", "d2#4"]), find_separator(["d1#0", "d2"])
    ('#', None)
    """
    chunks = list(ids)
    for separator in SEPARATORS:
        if all(all(chunk.rpartition(separator)) for chunk in chunks):
            return separator
    return None


def guess_separator(chunks: Iterable[str], documents: Collection[str]) -> str | None:
    """Return what stands between a document and its chunk, if ids of one side are parts of those of the other.

    Examples
    --------
    >>> guess_separator(["d1#0", "d1#1", "d2#0"], {"d1", "d7"}), guess_separator(["d1", "d2"], {"d7"})
    ('#', None)
    """
    ids = list(chunks)
    for separator in SEPARATORS:
        if any(chunk.rpartition(separator)[0] in documents for chunk in ids if separator in chunk):
            return separator
    return None
