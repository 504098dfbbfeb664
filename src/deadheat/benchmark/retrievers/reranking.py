"""Rerankers: the first documents of a retriever, graded anew by a function, a cross-encoder or a language model."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

import polars as pl

from deadheat.arguments import as_count, package
from deadheat.benchmark.collection import Collection
from deadheat.benchmark.retrievers.grading import LLM
from deadheat.benchmark.retrievers.lexical import BM25
from deadheat.benchmark.retrievers.protocol import SCHEMA, Hits, Retriever, retrieve
from deadheat.data.judgments import read_grade
from deadheat.errors import NoteWarning, ParameterError
from deadheat.wording import counted, shown

ALLOWED = "module:function, cross-encoder:MODEL, a function grade(query, text), or an LLM"
CROSS_ENCODER = "cross-encoder:"


class Reranked:
    """A retriever whose first documents are ordered by grades, and the others below them as before.

    Documents that tie with the last of the first ones are graded, too. A document without a grade, as where a language
    model refuses, stands with the others, below those that have one.

    Parameters
    ----------
    first : Retriever
    grade : callable
        Takes pairs of query and text, and returns an answer for each, as ``read_grade`` reads it.
    name : str
        Of what grades.
    depth : int, default 20
        Documents of each text that are graded.
    then_by_first : bool, default False
        Whether the retriever's scores order documents of equal grade.
    """

    def __init__(
        self,
        first: Retriever,
        grade: Callable[[Sequence[tuple[str, str]]], Sequence[object]],
        name: str,
        *,
        depth: int = 20,
        then_by_first: bool = False,
    ) -> None:
        self.first, self.grade, self.grader = first, grade, name
        self.depth, self.then_by_first = as_count("rerank_depth", depth), then_by_first
        self.name = f"{first.name} + {name}"
        self._texts: dict[str, str] = {}
        self._in: dict[int, Reranked] = {}

    def __repr__(self) -> str:
        return f"Reranked({self.first!r}, {self.grader!r}, depth={self.depth})"

    @property
    def key(self) -> dict[str, object] | None:
        """What its results depend on, if both say so."""
        keys = [getattr(one, "key", None) for one in (self.first, self.grade)]
        if None in keys:
            return None
        return {"first": keys[0], "grade": keys[1], "depth": self.depth, "then_by_first": self.then_by_first}

    def in_language(self, language: str | None) -> "Reranked":
        """Return the reranker of what the retriever finds in a language: itself, if that is the same in all."""
        first = self.first.in_language(language) if isinstance(self.first, BM25) else self.first
        if first is self.first:
            return self
        if id(first) not in self._in:
            self._in[id(first)] = Reranked(
                first, self.grade, self.grader, depth=self.depth, then_by_first=self.then_by_first
            )
        return self._in[id(first)]

    def index(self, documents: Collection) -> None:
        """Let the retriever take the documents, and keep their texts: name and synonyms."""
        self.first.index(documents)
        self.take_texts(documents)

    def take_texts(self, documents: Collection) -> None:
        """Keep the texts of the documents, which the retriever has taken already."""
        texts, owner = documents.strings()
        own: dict[str, list[str]] = {}
        for text, place in zip(texts, owner.tolist(), strict=True):
            own.setdefault(documents.ids[place], []).append(text)
        self._texts.update({doc: "; ".join(strings) for doc, strings in own.items()})

    def search(self, texts: Sequence[str], k: int) -> Hits:
        """Return the k best documents of each text."""
        found = self.retrieve([str(n) for n in range(len(texts))], texts, k)
        return Hits(found["query_id"].cast(pl.Int64).to_numpy(), found["doc_id"].to_numpy(), found["score"].to_numpy())

    def retrieve(self, query_ids: Sequence[str], texts: Sequence[str], k: int) -> pl.DataFrame:
        """Return query_id, doc_id and score of the best documents."""
        return self.regrade(retrieve(self.first, query_ids, texts, max(k, self.depth)), query_ids, texts)

    def regrade(self, found: pl.DataFrame, query_ids: Sequence[str], texts: Sequence[str]) -> pl.DataFrame:
        """Return the documents that the retriever found, with their new scores."""
        score = pl.col("score")
        is_first = score.rank("min", descending=True).over("query_id") <= self.depth
        found = found.with_columns(is_first.alias("is_first"), place=pl.int_range(pl.len()))
        asked = found.filter("is_first")
        text_of, rows = dict(zip(query_ids, texts, strict=True)), asked.select("query_id", "doc_id").rows()
        pairs = [(text_of[query], self._texts.get(doc, doc)) for query, doc in rows]
        answers = list(self.grade(pairs)) if pairs else []
        if len(answers) != len(pairs):
            raise ParameterError(f"{self.grader} must return {len(pairs)} grades, one a pair", given=len(answers))
        grades = [read_grade(one).value for one in answers]
        self._tell([one for one, grade in zip(answers, grades, strict=True) if grade is None], len(pairs))
        graded = pl.DataFrame({"place": asked["place"], "grade": grades}, schema_overrides={"grade": pl.Float64})
        found = found.join(graded, on="place", how="left", maintain_order="left")
        # a text's own order: grades, then the others by their scores
        lowest = pl.col("grade").min().over("query_id").fill_null(0.0)
        below = lowest - score.rank("dense", descending=True).over("query_id", pl.col("grade").is_null())
        if self.then_by_first:
            keys = pl.struct(pl.col("grade").fill_null(float("-inf")), "score")
            return found.with_columns(
                score=-keys.rank("dense", descending=True).over("query_id").cast(pl.Float64)
            ).select(*SCHEMA)
        return found.with_columns(score=pl.coalesce("grade", below)).select(*SCHEMA)

    def _tell(self, failed: Sequence[object], n: int) -> None:
        if failed:
            text = f"no grade in {len(failed):,} of {counted(n, 'answer')} ({shown(str(failed[0]))})"
            warnings.warn(f"{self.name}: {text}: they stand below the graded ones", NoteWarning, stacklevel=2)


def reranked(
    retrievers: Mapping[str, Retriever], rerankers: object, depth: int, *, then_by_first: bool
) -> dict[str, Retriever]:
    """Return the retrievers, and each of them with each reranker."""
    several: Iterable[object] = rerankers if isinstance(rerankers, list | tuple) else [rerankers]
    found = dict(retrievers)
    for name, spec in (rerankers if isinstance(rerankers, Mapping) else dict(map(_named, several))).items():
        grade = _grader(spec)
        for first in retrievers.values():
            made = Reranked(first, grade, name, depth=depth, then_by_first=then_by_first)
            found[made.name] = made
    return found


def _named(spec: object) -> tuple[str, object]:
    if isinstance(spec, str):
        return spec.removeprefix(CROSS_ENCODER).rpartition("/")[2], spec
    return str(getattr(spec, "name", getattr(spec, "__name__", type(spec).__name__))), spec


def _grader(spec: object) -> Any:  # noqa: ANN401 - a callable, with a key or without
    if isinstance(spec, LLM):
        return spec
    if isinstance(spec, str) and spec.startswith(CROSS_ENCODER):
        return CrossEncoder(spec.removeprefix(CROSS_ENCODER))
    if isinstance(spec, str):
        module, _, name = spec.partition(":")
        try:
            spec = getattr(import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ParameterError(argument="rerankers", given=spec, allowed=ALLOWED, hint=f"{error}") from error
    if not callable(spec):
        raise ParameterError(argument="rerankers", given=spec, allowed=ALLOWED)
    return PerPair(spec)


class PerPair:
    """A function ``grade(query, text)``, called for each pair.

    Finished runs are used again by the function's attribute ``key``, see `Retriever`.
    """

    def __init__(self, function: Callable[[str, str], object]) -> None:
        self.function = function
        self.key = getattr(function, "key", None)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[object]:
        """Return what the function returns for each pair."""
        return [self.function(query, text) for query, text in pairs]


class CrossEncoder:
    """A cross-encoder of sentence-transformers, by its name or folder."""

    def __init__(self, model: str) -> None:
        self.key = {"cross-encoder": model}
        self._model = package(
            "sentence_transformers", f"cross-encoder:{model} needs sentence-transformers", "embed"
        ).CrossEncoder(model)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the score of each pair."""
        return [float(one) for one in self._model.predict(list(pairs))]
