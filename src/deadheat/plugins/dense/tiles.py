"""Placements from embeddings: scores are computed tile by tile, counted and forgotten.

All tiles have one shape; the last ones are padded with zeros. So a score depends on the data alone, and not on how many
queries are scored together. Documents with identical vectors are one column, which counts as many times: that their
scores are equal does not depend on how a library multiplies matrices.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deadheat.core.arrays import AnyArray, IntArray
from deadheat.core.errors import DataError, ParameterError
from deadheat.plugins.dense.comparing import (
    Array,
    Piece,
    beside,
    compare,
    compare_some,
    device_of,
    first_wrong,
    library_of,
    numbers_at,
    on_device,
    to_memory,
    widened,
)
from deadheat.plugins.dense.counting import (
    Counted,
    Entries,
    are_text,
    checked_ids,
    entries_of,
    ids_at,
    left_out_of,
    numbers_of,
    own_documents,
)

SIMILARITIES = ("dot", "cosine")
IN_MEMORY = (256, 2048)  # queries and documents of a tile, whose scores stay in the cache
ON_DEVICE = (1024, 16384)  # and on another device, where each product has to be worth its start
AT_ONCE = 1 << 18  # numbers that are looked at together


class Tiles:
    """The scores of queries and of the distinct vectors of documents, in tiles of one shape, which are counted.

    Parameters
    ----------
    queries, documents : array of shape (n, n_dimensions)
    first : ndarray of int, shape (n_documents,)
        Of each document the first one with its vector.
    judged, left_out : Entries
    similarity : str

    Attributes
    ----------
    xp : module
        The library of the vectors.
    shape : tuple of int
        Queries and documents of a tile.
    document : ndarray of int, shape (n_columns,)
        Of each distinct vector the first document that has it, in the order in which they are scored: judged ones
        first, by query, so that the scores of a query's judged documents, which are needed before any is counted, are
        in few tiles.
    of_document : ndarray of int, shape (n_documents,)
        The column of each document.
    n_more : ndarray of int, shape (n_columns,)
        Other documents with the vector of each column.
    column, column_out : ndarray of int
        The column of each document that is judged, or left out.
    above_and_tied : ndarray of int, shape (2, n_judged)
        The documents above and tied with each judged one, as far as they are counted.
    """

    def __init__(
        self,
        queries: Array,
        documents: Array,
        first: IntArray,
        judged: Entries,
        left_out: Entries,
        *,
        similarity: str,
    ) -> None:
        self.queries, self.documents, self.similarity = queries, documents, similarity
        self.judged, self.left_out = judged, left_out
        self.xp: Any = library_of(documents)
        self.shape = IN_MEMORY if self.xp is np else ON_DEVICE
        self.document = np.array(list(dict.fromkeys([*first[judged.document].tolist(), *np.unique(first).tolist()])))
        column = np.empty(len(first), np.int64)
        column[self.document] = np.arange(len(self.document))
        self.of_document: IntArray = column[first]
        self.n_more = np.bincount(self.of_document) - 1
        self.column, self.column_out = self.of_document[judged.document], self.of_document[left_out.document]
        self.above_and_tied = np.zeros((2, len(judged.query)), np.int64)

    @cached_property
    def dtype(self) -> Any:  # noqa: ANN401 - a type of the library
        """The type in which products are computed: float64 for whole numbers and float64, float32 for other floats."""
        both, xp = (self.queries, self.documents), self.xp
        types = [as_floats(widened(one[:0])).dtype if xp is np else one.dtype for one in both]
        is_long = any(one == xp.float64 or xp.isdtype(one, ("bool", "integral")) for one in types)
        return xp.float64 if is_long else xp.float32

    def rows(self, number: int) -> slice:
        """Return which queries are in a tile."""
        size = self.shape[0]
        return slice(number * size, min((number + 1) * size, self.queries.shape[0]))

    def of_queries(self, number: int) -> Array:
        """Return the vectors of a tile's queries."""
        return self._padded(self.queries[self.rows(number), :], self.shape[0])

    def of_columns(self, number: int) -> Array:
        """Return the vectors of a tile's columns."""
        size = self.shape[1]
        places = self.document[number * size : (number + 1) * size]
        xp, documents = self.xp, self.documents
        return self._padded(xp.take(documents, beside(xp, places, documents), axis=0), size)

    def _padded(self, vectors: Array, size: int) -> Array:
        xp = self.xp
        found = xp.astype(widened(vectors) if xp is np else vectors, self.dtype, copy=False)
        if self.similarity == "cosine":
            # powers of two first, which round nothing: squares of very long and very short vectors are in range then
            scale = 2 ** xp.floor(xp.log2(xp.max(xp.abs(found), axis=1, keepdims=True)) / 2)
            found = found / scale / scale
            found = found / xp.sqrt(xp.sum(found * found, axis=1, keepdims=True))
        missing = size - found.shape[0]
        if not missing:
            return found
        zeros = beside(xp, np.zeros((missing, found.shape[1]), np.float32), found)
        return xp.concat([found, xp.astype(zeros, self.dtype)])

    def scores(self, queries: Array, columns: Array) -> Array:
        """Return the scores of a tile, padding included."""
        with np.errstate(over="ignore", invalid="ignore"):  # products too large are refused, with their place
            return self.xp.matmul(queries, self.xp.matrix_transpose(columns))

    def count(self, numbers: range) -> None:
        """Count for some tiles of queries, which are scored together: each tile of documents is read once for them."""
        of_queries = {number: self.of_queries(number) for number in numbers}
        own = {number: self._own(number, vectors) for number, vectors in of_queries.items()}
        for tile in range(-(-len(self.document) // self.shape[1])):
            of_columns = self.of_columns(tile)
            for number, vectors in of_queries.items():
                self._add_tile(number, tile, self.scores(vectors, of_columns), own[number])

    def _own(self, number: int, vectors: Array) -> AnyArray:
        """Return the scores of the judged documents of a tile's queries, from the tiles that they are in."""
        rows, width = self.rows(number), self.shape[1]
        entries = self.judged.of_rows(rows)
        row, column = self.judged.query[entries] - rows.start, self.column[entries]
        found = np.zeros(len(row), np.float64)
        for tile in np.unique(column // width).tolist():
            scores = self.scores(vectors, self.of_columns(tile))
            here = np.flatnonzero(column // width == tile)
            found[here] = to_memory(numbers_at(self.xp, scores, row[here], column[here] - tile * width))
        return found if self.dtype == self.xp.float64 else found.astype(np.float32)

    def _add_tile(self, number: int, tile: int, scores: Array, own: AnyArray) -> None:
        rows, width, xp = self.rows(number), self.shape[1], self.xp
        entries = self.judged.of_rows(rows)
        row = self.judged.query[entries] - rows.start
        document = self.document[tile * width : (tile + 1) * width]
        piece = Piece(scores[: rows.stop - rows.start, : len(document)], None, xp)
        if wrong := first_wrong(piece, may_be_infinite=False):
            raise DataError(
                f"the product of query {rows.start + wrong[0]} and document {document[wrong[1]]} is too large for its"
                " type",
                hint="give vectors of float64, or shorter ones",
            )
        mine = beside(xp, own, scores)
        self.above_and_tied[:, entries] += compare(piece, row, mine)
        copies = np.repeat(np.arange(len(document)), self.n_more[tile * width : (tile + 1) * width])
        for start in range(0, len(copies), width):  # other documents whose vectors are those of these columns
            part = beside(xp, copies[start : start + width], scores)
            self.above_and_tied[:, entries] += compare(Piece(xp.take(piece.scores, part, axis=1), None, xp), row, mine)
        others = self.left_out.of_rows(rows)
        here = others.start + np.flatnonzero(self.column_out[others] // width == tile)
        if len(here):
            row_out = self.left_out.query[here] - rows.start
            out = to_memory(numbers_at(xp, scores, row_out, self.column_out[here] - tile * width))
            self.above_and_tied[:, entries] -= compare_some(row, own, row_out, out)


def count_embeddings(
    queries: object,
    documents: object,
    relevant: object,
    *,
    similarity: str,
    block: int,
    exclude: object = None,
    query_ids: ArrayLike | None = None,
    doc_ids: ArrayLike | None = None,
) -> Counted:
    """Count the documents above and tied with each judged one, from the vectors of queries and documents.

    Parameters
    ----------
    queries, documents, relevant, similarity, block, exclude, query_ids, doc_ids
        As for :func:`deadheat.evaluate_embeddings`.
    """
    left, right = (
        numbers_of(given, name, f"numbers of shape (n_{name}, n_dimensions)")
        for name, given in (("queries", queries), ("documents", documents))
    )
    _check_pair(left, right)
    shape = (int(left.shape[0]), int(right.shape[0]))
    names, documents_named = checked_ids(query_ids, shape[0], "query_ids"), checked_ids(doc_ids, shape[1], "doc_ids")
    judged = entries_of(relevant, shape, "relevant")
    left_out = left_out_of(exclude, judged, shape)
    has_length = similarity == "cosine"
    first_identical(left, "query", has_length=has_length)  # checks them
    first = first_identical(right, "document", has_length=has_length)
    tiles = Tiles(left, right, first, judged, left_out, similarity=similarity)
    n_tiles, at_once = -(-shape[0] // tiles.shape[0]), -(-block // tiles.shape[0])
    for start in range(0, n_tiles, at_once):
        tiles.count(range(start, min(start + at_once, n_tiles)))
    n_retrieved = shape[1] - np.bincount(left_out.query, minlength=shape[0])
    queries, documents = ids_at(names, np.arange(shape[0])), ids_at(documents_named, judged.document)
    own = None
    if are_text(query_ids) and are_text(doc_ids):
        found = own_documents(queries, ids_at(documents_named, np.arange(shape[1])), left_out)
        own = np.bincount(found.query, minlength=shape[0]) > 0
    above, tied = tiles.above_and_tied
    return Counted(queries, n_retrieved, judged.query, documents, judged.value, above, tied, retrieves_itself=own)


def _check_pair(queries: Array, documents: Array) -> None:
    """Raise unless vectors are as long as others, and beside them."""
    if queries.shape[1] != documents.shape[1]:
        raise ParameterError(
            argument="documents",
            found=f"{documents.shape[1]:,}",
            allowed=f"vectors of {queries.shape[1]:,} dimensions, as the queries",
        )
    one, other = device_of(queries), device_of(documents)
    if on_device(queries) != on_device(documents) or (on_device(queries) and one != other):
        raise ParameterError(
            argument="documents",
            found=f"some on {other}",
            allowed=f"vectors on {one}, as the queries",
        )


def first_identical(vectors: Any, noun: str, *, has_length: bool = False) -> IntArray:  # noqa: ANN401 - an array of any library
    """Return for each vector the first one with the same numbers, of shape (n_vectors,); all numbers are checked.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_dimensions)
    noun : str
        What a vector is, for messages.
    has_length : bool, default False
        Whether a vector of zeros is an error.
    """
    keys = np.empty(vectors.shape[0], np.uint64)
    factors = np.random.default_rng(0).integers(0, 2**64, vectors.shape[1], np.uint64)
    for part, rows in _parts(vectors, np.arange(vectors.shape[0])):
        _check(rows, part.start, noun, has_length=has_length)
        bits = rows.view(np.uint32 if rows.itemsize == 4 else np.uint64)
        keys[part] = bits.astype(np.uint64) @ factors  # modulo 2**64
    _, index, inverse = np.unique(keys, return_index=True, return_inverse=True)
    first = index[inverse]
    copies = np.flatnonzero(first != np.arange(len(first)))
    others: dict[bytes, int] = {}  # what shares a hash with another vector
    for (part, rows), (_, same) in zip(_parts(vectors, copies), _parts(vectors, first[copies]), strict=True):
        for at in np.flatnonzero((rows != same).any(axis=1)).tolist():
            place = int(copies[part][at])
            first[place] = others.setdefault(rows[at].tobytes(), place)
    return first


def _parts(vectors: Any, places: IntArray) -> Iterator[tuple[slice, AnyArray]]:  # noqa: ANN401 - an array of any library
    """Give some vectors as floats in main memory, part by part; -0.0 is 0.0."""
    xp, size = library_of(vectors), max(1, AT_ONCE // vectors.shape[1])
    for start in range(0, len(places), size):
        part = slice(start, min(start + size, len(places)))
        found = to_memory(xp.take(vectors, beside(xp, places[part], vectors), axis=0))
        yield part, np.ascontiguousarray(as_floats(found) + 0.0)


def as_floats(numbers: AnyArray) -> AnyArray:
    """Return float32 and float64 as they are, and whole numbers, whose products float64 holds exactly, as float64."""
    return numbers if numbers.dtype in {np.dtype(np.float32), np.dtype(np.float64)} else numbers.astype(np.float64)


def _check(rows: AnyArray, start: int, noun: str, *, has_length: bool) -> None:
    """Raise `DataError` for vectors that have no products, or no cosines."""
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        at = int(np.flatnonzero(~np.isfinite(rows[wrong[0]]))[0])
        raise DataError(f"number {at} of {noun} {start + wrong[0]} is {rows[wrong[0], at]}, expected a finite number")
    if has_length and not (is_any := rows.any(axis=1)).all():
        raise DataError(
            f"{noun} {start + is_any.argmin()} is a vector of zeros, which has no cosine",
            hint="similarity='dot' takes it",
        )
