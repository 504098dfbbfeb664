"""Run each retriever on each part of a benchmark, or take its run from the store."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import polars as pl

from deadheat.core.errors import DeadheatWarning, NoteWarning
from deadheat.core.phases import phase
from deadheat.core.wording import did_you_mean, format_count, format_list
from deadheat.plugins.bench.case_groups import CaseGroup
from deadheat.plugins.bench.collection import Collection
from deadheat.plugins.bench.result import Key
from deadheat.plugins.bench.retrievers import (
    BM25,
    GradedAnswers,
    Reranked,
    RunFile,
    System,
    best,
    identity,
    key_of,
    retrieve,
)
from deadheat.plugins.bench.store import Store

# Part of the key of a finished run. Raise it when one of our retrievers, or `retrieve`, finds something different for
# the same texts, documents and options, so that no outdated run is reused. The version of the package would discard
# runs that a release does not touch, and those of a model take hours. 2: BM25 finds what shares a word, not what scores
# above 0. 3: equal embeddings tie in any batch; bm25+ with k1=0; no NaN is dropped.
SEARCH = 3


class Searched(NamedTuple):
    """The run of a retriever on a part.

    Attributes
    ----------
    run : polars.DataFrame
    answers : GradedAnswers or None
        Of a reranker.
    """

    run: pl.DataFrame
    answers: GradedAnswers | None


def search_parts(
    systems: Mapping[str, System],
    parts: Sequence[CaseGroup],
    documents: Collection,
    k: int,
    store: Store | None,
    *,
    tell: Callable[[str], None],
) -> Iterator[tuple[Key, CaseGroup, Searched]]:
    """Yield the run of each retriever on each part: one that is in the store, or a new one, which is put there."""
    # retrievers are told apart by id(), as objects of users need not have a hash
    indexed: set[int] = set()
    known: dict[tuple[int, tuple[str, str], int], pl.DataFrame] = {}  # what each found for a part, down to a depth
    for (name, system), part in product(systems.items(), parts):
        named = Key(*part.key, name)
        retriever = system.in_language(part.language_code) if isinstance(system, BM25 | Reranked) else system
        has_key = key_of(retriever) is not None  # without one we cannot know whether it is still the same
        key = {
            "search": SEARCH,
            "retriever": json.loads(identity(retriever)) if has_key else None,
            "collection": documents.fingerprint,
            "cases": part.searched,
            "k": k,
        }
        kept = store.read(named, key) if store is not None and has_key else None
        answers = None
        if kept is not None:
            found, answers = kept
            tell(f"{name} on {part}: finished before")
            if not isinstance(retriever, Reranked):
                known[id(retriever), part.key, k] = found  # for its rerankers
        else:
            first, deep = (
                (retriever.first, max(k, retriever.depth)) if isinstance(retriever, Reranked) else (retriever, k)
            )
            place = id(first), part.key, deep
            if place not in known and id(first) not in indexed:
                tell(f"{name} takes {len(documents):,} documents of {documents.name}")
                with phase(f"indexing {documents.name}"):
                    first.index(documents)
                indexed.add(id(first))
            start = time.perf_counter()
            query_ids, texts = [case.case_id for case in part.cases], [case.text for case in part.cases]
            if place not in known:
                with phase(f"searching for {part}"):
                    known[place] = retrieve(first, query_ids, texts, deep)
            found = known[place]
            if isinstance(retriever, Reranked):
                with phase(f"reranking for {part}"):
                    graded, answers = retriever.regrade(found, query_ids, texts, documents)
                found = best(graded, query_ids, k)
            seconds = time.perf_counter() - start
            if store is not None:
                store.write(named, key, found, seconds, n_cases=len(part.cases), answers=answers)
            tell(f"{name} on {part}: {format_count(len(part.cases), 'search', 'searches')} in {seconds:.1f} s")
        yield named, part, Searched(found, answers)


def notes_of_phrases(systems: Mapping[str, System], parts: Sequence[CaseGroup]) -> list[Warning]:
    """Say of which runs the cases were found by their texts; warn of phrases that are no case."""
    notes: list[Warning] = []
    for name, system in systems.items():
        run = system.first if isinstance(system, Reranked) else system
        if not isinstance(run, RunFile):
            continue
        ids = {case.case_id for part in parts for case in part.cases}
        texts = [case.text for part in parts for case in part.cases]
        by_phrase: dict[str, str] = {}
        for part in parts:
            cases = part.cases
            by_phrase |= run.find_by_phrase([case.case_id for case in cases], [case.text for case in cases])
        if not by_phrase:
            continue
        n_cases = format_count(len(texts), "case")
        note = f"{name}: {len(by_phrase):,} of {n_cases} found by their texts, as the run has no ids of theirs"
        notes.append(NoteWarning(note))
        known = {*ids, *by_phrase.values()}
        others = [query for query in run.queries if query not in known]
        if others:
            what = "query of it is" if len(others) == 1 else "queries of it are"
            note = f"{name}: {len(others):,} {what} no case: {format_list([*map(repr, others)])}"
            near = did_you_mean(others[0], texts)
            if near:
                note += f". {near}"
            notes.append(DeadheatWarning(note))
    return notes


def notes_of_run(key: Key, part: CaseGroup, searched: Searched, documents: Collection) -> list[NoteWarning]:
    """Return what is wrong with the documents that were found, and with the answers of a reranker."""
    notes = []
    unknown = sorted(set(searched.run["doc_id"].to_list()) - documents.labels(part.language).keys())
    if unknown:
        notes.append(
            NoteWarning(
                f"{key.retriever} found {len(unknown):,} documents that {documents.name} does not have"
                f" ({format_list(unknown)}): are the ids written alike?"
            )
        )
    if searched.answers is not None:
        for sentence in searched.answers.describe():
            notes.append(NoteWarning(f"{key.retriever} on {part}: {sentence}"))
    return notes
