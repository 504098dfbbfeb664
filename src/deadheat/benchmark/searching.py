"""Runs of one retriever: those that are finished from the folder, the others by a search."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from deadheat.benchmark.collection import Collection
from deadheat.benchmark.parts import Part
from deadheat.benchmark.retrievers import Retriever, identity, key_of, retrieve
from deadheat.benchmark.store import Store
from deadheat.errors import UnknownDocumentsWarning
from deadheat.wording import counted

# Part of the key of a finished run: raised when a retriever of ours, or `retrieve`, finds something else than before
# for the same texts, documents and options, so that no run of the old kind is used again. The number of the release
# would make all runs again that it does not touch, and those of a model take hours. 2: BM25 finds what shares a word,
# not what scores above 0. 3: equal embeddings tie in any batch; bm25+ with k1=0; no NaN is dropped.
SEARCH = 3


@dataclass
class Search:
    """A retriever with what it searches; it takes the documents when the first run is to be made.

    Attributes
    ----------
    name : str
    retriever : Retriever
    documents : Collection
    k : int
    store : Store or None
    tell : callable
        Called with a line of text about each step.
    """

    name: str
    retriever: Retriever
    documents: Collection
    k: int
    store: Store | None
    tell: Callable[[str], None]
    is_ready: bool = False

    def run(self, part: Part) -> tuple[pl.DataFrame, bool]:
        """Return the run on the cases of a part, and whether it was finished before."""
        has_key = key_of(self.retriever) is not None  # without one nobody knows whether it is still the same
        key = {
            "search": SEARCH,
            "retriever": json.loads(identity(self.retriever)) if has_key else None,
            "collection": self.documents.fingerprint,
            "cases": part.searched,
            "k": self.k,
        }
        found = self.store.read(part, self.name, key) if self.store is not None and has_key else None
        if found is not None:
            self.tell(f"{self.name} on {part}: finished before")
            return found, True
        self._prepare()
        start = time.perf_counter()
        ids, texts = [case.case_id for case in part.cases], part.cases.texts()
        found = retrieve(self.retriever, ids, texts, self.k)
        seconds = time.perf_counter() - start
        self._warn_of_strangers(found)
        if self.store is not None:
            self.store.write(part, self.name, key, found, seconds)
        self.tell(f"{self.name} on {part}: {counted(len(ids), 'search', 'searches')} in {seconds:.1f} s")
        return found, False

    def _prepare(self) -> None:
        if self.is_ready:
            return
        start = time.perf_counter()
        self.retriever.index(self.documents)
        self.is_ready = True
        self.tell(
            f"{self.name} has {len(self.documents.ids):,} documents of {self.documents.name}"
            f" after {time.perf_counter() - start:.1f} s"
        )

    def _warn_of_strangers(self, found: pl.DataFrame) -> None:
        """Warn of documents that the collection does not have."""
        strangers = sorted(set(found["doc_id"].to_list()) - set(self.documents.ids))
        if strangers:
            shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
            warnings.warn(
                f"{self.name} found {len(strangers):,} documents that {self.documents.name} does not have ({shown}):"
                " are the ids written alike?",
                UnknownDocumentsWarning,
                stacklevel=4,
            )
